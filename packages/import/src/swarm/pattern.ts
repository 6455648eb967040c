import { inert } from '../plan/draft.ts';

/** A finite pattern such as `device-[0-9]{4}`: text with one running number, or none. */
export interface Pattern {
  readonly before: string;
  readonly after: string;
  /** Digits of the running number; 0 where there is none. */
  readonly digits: number;
}

const RUNNING = /(?:\[0-9\]|\\d)(?:\{(\d)\})?/;

/** @returns null for a pattern that is more than text and one running number. */
export function patternOf(text: string): Pattern | null {
  const match = RUNNING.exec(text);
  const before = match === null ? text : text.slice(0, match.index);
  const after = match === null ? '' : text.slice(match.index + match[0].length);
  const plain = [before, after].map((part) => part.replace(/\\([.\-/_$+#])/g, '$1'));
  if (plain.some((part) => /[[\]{}()|*?\\^]/.test(part))) return null;
  const digits = match === null ? 0 : Number(match[1] ?? 1);
  return { before: inert(plain[0] ?? ''), after: inert(plain[1] ?? ''), digits };
}

/** The n-th text of the pattern, as a template: theirs count from 0 (and the offset), ours from 1. */
export function patternTemplate(pattern: Pattern, offset: number, modulo: number | null): string {
  if (pattern.digits === 0) return `${pattern.before}${pattern.after}`;
  const shift = offset - 1;
  const sum = shift === 0 ? '' : shift > 0 ? ` + ${shift}` : ` - ${-shift}`;
  const inner = modulo === null ? `n${sum}` : `n % ${modulo}`;
  return `${pattern.before}{{${inner}:0${pattern.digits}}}${pattern.after}`;
}
