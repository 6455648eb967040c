// Data path
/** A stretch of a rate: it goes evenly from one value to the other. Rates are a second, ≥ 0. */
export interface RateSegment {
  readonly forUs: number;
  readonly fromPerS: number;
  readonly toPerS: number;
}

/**
 * A group rate that changes: stretches one after the other, and what it stays at after the last one.
 *
 * The messages due by a moment are the integral of the rate up to it; message i is due where the
 * integral comes to i. Both are computed from the stretch alone in which they lie, never by adding up,
 * so they are the same wherever and in whatever order they are asked for.
 */
export class RateProfile {
  /** Where each stretch begins, µs, and the integral there; the stretch that stays is the last. */
  readonly #startUs: Float64Array;
  readonly #counts: Float64Array;
  /** A µs, at the stretch's start, and its growth a µs. */
  readonly #rate: Float64Array;
  readonly #growth: Float64Array;
  readonly #last: number;
  /** The stretch of the last question: questions come nearly in order. */
  #hint = 0;

  constructor(segments: readonly RateSegment[], staysPerS: number) {
    const last = segments.length;
    this.#last = last;
    this.#startUs = new Float64Array(last + 1);
    this.#counts = new Float64Array(last + 1);
    this.#rate = new Float64Array(last + 1);
    this.#growth = new Float64Array(last + 1);
    for (const [k, { forUs, fromPerS, toPerS }] of segments.entries()) {
      this.#rate[k] = fromPerS / 1_000_000;
      this.#growth[k] = (toPerS - fromPerS) / 1_000_000 / forUs;
      this.#startUs[k + 1] = at(this.#startUs, k) + forUs;
      const area = (((fromPerS + toPerS) / 2) * forUs) / 1_000_000;
      this.#counts[k + 1] = wholeIfNear(at(this.#counts, k) + area);
    }
    this.#rate[last] = staysPerS / 1_000_000;
  }

  /** Messages due before `us`, with their fraction. */
  countAt(us: number): number {
    if (us <= 0) return 0;
    let k = this.#last;
    while (k > 0 && at(this.#startUs, k) > us) k -= 1;
    const t = us - at(this.#startUs, k);
    return at(this.#counts, k) + (at(this.#rate, k) + (at(this.#growth, k) * t) / 2) * t;
  }

  /** The rate at a moment, a second. */
  perS(us: number): number {
    let k = this.#last;
    while (k > 0 && at(this.#startUs, k) > us) k -= 1;
    const t = Math.max(0, us - at(this.#startUs, k));
    return (at(this.#rate, k) + at(this.#growth, k) * t) * 1_000_000;
  }

  /**
   * Puts the moment (µs) at which the integral comes to `cell[0]` into `cell[0]`; Infinity where it
   * never does. In a cell, since a double that is given back would be boxed. Where nothing is due for
   * a while, it is the end of that while.
   */
  resolve(cell: Float64Array): void {
    this.#seek(cell);
    const k = this.#hint;
    const startUs = this.#startUs[k] ?? 0;
    const rest = (cell[0] ?? 0) - (this.#counts[k] ?? 0);
    const rate = this.#rate[k] ?? 0;
    const growth = this.#growth[k] ?? 0;
    if (growth === 0) {
      cell[0] = startUs + (rate === 0 ? Number.POSITIVE_INFINITY : rest / rate);
      return;
    }
    // The root of rate·t + growth·t²/2 = rest, in the form that subtracts nothing.
    const root = Math.sqrt(Math.max(0, rate * rate + 2 * growth * rest));
    const t = rest === 0 ? 0 : (2 * rest) / (rate + root);
    cell[0] = startUs + Math.min(t, (this.#startUs[k + 1] ?? 0) - startUs);
  }

  /** Goes to the stretch in which the integral comes to `cell[0]`. */
  #seek(cell: Float64Array): void {
    const counts = this.#counts;
    const count = cell[0] ?? 0;
    let k = this.#hint;
    while (k > 0 && count < (counts[k] ?? 0)) k -= 1;
    while (k < this.#last && count >= (counts[k + 1] ?? 0)) k += 1;
    this.#hint = k;
  }
}

/** Far above the error of a few operations, far below anything that a schedule can mean. */
const ROUNDING = 1e-12;

/** A number that is whole but for rounding, as that whole number. */
export function wholeIfNear(value: number): number {
  const whole = Math.round(value);
  return Math.abs(value - whole) <= whole * ROUNDING ? whole : value;
}

function at(array: Float64Array, index: number): number {
  return array[index] ?? 0;
}
