// Data path
import {
  type Histogram,
  OTHER_REASONS,
  type SeriesDelta,
  type SeriesKey,
} from '@squall/core/metrics';
import { type Moment, momentOf } from '../clock.ts';
import { at, item } from '../element.ts';
import { MAX_REASONS } from '../limits.ts';
import type { HistogramPool } from './histogram-pool.ts';
import {
  ARRIVED,
  BYTES_RECEIVED,
  COUNTER_NAMES,
  type FailureMetric,
  GAUGE_NAMES,
  type MeterKind,
  RECEIVED,
  SHOWN_FROM_START,
  TIME_NAMES,
} from './series.ts';

export interface MeterKey {
  readonly kind: MeterKind;
  readonly subject: string;
  /** The stage that owns what is recorded. */
  readonly stage: number;
  readonly qos?: 0 | 1 | 2;
}

/**
 * Everything that is recorded about one (subject, stage, qos). Counting and timing write into typed
 * arrays; only draining, once a second, makes objects.
 */
export class Meter {
  readonly key: MeterKey;
  readonly #pool: HistogramPool;
  readonly #moment: Moment;
  readonly #counts = new Float64Array(COUNTER_NAMES.length);
  readonly #gauges = new Float64Array(GAUGE_NAMES.length).fill(Number.NaN);
  readonly #times = Array.from(TIME_NAMES, (): Histogram | null => null);
  readonly #failures = new Map<FailureMetric, Map<string, number>>();
  #shown = false;

  constructor(key: MeterKey, pool: HistogramPool, moment: Moment) {
    this.key = key;
    this.#pool = pool;
    this.#moment = moment;
  }

  add(counter: number, n: number): void {
    this.#counts[counter] = at(this.#counts, counter) + n;
  }

  /**
   * A message was received; `arrived` is 1 for one that the end of a run waits for, else 0. One call and
   * not three: what V8 does not inline, it calls with boxed numbers.
   */
  received(bytes: number, arrived: number): void {
    const counts = this.#counts;
    counts[RECEIVED] = (counts[RECEIVED] ?? 0) + 1;
    counts[BYTES_RECEIVED] = (counts[BYTES_RECEIVED] ?? 0) + bytes;
    counts[ARRIVED] = (counts[ARRIVED] ?? 0) + arrived;
  }

  /**
   * The time from `fromUs[index]` to the worker's moment; below zero it is recorded as 0 and counted
   * as negative. Given by its place, since a double that is passed on would be boxed.
   */
  elapsed(time: number, fromUs: Float64Array, index: number): void {
    const us = momentOf(this.#moment) - at(fromUs, index);
    const histogram = item(this.#times, time);
    const target = histogram === null ? this.#open(time) : histogram;
    // The same goes for this call: a whole number below 2^31 needs no box.
    if (us >= 0 && us < 2_147_483_648) target.record(us | 0);
    else target.record(us);
  }

  /** What was timed may be off by so much, whole µs, as two clocks took part. */
  widen(time: number, boundUs: number): void {
    item(this.#times, time)?.widen(boundUs);
  }

  /** The value of a gauge for the slice that is being filled; without it the slice has none. */
  gauge(gauge: number, value: number): void {
    this.#gauges[gauge] = value;
  }

  fail(metric: FailureMetric, reason: string, n = 1): void {
    if (n === 0) return;
    let reasons = this.#failures.get(metric);
    if (reasons === undefined) {
      reasons = new Map();
      this.#failures.set(metric, reasons);
    }
    const known = reasons.get(reason);
    if (known !== undefined) reasons.set(reason, known + n);
    else if (reasons.size < MAX_REASONS) reasons.set(reason, n);
    else reasons.set(OTHER_REASONS, (reasons.get(OTHER_REASONS) ?? 0) + n);
  }

  /** Appends what grew since the last drain. */
  drain(into: SeriesDelta[]): void {
    this.#drainCounters(into);
    for (const [metric, reasons] of this.#failures) {
      for (const [reason, value] of reasons) into.push({ ...this.#series(metric), reason, value });
      reasons.clear();
    }
    this.#gauges.forEach((value, gauge) => {
      if (!Number.isNaN(value)) into.push({ ...this.#series(item(GAUGE_NAMES, gauge)), value });
    });
    this.#gauges.fill(Number.NaN);
    this.#times.forEach((histogram, time) => {
      const sparse = histogram?.drainSparse() ?? null;
      if (sparse !== null) {
        into.push({ ...this.#series(item(TIME_NAMES, time)), histogram: sparse });
      }
    });
  }

  /** Gives the histograms back. Nothing may be recorded any more. */
  release(): void {
    for (const histogram of this.#times) if (histogram !== null) this.#pool.give(histogram);
    this.#times.fill(null);
  }

  #drainCounters(into: SeriesDelta[]): void {
    const shown: readonly number[] = this.#shown ? [] : SHOWN_FROM_START[this.key.kind];
    this.#shown = true;
    this.#counts.forEach((value, counter) => {
      if (value === 0 && !shown.includes(counter)) return;
      into.push({ ...this.#series(item(COUNTER_NAMES, counter)), value });
      this.#counts[counter] = 0;
    });
  }

  #series(metric: SeriesKey['metric']): SeriesKey {
    const { subject, stage, qos } = this.key;
    return qos === undefined ? { metric, subject, stage } : { metric, subject, stage, qos };
  }

  #open(time: number): Histogram {
    const histogram = this.#pool.take();
    this.#times[time] = histogram;
    return histogram;
  }
}
