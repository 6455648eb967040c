import type { GroupFigures, Report } from '@squall/core/report';
import { formatCount, formatDuration } from '@squall/core/units';
import { balanceLines, probeLines } from './outside-text.ts';
import type { Style } from './style.ts';
import { textTable } from './text-table.ts';

/** Lines of each list that a person reads; the whole of it stands in report.json. */
const MAX_FAILURES_SHOWN = 8;
const MAX_FINDINGS_SHOWN = 8;
const MAX_DELIVERIES_SHOWN = 12;
const LABEL_WIDTH = 9;
/** Of a run that was cut short: what the plan has and nobody had to send any more. */
const NOT_DUE = 'not yet due';
/** Ends of stages that their plan did not foresee. */
const CUT_SHORT: readonly string[] = ['aborted', 'agent_lost', 'stopped'];

/**
 * The report as a person reads it at the end of a run: verdict, reasons, validity, thresholds and
 * balance, the ledger, then what was measured. A drawing of the report: it computes no figure of its own.
 */
export function reportSummary(report: Report, style: Style): string {
  const sections = [
    planLines(report),
    verdictLines(report, style),
    validityLines(report, style),
    thresholdLines(report, style),
    balanceLines(report, style),
    deliveryLines(report, style),
    groupLines(report, style),
    timeLines(report, style),
    probeLines(report, style),
    failureLines(report, style),
    aboutLines(report, style),
  ];
  return `\n${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n\n`;
}

/** What was run, for whoever keeps nothing but this text; a scaled run is not the plan as written. */
function planLines({ run }: Report): string[] {
  const { scale, scaled, name } = run;
  if (scale === 1) return [`${label('plan')}${name}`];
  const values = `${scaled.length} value${scaled.length === 1 ? '' : 's'} changed`;
  return [`${label('plan')}${name} at scale ${scale} (${values})`];
}

function verdictLines(report: Report, style: Style): string[] {
  const paint = report.exitCode === 0 ? style.green : style.red;
  const head = `${label('verdict')}${style.bold(paint(report.verdict))} · exit code ${report.exitCode}`;
  return [head, ...report.reasons.map((reason) => `${label('')}${reason}`)];
}

function validityLines({ validity }: Report, style: Style): string[] {
  const paint = { valid: style.green, degraded: style.yellow, invalid: style.red }[validity.state];
  const lines = [`${label('validity')}${paint(validity.state)}`];
  const shown = validity.findings.slice(0, MAX_FINDINGS_SHOWN);
  for (const finding of shown) {
    const agent = finding.agent === undefined ? '' : ` (${finding.agent})`;
    lines.push(`${label('')}${finding.state}: ${finding.check}${agent}: ${finding.hint}`);
  }
  return [...lines, ...moreLine(validity.findings.length - shown.length)];
}

function thresholdLines({ thresholds }: Report, style: Style): string[] {
  if (thresholds.length === 0) return [];
  const rows = thresholds.map((threshold) => {
    const { state } = threshold;
    const mark = state === 'pass' ? style.green('pass') : style.red(state.replace('_', ' '));
    const windows =
      threshold.failedWindows > 0 && threshold.windows > 1
        ? `${threshold.failedWindows} of ${threshold.windows} windows failed`
        : '';
    return [mark, threshold.text, threshold.observedText, windows];
  });
  return ['thresholds', ...textTable(rows, { indent: 2 })];
}

/** Shown where any row has some; what was expected, received and lost always is. */
const DELIVERY_FAULTS = [
  'duplicated',
  'reordered',
  'corrupted',
  'wrongTopic',
  'wrongQos',
  'unexpected',
  'foreign',
  'unresolved',
  'refused',
  'expired',
  'queued',
  'unverifiable',
] as const;
const STATE_ORDER = ['fail', 'inconclusive', 'pass'];

function deliveryLines({ ledger }: Report, style: Style): string[] {
  if (ledger.length === 0) return [];
  const columns = [
    ...(['expected', 'received', 'lost'] as const),
    ...DELIVERY_FAULTS.filter((figure) => ledger.some((row) => row[figure] > 0)),
  ];
  const shown = ledger
    .toSorted((a, b) => STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state))
    .slice(0, MAX_DELIVERIES_SHOWN);
  const rows = shown.map((row) => [
    `${row.from} → ${row.to}`,
    `${row.qos}`,
    ...columns.map((figure) => formatCount(row[figure])),
    row.state === 'pass' ? style.green('pass') : style.red(row.state),
  ]);
  const head = ['deliveries', 'QoS', ...columns].map((text) => style.dim(text));
  const table = textTable([head, ...rows], { alignRight: true });
  return [...table, ...moreLine(ledger.length - shown.length)];
}

