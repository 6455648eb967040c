import type { Progress } from '@squall/controller';
import type { MetricName } from '@squall/core/metrics';
import { formatCount, formatDuration, formatRate } from '@squall/core/units';
import type { Style } from './style.ts';

/** What a run is doing, as text: one line for logs, a block for a terminal. Computes no figures. */
const RATES: readonly MetricName[] = ['sent', 'acked', 'received'];
/** Each of these is trouble as soon as it is not 0. */
const TROUBLE: readonly MetricName[] = [
  'connect_failed',
  'connect_missed',
  'disconnected',
  'takeover_failed',
  'dropped',
  'publish_failed',
  'request_failed',
  'answer_failed',
  'subscribe_failed',
  'unsubscribe_failed',
];
const BAR_WIDTH = 24;
const LABEL_WIDTH = 9;
const RATE_WIDTH = 20;

/** `publish  0:05/0:20  clients 320/320  sent 300/s  acked 300/s  latency p99 3.2ms  no failures` */
export function progressLine(progress: Progress): string {
  const parts = [
    stageText(progress),
    clockText(progress),
    `clients ${formatCount(progress.connections)}/${formatCount(progress.clients)}`,
    ...RATES.filter((metric) => progress.totals[metric] !== undefined).map(
      (metric) => `${metric} ${rateText(metric, progress)}`,
    ),
  ];
  // At `rate: max` no message has a due time to count from.
  const latency = progress.times.publish_time ?? progress.times.service_time;
  if (latency !== undefined) parts.push(`latency p99 ${formatDuration(latency.p99Us)}`);
  parts.push(troubleText(progress));
  return parts.join('  ');
}

/** The lines of the live view, for a terminal. */
export function progressBlock(progress: Progress, style: Style): string[] {
  const label = (text: string) => style.dim(text.padEnd(LABEL_WIDTH));
  const lines = [
    `${label('stage')}${style.bold(stageText(progress))}  ${bar(progress)}${clockText(progress)}`,
    `${label('clients')}${formatCount(progress.connections)} of ${formatCount(progress.clients)} connected`,
  ];
  for (const metric of RATES) {
    const total = progress.totals[metric];
    if (total === undefined) continue;
    const rate = rateText(metric, progress);
    lines.push(
      `${label(metric)}${rate.padEnd(RATE_WIDTH)}${style.dim(`total ${formatCount(total)}`)}`,
    );
  }
  for (const [name, time] of [
    ['latency', progress.times.publish_time ?? progress.times.service_time],
    ['delivery', progress.times.delivery_time],
  ] as const) {
    if (time === undefined) continue;
    lines.push(
      `${label(name)}p50 ${formatDuration(time.p50Us)} · p99 ${formatDuration(time.p99Us)}`,
    );
  }
  const trouble = troubleText(progress);
  const calm = trouble === NO_TROUBLE;
  lines.push(`${label('trouble')}${calm ? style.green(trouble) : style.red(trouble)}`);
  lines.push(`${label('agents')}${agentsText(progress)}`);
  return lines;
}

/** What is sent, and beside it what the stage is to send at this moment. */
function rateText(metric: MetricName, { rates, targetPerS }: Progress): string {
  const rate = `${formatCount(rates[metric] ?? 0)}/s`;
  if (metric !== 'sent' || targetPerS === null) return rate;
  return `${rate} of ${formatRate(targetPerS < 1 ? targetPerS : Math.round(targetPerS))}`;
}

const NO_TROUBLE = 'no failures';

function troubleText(progress: Progress): string {
  const seen = TROUBLE.filter((metric) => (progress.totals[metric] ?? 0) > 0);
  if (seen.length === 0) return NO_TROUBLE;
  return seen.map((metric) => `${metric} ${formatCount(progress.totals[metric] ?? 0)}`).join(' ');
}

function stageText({ stage, phase }: Progress): string {
  if (phase === 'settle') return 'settling';
  if (phase === 'cleanup') return 'cleaning up';
  const name = stage?.name ?? '–';
  return phase === 'prologue' ? `${name} (connecting)` : name;
}

/** Minutes and seconds of the stage, and its length where that is known. */
function clockText({ stageElapsedUs, stageLengthUs }: Progress): string {
  const elapsed = clock(Math.max(0, stageElapsedUs));
  return stageLengthUs === null ? elapsed : `${elapsed}/${clock(stageLengthUs)}`;
}

function clock(us: number): string {
  const seconds = Math.floor(us / 1_000_000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => pad(part));
  const hours = Math.floor(seconds / 3_600);
  return hours === 0 ? parts.join(':') : `${hours}:${parts.join(':')}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

function bar({ stageElapsedUs, stageLengthUs }: Progress): string {
  if (stageLengthUs === null || stageLengthUs <= 0) return '';
  const share = Math.min(1, Math.max(0, stageElapsedUs / stageLengthUs));
  const full = Math.round(share * BAR_WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}  `;
}

/** How many are in each state; names only where one is not as it should be. */
function agentsText({ agents }: Progress): string {
  const good = agents.filter(({ state }) => state === 'active' || state === 'done');
  const odd = agents.filter((agent) => !good.includes(agent));
  const names = odd.map(({ id, state }) => `${id} ${state}`);
  return [`${good.length} of ${agents.length} at work`, ...names].join(' · ');
}
