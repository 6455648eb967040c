import type { HookStats } from './stats.ts';

const COUNTERS: readonly (readonly [
  name: string,
  help: string,
  read: (stats: HookStats) => number,
])[] = [
  ['requests', 'Requests that were answered as wanted.', (stats) => stats.requests],
  ['refused', 'Requests that were answered with an error on purpose.', (stats) => stats.refused],
  ['bytes', 'Bytes of bodies.', (stats) => stats.bytes],
  ['messages', 'Messages in bodies.', (stats) => stats.messages],
  ['unique', 'Messages that came for the first time.', (stats) => stats.unique],
  ['duplicated', 'Messages that came again.', (stats) => stats.duplicated],
  ['corrupted', 'Messages whose checksum does not fit.', (stats) => stats.corrupted],
  ['foreign', 'Messages without a stamp.', (stats) => stats.foreign],
];

/** What a hook counted, in Prometheus' text format. */
export function hookPrometheusText(stats: HookStats): string {
  const lines = COUNTERS.flatMap(([name, help, read]) => [
    `# HELP squall_hook_${name}_total ${help}`,
    `# TYPE squall_hook_${name}_total counter`,
    `squall_hook_${name}_total ${read(stats)}`,
  ]);
  lines.push(
    '# HELP squall_hook_bad_bodies_total Bodies without a message, by reason.',
    '# TYPE squall_hook_bad_bodies_total counter',
    ...Object.entries(stats.badBodies).map(
      ([reason, count]) => `squall_hook_bad_bodies_total{reason="${reason}"} ${count}`,
    ),
    '# HELP squall_hook_lost Messages missing below the highest number of their publisher that came.',
    '# TYPE squall_hook_lost gauge',
    `squall_hook_lost ${stats.lost}`,
    '# HELP squall_hook_latency_seconds From the moment a message was due to its arrival at the hook.',
    '# TYPE squall_hook_latency_seconds histogram',
    ...stats.hookHistogram.map(
      ([upToUs, count]) => `squall_hook_latency_seconds_bucket{le="${upToUs / 1e6}"} ${count}`,
    ),
    `squall_hook_latency_seconds_bucket{le="+Inf"} ${stats.hookLatency.count}`,
    `squall_hook_latency_seconds_sum ${(stats.hookLatency.meanUs * stats.hookLatency.count) / 1e6}`,
    `squall_hook_latency_seconds_count ${stats.hookLatency.count}`,
    '',
  );
  return lines.join('\n');
}
