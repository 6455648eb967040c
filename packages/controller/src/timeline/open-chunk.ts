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
  readonly pending: SparseHistogram[];
  /** What the pending ones give; null: not known (any more). */
  figures: TimeFigures | null;
}

/** A minute of a run that still grows. Seconds are counted from its beginning. */
export class OpenChunk {
  readonly #counters = new Map<string, number[]>();
  readonly #times = new Map<string, TimeSecond[]>();
  readonly #gauges = new GaugeSteps();
  #seconds = 0;

  add(agent: string, slice: Slice, shares: readonly StepShare[]): void {
    for (const { step } of shares) this.#seconds = Math.max(this.#seconds, step + 1);
    for (const delta of slice.series) {
      if (METRICS[delta.metric].kind === 'counter') this.#count(delta, shares);
      else if (delta.histogram !== undefined) this.#time(delta, delta.histogram, shares);
    }
    for (const { step } of shares) this.#gauges.add(step, agent, slice);
  }

  data(): ChunkData {
    const series: ChunkSeries[] = [];
    for (const [id, growth] of this.#counters) {
      const values = this.#perSecond((second) => growth[second] ?? 0);
      series.push({ kind: 'counter', ...partsOf(id), values: values.map(rounded) });
    }
    for (const id of this.#gauges.keys()) {
      const values = this.#perSecond((second) => this.#gauges.at(second, id));
      series.push({ kind: 'gauge', ...partsOf(id), values });
    }
    for (const [id, seconds] of this.#times) {
      const figures = this.#perSecond((second) => figuresOf(seconds[second]));
      const column = (name: TimeColumnName) => figures.map((one) => one[name]);
      series.push({ kind: 'time', ...partsOf(id), columns: columnsOf(column) });
    }
    return { seconds: this.#seconds, series };
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
    const second = seconds[main.step] ?? { pending: [], figures: null };
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
  const figures: TimeFigures = {
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
  scratch.reset();
  second.figures = figures;
  return figures;
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
