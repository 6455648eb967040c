/**
 * Text that is HTML already. Everything else that is put into a template is escaped: names of plans
 * and reasons of brokers may hold anything.
 */
export class Html {
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
  }

  /** For text that this package wrote itself. */
  static trusted(text: string): Html {
    return new Html(text);
  }
}

type Part = Html | string | number | readonly Html[];

/** `html\`<p>${name}</p>\``: what is put in is escaped unless it is HTML. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0] ?? '';
  parts.forEach((part, at) => {
    text += textOf(part) + (strings[at + 1] ?? '');
  });
  return Html.trusted(text);
}

export const NOTHING = Html.trusted('');

export function when(condition: boolean, draw: () => Html): Html {
  return condition ? draw() : NOTHING;
}

/**
 * A name or a sentence from outside: isolated, so that marks of direction in it turn nothing around
 * that stands beside it.
 */
export function said(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escape(String(part));
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that HTML cannot hold, and halves of surrogate pairs, become U+FFFD. */
function escape(text: string): string {
  return wellFormed(text).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** The same for places that take plain text only, such as a title: marks of direction are left out. */
export function plain(text: string): string {
  return wellFormed(text).replaceAll(/[\u200E\u200F\u202A-\u202E\u2066-\u2069\u061C]/g, '');
}

function wellFormed(text: string): string {
  let whole = '';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    whole += isDrawable(code) ? character : '\uFFFD';
  }
  return whole;
}

function isDrawable(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa;
  return !(code >= 0x7f && code < 0xa0) && !(code >= 0xd800 && code < 0xe000);
}
