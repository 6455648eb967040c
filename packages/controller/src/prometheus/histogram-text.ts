import type { Histogram } from '@squall/core/metrics';

/** Upper ends of the buckets, s: from a tenth of a millisecond to a minute. */
export const BUCKETS_S: readonly number[] = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  30, 60,
];
const BOUNDS_US = BUCKETS_S.map((seconds) => Math.round(seconds * 1_000_000));

export interface HistogramSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly times: Histogram;
}

/**
 * A histogram in Prometheus' text format, its buckets read off our own, merged ones. The client library
 * can only observe values one by one; these were counted long ago.
 */
export function histogramText(
  { name, help }: { readonly name: string; readonly help: string },
  samples: readonly HistogramSample[],
): string {
  const lines = samples.flatMap((sample) => linesOf(name, sample));
  return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n');
}

function linesOf(name: string, { labels, times }: HistogramSample): string[] {
  const counts = times.countsUpTo(BOUNDS_US);
  const own = Object.entries(labels).map(([key, value]) => `${key}="${escaped(value)}"`);
  const bucket = (le: string, count: number) =>
    `${name}_bucket{${[`le="${le}"`, ...own].join(',')}} ${count}`;
  return [
    ...BUCKETS_S.map((bound, place) => bucket(String(bound), counts[place] ?? 0)),
    bucket('+Inf', times.count),
    `${name}_sum{${own.join(',')}} ${times.sumUs / 1_000_000}`,
    `${name}_count{${own.join(',')}} ${times.count}`,
  ];
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