const COUNTERS = [
  'connected',
  'session_present',
  'takeovers',
  'planned',
  NOT_DUE,
  'sent',
  'acked',
  'responses',
  'received',
  'dropped',
] as const;
const FAILED = [
  'connect_failed',
  'connect_missed',
  'takeover_failed',
  'publish_failed',
  'request_failed',
  'answer_failed',
  'subscribe_failed',
  'unsubscribe_failed',
  'disconnected',
] as const;

function groupLines({ groups, stages }: Report, style: Style): string[] {
  const cutShort = stages.some(({ endedBy }) => CUT_SHORT.includes(endedBy));
  const value = (name: string, counter: string) => {
    const counters = groups[name]?.counters ?? {};
    if (counter !== NOT_DUE) return counters[counter] ?? 0;
    return cutShort ? Math.max(0, (counters['planned'] ?? 0) - (counters['scheduled'] ?? 0)) : 0;
  };
  const names = Object.keys(groups);
  if (names.length === 0) return [];
  // A column in which no group has anything to say is left out.
  const columns = [...COUNTERS, ...FAILED].filter((counter) =>
    names.some((name) => value(name, counter) > 0),
  );
  if (columns.length === 0) return [];
  const rows = names.map((name) => [
    name,
    ...columns.map((counter) => formatCount(value(name, counter))),
  ]);
  const head = ['group', ...columns].map((text) => style.dim(text));
  return textTable([head, ...rows], { alignRight: true });
}

const TIMES = [
  'connect_time',
  'recovery_time',
  'lateness',
  'publish_time',
  'service_time',
  'response_time',
  'delivery_time',
] as const;
const NO_DUE_TIMES = [
  'service_time counts from when a message was sent: those of `rate: max` are due at no time of their own,',
  'so that publish_time, which counts from then, is of the other streams alone',
];

/**
 * Where each message has its due time, `publish_time` says all that `service_time` does. A stream at
 * `rate: max` has no other latency.
 */
function isTold(times: GroupFigures['times'], metric: (typeof TIMES)[number]): boolean {
  const count = times[metric]?.count ?? 0;
  if (metric !== 'service_time') return count > 0;
  return count > (times['publish_time']?.count ?? 0);
}

function timeLines({ groups }: Report, style: Style): string[] {
  const rows = Object.entries(groups).flatMap(([name, group]) =>
    TIMES.flatMap((metric) => {
      const times = group.times[metric];
      if (times === undefined || !isTold(group.times, metric)) return [];
      const figures = [times.p50Us, times.p99Us, times.p999Us, times.maxUs].map(formatDuration);
      // Of deliveries between hosts with different clocks.
      const error = times.boundUs === undefined ? [] : [`± ${formatDuration(times.boundUs)}`];
      return [[`${name} ${metric}`, formatCount(times.count), ...figures, ...error]];
    }),
  );
  if (rows.length === 0) return [];
  const head = ['times', 'count', 'p50', 'p99', 'p99.9', 'max'].map((text) => style.dim(text));
  const table = textTable([head, ...rows], { alignRight: true });
  const unpaced = Object.values(groups).some(({ times }) => isTold(times, 'service_time'));
  return unpaced ? [...table, ...NO_DUE_TIMES.map((line) => style.dim(line))] : table;
}

function failureLines({ failures }: Report, style: Style): string[] {
  if (failures.length === 0) return [];
  const shown = failures
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MAX_FAILURES_SHOWN)
    .map(({ metric, subject, reason, count, examples }) => {
      const [example] = examples;
      const where = example === undefined ? '' : `e.g. ${example.client} at ${example.address}`;
      return [formatCount(count), `${subject} ${metric}`, reason, style.dim(where)];
    });
  const lines = textTable(shown, { indent: 2 });
  return ['failures', ...lines, ...moreLine(failures.length - shown.length)];
}

function aboutLines({ stages, agents, notes }: Report, style: Style): string[] {
  const lines = [];
  if (stages.length > 0) {
    const parts = stages.map(
      ({ name, durationUs, endedBy }) =>
        `${name} ${formatDuration(roundMs(durationUs))} (${endedBy})`,
    );
    lines.push(`${label('stages')}${parts.join(' · ')}`);
  }
  if (agents.length > 0) {
    const parts = agents.map(({ id, state }) =>
      state === 'completed' ? id : style.red(`${id} ${state}`),
    );
    lines.push(`${label('agents')}${parts.join(' · ')}`);
  }
  for (const note of notes) lines.push(`${label('note')}${note}`);
  return lines;
}

function roundMs(us: number): number {
  return Math.round(us / 1_000) * 1_000;
}

function moreLine(left: number): string[] {
  return left > 0 ? [`${label('')}… and ${left} more in the report`] : [];
}

function label(text: string): string {
  return text.padEnd(LABEL_WIDTH);
}
