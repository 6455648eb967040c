import { SquallError } from '../../errors/index.ts';
import { METRICS } from '../catalogue.ts';
import type { SeriesDelta, SeriesKey, SparseHistogram } from '../frame.ts';
import { Histogram } from '../histogram.ts';
import { OTHER_REASONS } from '../reasons.ts';
import { bareKey, seriesKeyOf } from '../series-key.ts';

/** Reasons told apart for one metric of one subject in one stage; further ones count as `OTHER_REASONS`. */
export const MAX_REASONS = 100;

/** Series of a run. A plan's own are hundreds. */
const MAX_RUN_SERIES = 100_000;

/** A series since the start of the run. */
export interface SeriesTotal {
  readonly key: SeriesKey;
  /** Counters; 0 for times. */
  readonly value: number;
  /** Times; null for counters. */
  readonly histogram: Histogram | null;
}

export interface SeriesState {
  readonly key: SeriesKey;
  readonly value: number;
  readonly histogram: SparseHistogram | null;
}

interface Series {
  readonly key: SeriesKey;
  readonly histogram: Histogram | null;
  value: number;
}

/**
 * Counters and times since the start of the run, by series. Gauges have no sum over time and are not
 * here.
 */
export class SeriesStore {
  readonly #series = new Map<string, Series>();
  readonly #reasons = new Map<string, number>();

  constructor(state: readonly SeriesState[] = []) {
    for (const { key, value, histogram } of state) {
      const series = this.#open(key);
      series.value = value;
      if (histogram !== null) series.histogram?.addSparse(histogram);
    }
  }

  /** Adds a counter's growth or a time's buckets. @throws SquallError SQ_FRAME beyond `MAX_RUN_SERIES`. */
  add(delta: SeriesDelta): void {
    if (METRICS[delta.metric].kind === 'gauge') return;
    const series = this.#series.get(seriesKeyOf(delta)) ?? this.#open(bareKey(delta));
    if (delta.histogram !== undefined) series.histogram?.addSparse(delta.histogram);
    series.value += delta.value ?? 0;
  }

  *all(): Generator<SeriesTotal> {
    yield* this.#series.values();
  }

  toJSON(): SeriesState[] {
    return [...this.#series.values()].map(({ key, value, histogram }) => ({
      key,
      value,
      histogram: histogram?.toSparse() ?? null,
    }));
  }

  #open(wanted: SeriesKey): Series {
    const key = this.#withKnownReason(wanted);
    const text = seriesKeyOf(key);
    const known = this.#series.get(text);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_RUN_SERIES) {
      throw new SquallError('SQ_FRAME', `a run has at most ${MAX_RUN_SERIES} series`);
    }
    const histogram = METRICS[key.metric].kind === 'time' ? new Histogram() : null;
    const series = { key, histogram, value: 0 };
    this.#series.set(text, series);
    return series;
  }

  /** Texts of brokers and systems end up as reasons: whatever they say, the number stays bounded. */
  #withKnownReason(key: SeriesKey): SeriesKey {
    if (key.reason === undefined) return key;
    const family = `${key.metric}\n${key.subject}\n${key.stage}`;
    const count = this.#reasons.get(family) ?? 0;
    if (count >= MAX_REASONS) return { ...key, reason: OTHER_REASONS };
    this.#reasons.set(family, count + 1);
    return key;
  }
}
