import type { SparseHistogram } from '../frame.ts';
import { Histogram } from '../histogram.ts';

/** Percentiles of one step, and of how many times. */
export interface StepTimes {
  readonly count: number;
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Deltas of a step that wait side by side before they are added up, to bound memory. */
const PENDING_LIMIT = 8;

/** One for all columns: it is empty between uses. */
const scratch = new Histogram();

/**
 * The percentiles of one series over the steps of the timeline. Steps that may still grow keep their
 * buckets; sealed ones keep only their figures.
 */
export class TimeColumn {
  readonly #open: Map<number, SparseHistogram[]>;
  #sealed: (StepTimes | null)[];

  constructor(state: TimeColumnState = { open: [], sealed: [] }) {
    this.#open = new Map(state.open.map(([step, deltas]) => [step, [...deltas]]));
    this.#sealed = [...state.sealed];
  }

  add(step: number, delta: SparseHistogram): void {
    const pending = this.#open.get(step);
    if (pending === undefined) {
      this.#open.set(step, [delta]);
      return;
    }
    pending.push(delta);
    if (pending.length >= PENDING_LIMIT) this.#merge(step, pending);
  }

  /** The buckets of an open step, to be added to those of other series. */
  pending(step: number): readonly SparseHistogram[] {
    return this.#open.get(step) ?? [];
  }

  at(step: number): StepTimes | null {
    const pending = this.#open.get(step);
    return pending === undefined ? (this.#sealed[step] ?? null) : timesOf(pending);
  }

  /** Gives up the buckets of all steps before `step`. */
  seal(before: number): void {
    for (const [step, pending] of this.#open) {
      if (step >= before) continue;
      this.#sealed[step] = timesOf(pending);
      this.#open.delete(step);
    }
  }

  /**
   * Makes two steps one. Open ones merge exactly; of two sealed ones the higher percentile stands,
   * since percentiles cannot be averaged: a coarse step shows the worst of its parts.
   */
  halve(): void {
    const open = [...this.#open];
    const sealed = this.#sealed;
    this.#open.clear();
    this.#sealed = Array.from({ length: Math.ceil(sealed.length / 2) }, (_, step) =>
      worseOf(sealed[2 * step] ?? null, sealed[2 * step + 1] ?? null),
    );
    for (const [step, pending] of open) {
      for (const delta of pending) this.add(Math.floor(step / 2), delta);
    }
    for (const [step, pending] of this.#open) {
      const half = this.#sealed[step] ?? null;
      if (half === null) continue;
      this.#sealed[step] = worseOf(half, timesOf(pending));
      this.#open.delete(step);
    }
  }

  toJSON(): TimeColumnState {
    // What waits side by side would be written side by side, again and again.
    for (const [step, pending] of this.#open) {
      if (pending.length > 1) this.#merge(step, pending);
    }
    return { open: [...this.#open], sealed: Array.from(this.#sealed, (times) => times ?? null) };
  }

  #merge(step: number, pending: readonly SparseHistogram[]): void {
    for (const one of pending) scratch.addSparse(one);
    const sum = scratch.drainSparse();
    if (sum !== null) this.#open.set(step, [sum]);
  }
}

export interface TimeColumnState {
  readonly open: readonly (readonly [number, readonly SparseHistogram[]])[];
  readonly sealed: readonly (StepTimes | null)[];
}

/** Percentiles of the sum of sparse histograms; null where it is empty. */
export function timesOf(deltas: Iterable<SparseHistogram>): StepTimes | null {
  for (const delta of deltas) scratch.addSparse(delta);
  if (scratch.count === 0) return null;
  const times = {
    count: scratch.count,
    p50Us: scratch.percentileUs(50),
    p99Us: scratch.percentileUs(99),
  };
  scratch.reset();
  return times;
}

function worseOf(a: StepTimes | null, b: StepTimes | null): StepTimes | null {
  if (a === null || b === null) return a ?? b;
  return {
    count: a.count + b.count,
    p50Us: Math.max(a.p50Us, b.p50Us),
    p99Us: Math.max(a.p99Us, b.p99Us),
  };
}
