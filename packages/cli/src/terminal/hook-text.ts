import { formatBytes, formatCount, formatDuration } from '@squall/core/units';
import type { HookStats } from '@squall/probes/webhook';
import { textTable } from './text-table.ts';

/** What came so far, in one line. */
export function hookLine(stats: HookStats, requestsLately: number): string {
  const { requests, unique, duplicated, lost, corrupted, foreign, hookLatency } = stats;
  return [
    `${formatCount(requests)} requests (${formatCount(requestsLately)}/s)`,
    `${formatCount(unique)} unique`,
    `${formatCount(duplicated)} duplicated`,
    `${formatCount(lost)} missing`,
    ...(corrupted > 0 ? [`${formatCount(corrupted)} corrupted`] : []),
    ...(foreign > 0 ? [`${formatCount(foreign)} foreign`] : []),
    ...(hookLatency.count > 0
      ? [`p50 ${formatDuration(hookLatency.p50Us)}, p99 ${formatDuration(hookLatency.p99Us)}`]
      : []),
  ].join(' · ');
}

/** Everything that came, for people. */
export function hookSummary(stats: HookStats): string[] {
  const { hookLatency: times, badBodies } = stats;
  const counts = textTable(
    [
      ['requests', formatCount(stats.requests)],
      ['refused', formatCount(stats.refused), 'answered with 503, as was asked for'],
      ['bodies', formatBytes(stats.bytes)],
      ...Object.entries(badBodies).map(([reason, count]) => [
        'bad bodies',
        formatCount(count),
        reason,
      ]),
      ['messages', formatCount(stats.messages)],
      ['unique', formatCount(stats.unique)],
      ['duplicated', formatCount(stats.duplicated)],
      ['lost', formatCount(stats.lost), 'missing below the highest number of their publisher'],
      ['corrupted', formatCount(stats.corrupted)],
      ['foreign', formatCount(stats.foreign), 'without a stamp'],
      ...(stats.untimed > 0 ? [['untimed', formatCount(stats.untimed), 'of unknown clocks']] : []),
    ],
    { indent: 2 },
  );
  if (times.count === 0) return counts;
  const named = [
    ['mean', times.meanUs],
    ['p50', times.p50Us],
    ['p95', times.p95Us],
    ['p99', times.p99Us],
    ['p99.9', times.p999Us],
    ['max', times.maxUs],
  ] as const;
  const bound = times.boundUs > 0 ? ` (± ${formatDuration(times.boundUs)})` : '';
  return [
    ...counts,
    `  due → here${bound}: ${named.map(([name, us]) => `${name} ${formatDuration(us)}`).join(' · ')}`,
  ];
}
