// Data path
import { BUCKET_COUNT, bucketOf, HIGHEST_US, highestUsOf } from './bucket-layout.ts';
import type { SparseHistogram } from './frame.ts';

/** Places in `#totals`: a typed array, because a double in a field of an object may be boxed anew. */
const COUNT = 0;
const SUM = 1;
const MIN = 2;
const MAX = 3;
const OVERFLOW = 4;
const NEGATIVE = 5;
const BOUND = 6;

/**
 * Counts of times in µs (see `bucket-layout.ts` for range and precision), exact in count, minimum,
 * maximum and sum. Fractions of a µs are cut off, so that sums are whole numbers and merging is
 * exact in whatever order.
 *
 * Counts are doubles: they neither wrap nor saturate below 2^53. `record` does not allocate.
 */
export class Histogram {
  readonly #counts = new Float64Array(BUCKET_COUNT);
  readonly #totals = new Float64Array(7);

  constructor() {
    this.#totals[MIN] = Infinity;
    this.#totals[MAX] = -Infinity;
  }

  static fromSparse(sparse: SparseHistogram): Histogram {
    const histogram = new Histogram();
    histogram.addSparse(sparse);
    return histogram;
  }

  /**
   * Records one time. Above one hour it is clamped and counted in `overflow`; below zero (and NaN,
   * which is no time at all) it is recorded as 0 and counted in `negative`.
   */
  record(us: number): void {
    const counts = this.#counts;
    const totals = this.#totals;
    let value = 0;
    if (us <= HIGHEST_US && us >= 0) {
      value = us >>> 0;
    } else if (us > HIGHEST_US) {
      value = HIGHEST_US;
      totals[OVERFLOW] = at(totals, OVERFLOW) + 1;
    } else {
      totals[NEGATIVE] = at(totals, NEGATIVE) + 1;
    }
    const index = bucketOf(value);
    counts[index] = at(counts, index) + 1;
    totals[COUNT] = at(totals, COUNT) + 1;
    totals[SUM] = at(totals, SUM) + value;
    if (value < at(totals, MIN)) totals[MIN] = value;
    if (value > at(totals, MAX)) totals[MAX] = value;
  }

