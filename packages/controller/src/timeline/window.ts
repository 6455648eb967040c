import type { MetricName } from '@squall/core/metrics';
import {
  type ChunkData,
  type ChunkSeries,
  CHUNK_SECONDS,
  SECOND_US,
  seriesId,
  type TimeColumnName,
} from './chunk.ts';

/** What a time line is asked for. µs on the run's timeline. */
export interface WindowQuery {
  readonly fromUs: number;
  readonly toUs: number;
  /** Whole seconds. */
  readonly stepUs: number;
  /** Empty: all. A group stands for its streams, too. */
  readonly metrics: readonly string[];
  readonly subjects: readonly string[];
}

/** One curve; every column has one entry a step. Null: nothing was measured in the step. */
export type WindowSeries =
  | (Curve & { readonly kind: 'counter'; readonly rate: Column; readonly count: Column })
  | (Curve & { readonly kind: 'gauge'; readonly value: Column })
  | (Curve & { readonly kind: 'time'; readonly count: Column } & Record<TimeFigure, Column>);

interface Curve {
  readonly metric: MetricName;
  readonly subject: string;
}

type Column = (number | null)[];
type TimeFigure = 'minUs' | 'meanUs' | 'p50Us' | 'p90Us' | 'p95Us' | 'p99Us' | 'p999Us' | 'maxUs';

/** The seconds of a curve in the window, whatever the kind; what is missing is undefined. */
interface Seconds {
  readonly curve: Curve;
  readonly kind: ChunkSeries['kind'];
  readonly columns: Map<string, (number | null)[]>;
}

/**
 * Cuts a window out of a run's chunks and makes steps of its seconds. Rates and means are exact in
 * every step. Percentiles of seconds cannot be averaged: a step of several shows the worst of them.
 * Of a gauge the last value in the step stands.
 */
export function windowOf(
  chunks: ReadonlyMap<number, ChunkData>,
  query: WindowQuery,
): readonly WindowSeries[] {
  const first = Math.floor(query.fromUs / SECOND_US);
  const length = Math.max(0, Math.ceil(query.toUs / SECOND_US) - first);
  const curves = new Map<string, Seconds>();
  for (const [index, chunk] of chunks) {
    const offset = index * CHUNK_SECONDS - first;
    for (const series of chunk.series) {
      if (wanted(series, query)) place(curves, series, { offset, length });
    }
  }
  const steps = new Steps(length, query.stepUs / SECOND_US);
  return [...curves.values()].map((seconds) => steps.series(seconds)).toSorted(byName);
}

/** Seconds of the run that the chunks know of. */
export function recordedSeconds(chunks: ReadonlyMap<number, ChunkData>): number {
  const ends = [...chunks].map(([index, { seconds }]) => index * CHUNK_SECONDS + seconds);
  return Math.max(0, ...ends);
}

function wanted({ metric, subject }: ChunkSeries, { metrics, subjects }: WindowQuery): boolean {
  if (metrics.length > 0 && !metrics.includes(metric)) return false;
  return (
    subjects.length === 0 ||
    subjects.some((name) => subject === name || subject.startsWith(`${name}.`))
  );
}

function place(
  curves: Map<string, Seconds>,
  series: ChunkSeries,
  at: { readonly offset: number; readonly length: number },
): void {
  const { kind, metric, subject } = series;
  const id = seriesId(metric, subject);
  const curve = curves.get(id) ?? { curve: { metric, subject }, kind, columns: new Map() };
  curves.set(id, curve);
  const columns: Readonly<Record<string, (number | null)[]>> =
    kind === 'time' ? series.columns : { values: series.values };
  for (const [name, values] of Object.entries(columns)) {
    const column = curve.columns.get(name) ?? Array<number | null>(at.length).fill(null);
    curve.columns.set(name, column);
    for (const [second, value] of values.entries()) {
      const target = at.offset + second;
      if (target >= 0 && target < at.length) column[target] = value;
    }
  }
}

/** Steps of a window of `length` seconds, `size` seconds each. */
class Steps {
  readonly #length: number;
  readonly #size: number;

  constructor(length: number, size: number) {
    this.#length = length;
    this.#size = size;
  }

  series({ curve, kind, columns }: Seconds): WindowSeries {
    const values = columns.get('values') ?? [];
    switch (kind) {
      case 'counter': {
        const count = this.#each(values, sum);
        const rate = count.map((n, step) => (n === null ? null : n / this.#seconds(step)));
        return { ...curve, kind, rate, count };
      }
      case 'gauge':
        return { ...curve, kind, value: this.#each(values, last) };
      case 'time':
        return { ...curve, kind, ...this.#times(columns) };
    }
  }

  #times(columns: Seconds['columns']): Record<TimeFigure, Column> & { count: Column } {
    const counts = columns.get('count') ?? [];
    const of = (name: TimeColumnName, fold: Fold) =>
      // A second without times has zeros in all its columns, and nothing to say.
      this.#each(
        (columns.get(name) ?? []).map((value, second) => (counts[second] ? value : null)),
        fold,
      );
    const count = this.#each(counts, sum);
    const sums = of('sum', sum);
    return {
      count,
      minUs: of('min', lowest),
      meanUs: sums.map((total, step) => mean(total, count[step] ?? null)),
      p50Us: of('p50', highest),
      p90Us: of('p90', highest),
      p95Us: of('p95', highest),
      p99Us: of('p99', highest),
      p999Us: of('p999', highest),
      maxUs: of('max', highest),
    };
  }

  #each(values: (number | null)[], fold: Fold): Column {
    if (this.#size === 1) return values;
    return Array.from({ length: Math.ceil(this.#length / this.#size) }, (_, step) =>
      values
        .slice(step * this.#size, (step + 1) * this.#size)
        .reduce((known, value) => (value === null ? known : fold(known, value)), null),
    );
  }

  /** The last step may be shorter. */
  #seconds(step: number): number {
    return Math.min(this.#size, this.#length - step * this.#size);
  }
}

type Fold = (known: number | null, value: number) => number;
const sum: Fold = (known, value) => (known ?? 0) + value;
const last: Fold = (_known, value) => value;
const highest: Fold = (known, value) => Math.max(known ?? value, value);
const lowest: Fold = (known, value) => Math.min(known ?? value, value);

function mean(total: number | null, count: number | null): number | null {
  return total === null || count === null || count === 0 ? null : Math.round(total / count);
}

function byName(a: WindowSeries, b: WindowSeries): number {
  return seriesId(a.metric, a.subject) < seriesId(b.metric, b.subject) ? -1 : 1;
}
