import type { Report } from '@squall/core/report';
import { formatCount, formatDuration } from '@squall/core/units';

/** Lines of each list; the whole of it stands in the page. */
const MAX_REASONS = 10;
const MAX_ROWS = 25;
const SIGNS: Readonly<Record<string, string>> = {
  pass: '✅',
  fail: '❌',
  error: '❌',
  aborted: '❌',
  inconclusive: '❔',
  no_data: '❔',
  cancelled: '⏹️',
  warn: '⚠️',
};
const TIMES = ['publish_time', 'delivery_time', 'response_time', 'service_time'];

/** The report in a few lines of Markdown, for a comment on a pull request. */
export function toMarkdown(report: Report): string {
  const blocks = [
    head(report),
    reasons(report),
    thresholdTable(report),
    balanceTable(report),
    ledgerTable(report),
    timesTable(report),
    foot(report),
  ].filter((block) => block !== '');
  return `${blocks.join('\n\n')}\n`;
}

function head({ run, verdict, validity, exitCode }: Report): string {
  const scaled = run.scale === 1 ? '' : ` · **at scale ${run.scale}**`;
  const title = `### ${sign(verdict)} ${inline(run.name)}: ${verdict}`;
  return `${title}\n\nvalidity **${validity.state}** · exit code ${exitCode}${scaled} · ${formatDuration(Math.round(run.durationUs / 1_000) * 1_000)}`;
}

function reasons({ reasons: all, notes }: Report): string {
  const lines = [...all, ...notes];
  const shown = lines.slice(0, MAX_REASONS).map((one) => `- ${inline(one)}`);
  if (lines.length > shown.length) shown.push(`- … and ${lines.length - shown.length} more`);
  return shown.join('\n');
}

function thresholdTable({ thresholds }: Report): string {
  return tableOf(
    ['', 'threshold', 'observed'],
    thresholds.map(({ state, text, observedText }) => [
      sign(state),
      code(text),
      inline(observedText),
    ]),
  );
}

function balanceTable({ balance }: Report): string {
  return tableOf(
    ['', 'balance', 'difference', 'counted'],
    balance.map(({ state, equation, difference, values }) => [
      sign(state),
      code(equation),
      formatCount(difference),
      inline(
        Object.entries(values)
          .map(([side, value]) => `${side} ${formatCount(value)}`)
          .join(', '),
      ),
    ]),
  );
}

function ledgerTable({ ledger }: Report): string {
  return tableOf(
    ['', 'delivery', 'QoS', 'expected', 'arrived', 'lost', 'duplicated'],
    ledger.map(({ state, from, to, qos, expected, unique, lost, duplicated }) => [
      sign(state),
      inline(`${from} → ${to}`),
      String(qos),
      ...[expected, unique, lost, duplicated].map(formatCount),
    ]),
  );
}

function timesTable({ groups }: Report): string {
  const rows = Object.entries(groups).flatMap(([name, { times }]) =>
    TIMES.flatMap((metric) => {
      const one = times[metric];
      if (one === undefined) return [];
      const figures = [one.p50Us, one.p99Us, one.p999Us, one.maxUs].map(formatDuration);
      return [[inline(`${name} ${metric}`), formatCount(one.count), ...figures]];
    }),
  );
  return tableOf(['times', 'count', 'p50', 'p99', 'p99.9', 'max'], rows);
}

function foot({ run }: Report): string {
  return `<sub>Squall ${inline(run.version)} · run ${code(run.id)} · ${run.startedAt}</sub>`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function tableOf(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const shown = rows.slice(0, MAX_ROWS);
  const more = rows.length > shown.length ? `\n\n… and ${rows.length - shown.length} more` : '';
  return `${[line(columns), line(columns.map(() => '---')), ...shown.map(line)].join('\n')}${more}`;
}

function sign(state: string): string {
  return SIGNS[state] ?? '❔';
}

/** Text of others in a line: no markup of theirs, no mention of anybody, no line break. */
function inline(text: string): string {
  return withoutMarks(text)
    .replaceAll(/[\\`*_[\]#|~$]/g, (character) => `\\${character}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('@', '@\u200B');
}

/** A cell ends at a bar even within code, and code at a backtick. */
function code(text: string): string {
  return `\`${withoutMarks(text).replaceAll('`', "'").replaceAll('|', String.raw`\|`)}\``;
}

/** No marks of direction, no control characters. */
function withoutMarks(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ');
}
