import {
  Histogram,
  type MetricKind,
  type SeriesDelta,
  type SparseHistogram,
} from '../metrics/index.ts';
import type { Term } from './threshold.ts';

const SECOND_US = 1_000_000;

/** An accumulator as plain data. */
export interface AccumulatorState {
  readonly value: number;
  readonly base: number;
  readonly histogram: SparseHistogram | null;
  readonly seconds: readonly (readonly [second: number, value: number])[];
}

/** What was measured in one window or one stage, for one threshold. */
export class Accumulator {
  readonly #kind: MetricKind;
  #value: number;
  #base: number;
  #histogram: Histogram | null = null;
  /** Gauges: second of the stage → sum over agents and series. */
  readonly #seconds: Map<number, number>;

  constructor(kind: MetricKind, state?: AccumulatorState) {
    this.#kind = kind;
    this.#value = state?.value ?? 0;
    this.#base = state?.base ?? 0;
    this.#seconds = new Map(state?.seconds);
    if (state === undefined || state.histogram === null) return;
    this.#histogram = new Histogram();
    this.#histogram.addSparse(state.histogram);
  }

  toJSON(): AccumulatorState {
    return {
      value: this.#value,
      base: this.#base,
      histogram: this.#histogram?.toSparse() ?? null,
      seconds: [...this.#seconds],
    };
  }

  add(series: SeriesDelta): void {
    if (series.histogram !== undefined) {
      this.#histogram ??= new Histogram();
      this.#histogram.addSparse(series.histogram);
    } else {
      this.#value += series.value ?? 0;
    }
  }

  addBase(value: number): void {
    this.#base += value;
  }

  /** A gauge of one agent in one second; 0 makes the second known. */
  addSecond(second: number, value: number): void {
    this.#seconds.set(second, (this.#seconds.get(second) ?? 0) + value);
  }

  merge(other: Accumulator): void {
    this.#value += other.#value;
    this.#base += other.#base;
    for (const [second, value] of other.#seconds) this.addSecond(second, value);
    if (other.#histogram === null) return;
    this.#histogram ??= new Histogram();
    this.#histogram.add(other.#histogram);
  }

  /** Whether anything but zeros is in it. */
  get moved(): boolean {
    return (
      this.#value !== 0 ||
      this.#base !== 0 ||
      this.#histogram !== null ||
      [...this.#seconds.values()].some((value) => value !== 0)
    );
  }

  /** What `min_samples` counts: times, the base of a share, seconds of a gauge. */
  samples(term: Term): number {
    if (this.#kind === 'time') return this.#histogram?.count ?? 0;
    if (this.#kind === 'gauge') return this.#seconds.size;
    return term.aggregate === 'share' ? this.#base : this.#value;
  }

  /** The aggregate in its base unit, or null where there is nothing to aggregate. */
  observe(term: Term, durationUs: number): number | null {
    switch (this.#kind) {
      case 'counter':
        return this.#counter(term, durationUs);
      case 'gauge':
        return this.#gauge(term);
      case 'time':
        return this.#time(term);
    }
  }

  #counter({ aggregate }: Term, durationUs: number): number | null {
    if (aggregate === 'rate') {
      return durationUs > 0 ? (this.#value * SECOND_US) / durationUs : null;
    }
    if (aggregate !== 'share') return this.#value;
    if (this.#base > 0) return this.#value / this.#base;
    // Failures without a single attempt beside them: nothing but failures.
    return this.#value > 0 ? 1 : null;
  }

  #time(term: Term): number | null {
    const histogram = this.#histogram;
    if (histogram === null || histogram.count === 0) return null;
    const { aggregate } = term;
    if (aggregate === 'p') return histogram.percentileUs(term.percentile ?? 100);
    if (aggregate === 'med') return histogram.percentileUs(50);
    if (aggregate === 'min') return histogram.minUs;
    return aggregate === 'max' ? histogram.maxUs : histogram.meanUs;
  }

  #gauge(term: Term): number | null {
    if (this.#seconds.size === 0) return null;
    const inTime = [...this.#seconds].toSorted(([a], [b]) => a - b).map(([, value]) => value);
    const first = inTime[0] ?? 0;
    const last = inTime.at(-1) ?? 0;
    const { aggregate } = term;
    if (aggregate === 'value') return last;
    if (aggregate === 'delta') return last - first;
    const sorted = inTime.toSorted((a, b) => a - b);
    if (aggregate === 'min') return sorted[0] ?? 0;
    if (aggregate === 'max') return sorted.at(-1) ?? 0;
    if (aggregate === 'med') return rank(sorted, 50);
    if (aggregate === 'p') return rank(sorted, term.percentile ?? 100);
    return sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  }
}

/** Nearest rank, as for times. */
function rank(sorted: readonly number[], percentile: number): number {
  const wanted = Math.max(1, Math.ceil((percentile * sorted.length) / 100 - 1e-9));
  return sorted[wanted - 1] ?? 0;
}
