/** A value with words on where it comes from; they become comments above it. */
export class Noted {
  readonly value: DraftValue;
  readonly why: readonly string[];

  constructor(value: DraftValue, why: readonly string[]) {
    this.value = value;
    this.why = why;
  }
}

export type DraftValue = string | number | boolean | Noted | readonly DraftValue[] | DraftMap;

/** Keys whose value is undefined are left out. */
export interface DraftMap {
  readonly [key: string]: DraftValue | undefined;
}

/** A value and where it comes from. */
export function noted(value: DraftValue, ...why: string[]): Noted {
  return new Noted(value, why);
}

/** A plan in the making, in the order in which it is written. */
export interface PlanDraft {
  readonly head: readonly string[];
  readonly name: string;
  readonly vars: DraftMap;
  readonly targets: DraftMap;
  readonly groups: DraftMap;
  readonly stages: readonly DraftValue[];
  readonly thresholds: readonly DraftValue[];
}

/** A name as plans take it: letters, digits, `-` and `_`, a letter first, 64 at most, not taken yet. */
export function planName(text: string, fallback: string, taken: ReadonlySet<string>): string {
  const plain = text
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z]+|-+$/g, '')
    .slice(0, MAX_NAME);
  const base = plain === '' ? fallback : plain;
  for (let index = 1; ; index++) {
    const name = index === 1 ? base : `${base}-${index}`;
    if (!taken.has(name)) return name;
  }
}

/** Leaves room for a number behind it. */
const MAX_NAME = 48;

/** Text of others in a template: it may not say anything in the language of templates. */
export function inert(text: string): string {
  return text.replaceAll('{{', '{ {');
}

/** Parts of a template one behind the other, so that no two braces meet that stood apart. */
export function joined(parts: readonly string[]): string {
  return parts.reduce(
    (text, part) => (text.endsWith('{') && part.startsWith('{') ? `${text} ${part}` : text + part),
    '',
  );
}
