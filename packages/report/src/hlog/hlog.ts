import { bucketOf, HIGHEST_US } from '@squall/core/metrics';
import type { Report } from '@squall/core/report';
import { encodeHdr } from './encode.ts';

/** Times stand in the log as ms, as plotters expect; the histograms themselves count µs. */
const US_A_UNIT = 1_000;

/**
 * The times of a run as an HdrHistogram log (V2): a line for each group, metric and stage, tagged
 * `group.metric`, its interval that of the stage. Values are µs.
 */
export function toHlog(report: Report): string {
  const { run, stages, histograms } = report;
  const startMs = Date.parse(run.startedAt);
  const spans = new Map(
    stages.map(({ name, startedAt, endedAt }) => [
      name,
      {
        fromS: (Date.parse(startedAt) - startMs) / 1_000,
        toS: (Date.parse(endedAt) - startMs) / 1_000,
      },
    ]),
  );
  const whole = { fromS: 0, toS: run.durationUs / 1_000_000 };
  const lines = histograms
    .map((one) => ({ one, span: spans.get(one.stage) ?? whole }))
    .toSorted((a, b) => a.span.fromS - b.span.fromS)
    .map(({ one, span }) => lineOf(one, span));
  return [
    `#[Squall ${run.version}, run ${run.id}. Values in microseconds, maxima in ms; an interval is a stage]`,
    '#[Histogram log format version 1.3]',
    `#[StartTime: ${(startMs / 1_000).toFixed(3)} (seconds since epoch), ${run.startedAt}]`,
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
    ...lines,
    '',
  ].join('\n');
}

function lineOf(
  { group, metric, upToUs, counts }: Report['histograms'][number],
  { fromS, toS }: { readonly fromS: number; readonly toS: number },
): string {
  const payload = encodeHdr({
    buckets: bucketsOf(upToUs, counts),
    highestTrackable: HIGHEST_US,
  });
  const maxMs = ((upToUs.at(-1) ?? 0) / US_A_UNIT).toFixed(3);
  const tag = `Tag=${group}.${metric}`;
  return `${tag},${fromS.toFixed(3)},${Math.max(0, toS - fromS).toFixed(3)},${maxMs},${payload}`;
}

/** Ends of buckets in the order of their layout; two that lie in one bucket of it are one. */
function bucketsOf(upToUs: readonly number[], counts: readonly number[]): [number, number][] {
  const buckets = new Map<number, number>();
  upToUs.forEach((us, at) => {
    const index = bucketOf(Math.min(us, HIGHEST_US));
    buckets.set(index, (buckets.get(index) ?? 0) + (counts[at] ?? 0));
  });
  return [...buckets].toSorted(([a], [b]) => a - b);
}