  /** What was recorded may be off by so much, whole µs: the largest of all that is said stands. */
  widen(boundUs: number): void {
    if (boundUs > at(this.#totals, BOUND)) this.#totals[BOUND] = boundUs;
  }

  get count(): number {
    return at(this.#totals, COUNT);
  }

  /** 0 where nothing was recorded, as are the maximum and the mean. */
  get minUs(): number {
    return this.count === 0 ? 0 : at(this.#totals, MIN);
  }

  get maxUs(): number {
    return this.count === 0 ? 0 : at(this.#totals, MAX);
  }

  get sumUs(): number {
    return at(this.#totals, SUM);
  }

  get meanUs(): number {
    return this.count === 0 ? 0 : this.sumUs / this.count;
  }

  /** Times above one hour, recorded as one hour. */
  get overflow(): number {
    return at(this.#totals, OVERFLOW);
  }

  /** Times below zero, recorded as 0. */
  get negative(): number {
    return at(this.#totals, NEGATIVE);
  }

  /** How far off a recorded time may be at most; 0 where all were read on one clock. */
  get boundUs(): number {
    return at(this.#totals, BOUND);
  }

  /**
   * The value that `q` per cent (0…100) of the recorded times do not exceed: the upper end of its
   * bucket, but never above the recorded maximum nor below the minimum. 0 where there are none.
   */
  percentileUs(q: number): number {
    const total = this.count;
    if (total === 0) return 0;
    if (q >= 100) return this.maxUs;
    if (!(q > 0)) return this.minUs;
    // 99.9 per cent of 1000 must be 999, although the product of the doubles is a hair above it.
    const exact = (q * total) / 100;
    const wanted = Math.max(1, Math.ceil(exact * (1 - Number.EPSILON * 2)));
    const last = bucketOf(this.maxUs);
    let seen = 0;
    for (let index = bucketOf(this.minUs); index <= last; index++) {
      seen += at(this.#counts, index);
      if (seen >= wanted) return Math.min(highestUsOf(index), this.maxUs);
    }
    return this.maxUs;
  }

  /**
   * How many of the recorded times do not exceed each of the bounds (µs, rising). A bucket that a bound
   * lies in counts as a whole, so a count may be too high by what lies within 0.1 % above its bound.
   */
  countsUpTo(boundsUs: readonly number[]): number[] {
    const last = bucketOf(this.maxUs);
    let index = bucketOf(this.minUs);
    let seen = 0;
    const upTo: number[] = [];
    for (const boundUs of boundsUs) {
      const end = Math.min(last, bucketOf(Math.min(Math.max(0, boundUs), HIGHEST_US)));
      for (; index <= end; index++) seen += at(this.#counts, index);
      upTo.push(seen);
    }
    return upTo;
  }

  /** What was recorded since the last drain, or null where there is nothing; then starts anew. */
  drainSparse(): SparseHistogram | null {
    const sparse = this.toSparse();
    if (sparse !== null) this.reset();
    return sparse;
  }

  /** The buckets that hold something, or null where none does. */
  toSparse(): SparseHistogram | null {
    if (this.count === 0) return null;
    const buckets: number[] = [];
    // Minimum and maximum bound the part that was touched: no other bucket is looked at.
    const last = bucketOf(this.maxUs);
    for (let index = bucketOf(this.minUs); index <= last; index++) {
      const n = at(this.#counts, index);
      if (n !== 0) buckets.push(index, n);
    }
    const { minUs, maxUs, sumUs, overflow, negative, boundUs } = this;
    const sparse = { buckets, minUs, maxUs, sumUs, overflow, negative };
    return boundUs > 0 ? { ...sparse, boundUs } : sparse;
  }

  /** Adds a well-formed sparse histogram (`decodeFrame` checks those that come from outside). */
  addSparse(sparse: SparseHistogram): void {
    const { buckets } = sparse;
    const counts = this.#counts;
    let added = 0;
    for (let place = 0; place + 1 < buckets.length; place += 2) {
      const index = buckets[place] ?? 0;
      const n = buckets[place + 1] ?? 0;
      counts[index] = at(counts, index) + n;
      added += n;
    }
    if (added > 0) this.#addTotals(sparse, added);
  }

  add(other: Histogram): void {
    if (other.count === 0) return;
    const last = bucketOf(other.maxUs);
    for (let index = bucketOf(other.minUs); index <= last; index++) {
      this.#counts[index] = at(this.#counts, index) + at(other.#counts, index);
    }
    this.#addTotals(other, other.count);
  }

  reset(): void {
    if (this.count === 0) return;
    this.#counts.fill(0, bucketOf(this.minUs), bucketOf(this.maxUs) + 1);
    this.#totals.fill(0);
    this.#totals[MIN] = Infinity;
    this.#totals[MAX] = -Infinity;
  }

  #addTotals(other: Omit<SparseHistogram, 'buckets'>, count: number): void {
    const totals = this.#totals;
    totals[COUNT] = at(totals, COUNT) + count;
    totals[SUM] = at(totals, SUM) + other.sumUs;
    totals[MIN] = Math.min(at(totals, MIN), other.minUs);
    totals[MAX] = Math.max(at(totals, MAX), other.maxUs);
    totals[OVERFLOW] = at(totals, OVERFLOW) + other.overflow;
    totals[NEGATIVE] = at(totals, NEGATIVE) + other.negative;
    this.widen(other.boundUs ?? 0);
  }
}

/** Every index used here lies inside its array; the 0 is for the compiler, V8 drops the check. */
function at(array: Float64Array, index: number): number {
  return array[index] ?? 0;
}
