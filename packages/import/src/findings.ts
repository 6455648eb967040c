/** What an import has to say about one place of the original. */
export interface Finding {
  /** Line in the original, from 1. */
  readonly line: number;
  /** Element and name, such as `JSR223Sampler "count"`. */
  readonly what: string;
  readonly why: string;
}

/** Findings that are kept one by one; the rest is counted. */
const MAX_KEPT = 500;
const MAX_TEXT = 200;

/** What could not be carried over (`lost`) and what is not quite what it was (`changed`). */
export class Findings {
  readonly lost: Finding[] = [];
  readonly changed: Finding[] = [];
  /** All of them, kept or not. */
  lostCount = 0;
  changedCount = 0;
  readonly #seen = new Set<string>();

  lose(line: number, what: string, why: string): void {
    if (!this.#isNew({ line, what, why })) return;
    this.lostCount++;
    if (this.lost.length < MAX_KEPT)
      this.lost.push({ line, what: plainText(what), why: plainText(why) });
  }

  change(line: number, what: string, why: string): void {
    if (!this.#isNew({ line, what, why })) return;
    this.changedCount++;
    if (this.changed.length < MAX_KEPT) {
      this.changed.push({ line, what: plainText(what), why: plainText(why) });
    }
  }

  #isNew({ line, what, why }: Finding): boolean {
    const key = `${line} ${what} ${why}`;
    if (this.#seen.has(key)) return false;
    if (this.#seen.size < MAX_KEPT) this.#seen.add(key);
    return true;
  }
}

/** One line of text that neither ends a comment nor moves a terminal's cursor, whoever wrote it. */
export function plainText(text: string): string {
  const line = text.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}
