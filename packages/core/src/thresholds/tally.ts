import { type Finding, isWorse } from './finding.ts';

/** A window or stage with what was found in it. */
export interface JudgedSpan {
  readonly stage: string;
  readonly fromUs: number;
  readonly toUs: number;
  readonly finding: Finding;
}

/** A tally as plain data. */
export interface TallyState {
  readonly windows: number;
  readonly failedWindows: number;
  readonly partialWindows: number;
  readonly counted: number;
  readonly row: number;
  readonly worst: JudgedSpan | null;
}

/**
 * Counts over the windows (or stages) of one threshold, in bounded memory whatever their number.
 * A window counts as failed for the verdict only in a row of at least `forWindows` failed ones.
 */
export class Tally {
  readonly #forWindows: number;
  windows: number;
  failedWindows: number;
  partialWindows: number;
  /** Failed windows that stand in long enough rows. */
  counted: number;
  #row: number;
  worst: JudgedSpan | null;

  constructor(forWindows: number, state: TallyState = EMPTY_TALLY) {
    this.#forWindows = forWindows;
    this.windows = state.windows;
    this.failedWindows = state.failedWindows;
    this.partialWindows = state.partialWindows;
    this.counted = state.counted;
    this.#row = state.row;
    this.worst = state.worst;
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
    return new Tally(this.#forWindows, this.toJSON());
  }

  toJSON(): TallyState {
    return {
      windows: this.windows,
      failedWindows: this.failedWindows,
      partialWindows: this.partialWindows,
      counted: this.counted,
      row: this.#row,
      worst: this.worst,
    };
  }
}

export const EMPTY_TALLY: TallyState = {
  windows: 0,
  failedWindows: 0,
  partialWindows: 0,
  counted: 0,
  row: 0,
  worst: null,
};
