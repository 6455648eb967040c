import { SquallError } from '../errors/index.ts';

/** Reads a line from left to right and knows the column, so that every error can point at its place. */
export class Cursor {
  readonly text: string;
  #at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** From 1, as editors count. */
  get column(): number {
    return this.#at + 1;
  }

  get done(): boolean {
    this.skipSpace();
    return this.#at >= this.text.length;
  }

  skipSpace(): void {
    while (/\s/.test(this.text[this.#at] ?? '')) this.#at++;
  }

  /** Reads what the pattern (sticky) matches after white space, or null and stays. */
  take(pattern: RegExp): string | null {
    this.skipSpace();
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    if (match === null) return null;
    this.#at = pattern.lastIndex;
    return match[0];
  }

  /** Reads what must stand here. */
  need(pattern: RegExp, what: string, hint?: string): string {
    return this.take(pattern) ?? this.fail(`${what} is expected`, hint);
  }

  /** Reads the first of the texts that stands here. */
  choose<T extends string>(choices: readonly T[], what: string): T {
    this.skipSpace();
    const found = choices.find((choice) => this.text.startsWith(choice, this.#at));
    if (found === undefined) return this.fail(`${what} is expected`);
    this.#at += found.length;
    return found;
  }

  /** The next word, for messages. */
  peek(): string {
    this.skipSpace();
    return /^\S{1,32}/.exec(this.text.slice(this.#at))?.[0] ?? '';
  }

  fail(message: string, hint?: string): never {
    const found = this.peek();
    const place = found === '' ? 'at the end of the line' : `but "${found}" was found`;
    throw thresholdError(`${message} ${place}`, this.column, hint);
  }
}

export function thresholdError(message: string, column: number, hint?: string): SquallError {
  return new SquallError(
    'SQ_THRESHOLD',
    `${message} (column ${column})`,
    hint === undefined ? { column } : { column, hint },
  );
}
