import type { Histogram as Times } from '@squall/core/metrics';
import { Histogram, type Registry } from 'prom-client';

/** Upper ends of the buckets, s: from a tenth of a millisecond to a minute. */
export const BUCKETS_S: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  30, 60,
];
const BOUNDS_US = BUCKETS_S.map((seconds) => Math.round(seconds * 1_000_000));

export interface MergedHistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly registry: Registry;
  readonly labels: readonly string[];
  /** What there is at this moment. */
  readonly read: () => Iterable<Sample>;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly times: Times;
}

/**
 * A histogram of Prometheus whose buckets are read off our own, merged ones, whenever it is asked for:
 * nothing is observed twice, and nothing is kept here.
 */
export class MergedHistogram extends Histogram {
  readonly #options: MergedHistogramOptions;

  constructor(options: MergedHistogramOptions) {
    const { name, help, labels, registry } = options;
    const buckets = [...BUCKETS_S];
    super({ name, help, labelNames: [...labels], buckets, registers: [registry] });
    this.#options = options;
  }

  override get(): ReturnType<Histogram['get']> {
    const { name, help, read } = this.#options;
    const values = [...read()].flatMap((sample) => linesOf(name, sample));
    return Promise.resolve({
      name,
      help,
      // The word of the library's own type for it, which is no value.
      type: HISTOGRAM,
      aggregator: 'sum',
      collect: () => undefined,
      values,
    });
  }

  /** The registry prefers this one for its text. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }
}

function linesOf(name: string, { labels, times }: Sample) {
  const counts = times.countsUpTo(BOUNDS_US);
  const line = (suffix: string, value: number, more: Record<string, string | number> = {}) => ({
    metricName: `${name}_${suffix}`,
    labels: { ...more, ...labels },
    value,
  });
  return [
    ...BUCKETS_S.map((le, place) => line('bucket', counts[place] ?? 0, { le })),
    line('bucket', times.count, { le: '+Inf' }),
    line('sum', times.sumUs / 1_000_000),
    line('count', times.count),
  ];
}
