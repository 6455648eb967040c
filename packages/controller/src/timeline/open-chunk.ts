import {
  GaugeSteps,
  Histogram,
  isMetricName,
  METRICS,
  type MetricName,
  type SeriesDelta,
  type Slice,
  type SparseHistogram,
  type StepShare,
} from '@squall/core/metrics';
import {
  type ChunkData,
  type ChunkSeries,
  CHUNK_SECONDS,
  seriesId,
  TIME_COLUMNS,
  type TimeColumnName,
} from './chunk.ts';

/** Deltas of a second that wait side by side before they are added up, to bound memory. */
const PENDING_LIMIT = 8;
/** Parts of a slice that lies in two seconds; more digits only make the text longer. */
const FRACTIONS = 1_000;

/** One for all: it is empty between uses. */
const scratch = new Histogram();

type TimeFigures = Readonly<Record<TimeColumnName, number>>;

interface TimeSecond {
  /** What an earlier process wrote down of it. */
  readonly known: TimeFigures | null;
  readonly pending: SparseHistogram[];
  /** What all of it gives; null: not known (any more). */
  figures: TimeFigures | null;
}

/** A minute of a run that still grows. Seconds are counted from its beginning. */
export class OpenChunk {
  readonly #counters = new Map<string, number[]>();
  readonly #times = new Map<string, TimeSecond[]>();
  readonly #gauges = new GaugeSteps();
  /** Sums of gauges that an earlier process wrote down. */
  readonly #knownGauges = new Map<string, (number | null)[]>();
  #seconds = 0;

  /** `known`: what an earlier process wrote down of this minute. */
  constructor(known: ChunkData | null = null) {
    if (known === null) return;
    this.#seconds = known.seconds;
    for (const series of known.series) this.#take(series);
  }

  add(agent: string, slice: Slice, shares: readonly StepShare[]): void {
    for (const { step } of shares) this.#seconds = Math.max(this.#seconds, step + 1);
    for (const delta of slice.series) {
      if (METRICS[delta.metric].kind === 'counter') this.#count(delta, shares);
      else if (delta.histogram !== undefined) this.#time(delta, delta.histogram, shares);
    }
    for (const { step } of shares) this.#gauges.add(step, agent, slice);
  }

  data(reported: Readonly<Record<string, number>>): ChunkData {
    const series: ChunkSeries[] = [];
    for (const [id, growth] of this.#counters) {
      const values = this.#perSecond((second) => growth[second] ?? 0);
      series.push({ kind: 'counter', ...partsOf(id), values: values.map(rounded) });
    }
    for (const id of new Set([...this.#knownGauges.keys(), ...this.#gauges.keys()])) {
      const values = this.#perSecond((second) => this.#gaugeAt(second, id));
      series.push({ kind: 'gauge', ...partsOf(id), values });
    }
    for (const [id, seconds] of this.#times) {
      const figures = this.#perSecond((second) => figuresOf(seconds[second]));
      const column = (name: TimeColumnName) => figures.map((one) => one[name]);
      series.push({ kind: 'time', ...partsOf(id), columns: columnsOf(column) });
    }
    return { seconds: this.#perSecond(() => 0).length, series, reported: { ...reported } };
  }

  #take(series: ChunkSeries): void {
    const id = seriesId(series.metric, series.subject);
    if (series.kind === 'counter') this.#counters.set(id, [...series.values]);
    else if (series.kind === 'gauge') this.#knownGauges.set(id, series.values);
    else this.#times.set(id, secondsOf(series.columns));
  }

  /** Not every agent repeats what it said to an earlier process: the larger sum is the fuller one. */
  #gaugeAt(second: number, id: string): number | null {
    const known = this.#knownGauges.get(id)?.[second] ?? null;
    const value = this.#gauges.at(second, id);
    return known === null || value === null ? (known ?? value) : Math.max(known, value);
  }

  #count({ metric, subject, value = 0 }: SeriesDelta, shares: readonly StepShare[]): void {
    const id = seriesId(metric, subject);
    const growth = this.#counters.get(id) ?? [];
    this.#counters.set(id, growth);
    for (const { step, share } of shares) growth[step] = (growth[step] ?? 0) + value * share;
  }

  #time(delta: SeriesDelta, histogram: SparseHistogram, shares: readonly StepShare[]): void {
    const id = seriesId(delta.metric, delta.subject);
    const seconds = this.#times.get(id) ?? [];
    this.#times.set(id, seconds);
    // Times cannot be cut in two: they belong to the second in which most of their slice lies.
    const main = shares.reduce((best, one) => (one.share > best.share ? one : best));
    const second = seconds[main.step] ?? { known: null, pending: [], figures: null };
    seconds[main.step] = second;
    second.pending.push(histogram);
    second.figures = null;
    if (second.pending.length < PENDING_LIMIT) return;
    for (const one of second.pending.splice(0)) scratch.addSparse(one);
    const sum = scratch.drainSparse();
    if (sum !== null) second.pending.push(sum);
  }

  #perSecond<T>(at: (second: number) => T): T[] {
    return Array.from({ length: Math.min(this.#seconds, CHUNK_SECONDS) }, (_, second) =>
      at(second),
    );
  }
}

const NOTHING = columnsOf(() => 0);

function figuresOf(second: TimeSecond | undefined): TimeFigures {
  if (second === undefined) return NOTHING;
  if (second.figures !== null) return second.figures;
  for (const one of second.pending) scratch.addSparse(one);
  const figures = scratch.count === 0 ? null : figuresOfScratch();
  scratch.reset();
  second.figures = joined(second.known, figures) ?? NOTHING;
  return second.figures;
}

function figuresOfScratch(): TimeFigures {
  return {
    count: scratch.count,
    sum: scratch.sumUs,
    min: scratch.minUs,
    p50: scratch.percentileUs(50),
    p90: scratch.percentileUs(90),
    p95: scratch.percentileUs(95),
    p99: scratch.percentileUs(99),
    p999: scratch.percentileUs(99.9),
    max: scratch.maxUs,
  };
}

/** Of two parts of a second the worse percentiles stand: without their buckets they cannot be merged. */
function joined(a: TimeFigures | null, b: TimeFigures | null): TimeFigures | null {
  if (a === null || b === null) return a ?? b;
  const worse = columnsOf((name) => Math.max(a[name], b[name]));
  return { ...worse, count: a.count + b.count, sum: a.sum + b.sum, min: Math.min(a.min, b.min) };
}

function secondsOf(columns: Readonly<Record<TimeColumnName, number[]>>): TimeSecond[] {
  return columns.count.map((count, second) => ({
    known: count === 0 ? null : columnsOf((name) => columns[name][second] ?? 0),
    pending: [],
    figures: null,
  }));
}

function columnsOf<T>(of: (name: TimeColumnName) => T): Record<TimeColumnName, T> {
  const [count, sum, min, p50, p90, p95, p99, p999, max] = TIME_COLUMNS;
  return {
    count: of(count),
    sum: of(sum),
    min: of(min),
    p50: of(p50),
    p90: of(p90),
    p95: of(p95),
    p99: of(p99),
    p999: of(p999),
    max: of(max),
  };
}

function rounded(value: number): number {
  return Math.round(value * FRACTIONS) / FRACTIONS;
}

function partsOf(id: string): { metric: MetricName; subject: string } {
  const [metric = '', subject = ''] = id.split('\n');
  if (!isMetricName(metric)) throw new RangeError(`${metric} is no metric`);
  return { metric, subject };
}
