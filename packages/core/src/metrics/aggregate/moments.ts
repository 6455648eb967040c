import type { Phase, Slice } from '../frame.ts';

/** The end of a slice: everything up to and including slice `n` of this stage and phase. */
export interface Moment {
  readonly stage: number;
  readonly phase: Phase;
  readonly n: number;
  /** µs on the run's timeline. */
  readonly toUs: number;
}

const PHASE_ORDER: Readonly<Record<Phase, number>> = { prologue: 0, main: 1, settle: 2 };

/** Moments remembered while they are not closed; the oldest give way. */
const MAX_OPEN_MOMENTS = 10_000;

export function momentOf(slice: Slice): Moment {
  const { stage, phase, n, span, toUs } = slice;
  return { stage, phase, n: n + span - 1, toUs };
}

/** Negative, zero or positive as `a` comes before, with or after `b`. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.stage !== b.stage) return a.stage - b.stage;
  if (a.phase !== b.phase) return PHASE_ORDER[a.phase] - PHASE_ORDER[b.phase];
  return a.n - b.n;
}

export interface MomentBoardState {
  readonly newest: readonly (readonly [string, Moment])[];
  /** Reported by some, not closed yet. */
  readonly open: readonly Moment[];
  readonly closed: Moment | null;
}

/** How far each agent has reported, and what can be called closed. */
export class MomentBoard {
  readonly #newest: Map<string, Moment>;
  #open: Moment[];
  #closed: Moment | null;

  constructor(state: MomentBoardState = { newest: [], open: [], closed: null }) {
    this.#newest = new Map(state.newest);
    this.#open = [...state.open];
    this.#closed = state.closed;
  }

  report(agent: string, slice: Slice): void {
    const moment = momentOf(slice);
    const before = this.#newest.get(agent);
    if (before === undefined || compareMoments(moment, before) > 0) {
      this.#newest.set(agent, moment);
    }
    if (this.#closed !== null && compareMoments(moment, this.#closed) <= 0) return;
    if (this.#open.some((other) => compareMoments(other, moment) === 0)) return;
    this.#open.push(moment);
    if (this.#open.length > MAX_OPEN_MOMENTS) this.#open.shift();
  }

  newestOf(agent: string): Moment | null {
    return this.#newest.get(agent) ?? null;
  }

  /**
   * The last closed moment: one that all live agents have reported, or, where some are late, one
   * that ended before `deadlineUs`. It never goes back.
   */
  close(live: readonly string[], deadlineUs: number): Moment | null {
    const candidates = [this.#reportedByAll(live), this.#lastEndedBefore(deadlineUs)];
    for (const moment of candidates) {
      if (moment === null) continue;
      if (this.#closed === null || compareMoments(moment, this.#closed) > 0) this.#closed = moment;
    }
    const closed = this.#closed;
    if (closed !== null) {
      this.#open = this.#open.filter((moment) => compareMoments(moment, closed) > 0);
    }
    return closed;
  }

  toJSON(): MomentBoardState {
    return { newest: [...this.#newest], open: [...this.#open], closed: this.#closed };
  }

  #reportedByAll(live: readonly string[]): Moment | null {
    let earliest: Moment | null = null;
    for (const agent of live) {
      const newest = this.#newest.get(agent);
      if (newest === undefined) return null;
      if (earliest === null || compareMoments(newest, earliest) < 0) earliest = newest;
    }
    return earliest;
  }

  #lastEndedBefore(deadlineUs: number): Moment | null {
    let last: Moment | null = null;
    for (const moment of this.#open) {
      if (moment.toUs > deadlineUs) continue;
      if (last === null || compareMoments(moment, last) > 0) last = moment;
    }
    return last;
  }
}
