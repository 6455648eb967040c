/** A small strict XML 1.0 reader: enough to be sure that what we draw is XML and means what it should. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** @throws Error where the text is not well formed. */
export function parseXml(text: string): XmlElement {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    const allowed =
      code === 0x9 ||
      code === 0xa ||
      code === 0xd ||
      (code >= 0x20 && code <= 0xd7ff) ||
      (code >= 0xe000 && code <= 0xfffd) ||
      code >= 0x10000;
    if (!allowed) throw new Error(`character U+${code.toString(16)} cannot stand in XML`);
  }
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
  if (!text.startsWith(head)) throw new Error('there is no XML declaration');
  const reader = { text, at: head.length };
  const root = readElement(reader);
  if (text.slice(reader.at).trim() !== '') throw new Error('something follows the root');
  return root;
}

interface Reader {
  readonly text: string;
  at: number;
}

function readElement(reader: Reader): XmlElement {
  const open = take(reader, /<([A-Za-z-]+)/y);
  const name = open[1] ?? '';
  const attributes: Record<string, string> = {};
  for (;;) {
    const end = tryTake(reader, /\s*(\/?)>/y);
    if (end?.[1] === '/') return { name, attributes, children: [], text: '' };
    if (end !== null) break;
    const [, key = '', value = ''] = take(reader, /\s+([A-Za-z]+)="([^"<]*)"/y);
    if (key in attributes) throw new Error(`attribute ${key} stands twice`);
    attributes[key] = decode(value.replaceAll(/[\n\t\r]/g, ' '));
  }
  const children: XmlElement[] = [];
  let text = '';
  for (;;) {
    text += decode(take(reader, /[^<]*/y)[0]);
    const close = tryTake(reader, /<\/([A-Za-z-]+)>/y);
    if (close === null) {
      children.push(readElement(reader));
      continue;
    }
    if (close[1] !== name) throw new Error(`${name} is closed by ${close[1]}`);
    return { name, attributes, children, text };
  }
}

function decode(text: string): string {
  if (text.includes(']]>')) throw new Error(']]> stands in text');
  return text.replaceAll(/&([^;]*;)?/g, (all, body: string | undefined) => {
    const entity = (body ?? '').slice(0, -1);
    const code = /^#(\d+)$/.exec(entity)?.[1];
    const known = code === undefined ? ENTITIES[entity] : String.fromCodePoint(Number(code));
    if (known === undefined) throw new Error(`${all} is no entity`);
    return known;
  });
}

function tryTake(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const match = pattern.exec(reader.text);
  if (match !== null) reader.at = pattern.lastIndex;
  return match;
}

function take(reader: Reader, pattern: RegExp): RegExpExecArray {
  const match = tryTake(reader, pattern);
  if (match === null) {
    throw new Error(
      `not well formed at ${JSON.stringify(reader.text.slice(reader.at, reader.at + 40))}`,
    );
  }
  return match;
}
