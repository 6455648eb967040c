import { type Finding, isWorse } from './finding.ts';

/** A window or stage with what was found in it. */
export interface JudgedSpan {
  readonly stage: string;
  readonly fromUs: number;
  readonly toUs: number;
  readonly finding: Finding;
}

/**
 * Counts over the windows (or stages) of one threshold, in bounded memory whatever their number.
 * A window counts as failed for the verdict only in a row of at least `forWindows` failed ones.
 */
export class Tally {
  readonly #forWindows: number;
  windows = 0;
  failedWindows = 0;
  partialWindows = 0;
  /** Failed windows that stand in long enough rows. */
  counted = 0;
  #row = 0;
  worst: JudgedSpan | null = null;

  constructor(forWindows: number) {
    this.#forWindows = forWindows;
  }

  add(span: JudgedSpan, partial = false): void {
    this.windows++;
    if (partial) this.partialWindows++;
    if (this.worst === null || isWorse(span.finding, this.worst.finding)) this.worst = span;
    if (span.finding.holds) {
      this.#row = 0;
      return;
    }
    this.failedWindows++;
    this.#row++;
    if (this.#row === this.#forWindows) this.counted += this.#row;
    else if (this.#row > this.#forWindows) this.counted++;
  }

  /** Adds what was found elsewhere. Rows do not go over the border of a stage. */
  merge(other: Tally): void {
    this.windows += other.windows;
    this.failedWindows += other.failedWindows;
    this.partialWindows += other.partialWindows;
    this.counted += other.counted;
    this.#row = 0;
    const { worst } = other;
    if (worst === null) return;
    if (this.worst === null || isWorse(worst.finding, this.worst.finding)) this.worst = worst;
  }

  /** Whether too many windows failed, so far. */
  breached(slo: number | null): boolean {
    if (this.counted === 0) return false;
    // 99 of 100 windows are 99 %: the product may be a hair off.
    return slo === null || this.windows - this.counted < slo * this.windows - 1e-9;
  }

  copy(): Tally {
    const copy = new Tally(this.#forWindows);
    copy.merge(this);
    copy.#row = this.#row;
    return copy;
  }
}
