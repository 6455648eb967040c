import { isMetricName, METRICS, metricInfo } from '../metrics/index.ts';
import { SquallError } from '../errors/index.ts';
import { nearest } from '../text/nearest.ts';
import { parseCount, parseSize } from '../units/index.ts';
import type { Condition, Group } from './plan.ts';
import type { Fault } from './schema/leaves.ts';

const SHAPE =
  /^\s*(run\.)?([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)?)\.(\w+)\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*$/;
const EXAMPLE = 'write for example devices.sent >= 100k or run.devices.bytes_sent >= 100GB';

const OPERATORS: readonly Condition['op'][] = ['<', '<=', '>', '>=', '==', '!='];

/** Counters whose subject is the group, never a stream. */
const GROUP_METRICS: ReadonlySet<string> = new Set([
  'connect_attempts',
  'connected',
  'connect_failed',
  'disconnected',
  'session_present',
  'disconnects',
  'connect_missed',
  'takeovers',
  'taken_over',
  'takeover_failed',
  'wire_sent',
  'wire_received',
]);

/** Reads `until:`; a name of a group stands for all of its streams. */
export function parseCondition(text: string, groups: readonly Group[]): Condition | Fault {
  const match = SHAPE.exec(text);
  if (match === null) return { message: `"${text}" is not a condition`, hint: EXAMPLE };
  const [, run, subject = '', metric = '', op = '', literal = ''] = match;
  const column = text.indexOf(subject, run === undefined ? 0 : text.indexOf(run) + 4) + 1;
  const fault =
    subjectFault(subject, metric, groups) ?? metricFault(metric, column + subject.length + 1);
  if (fault !== null) return { column, ...fault };
  const value = parseLiteral(metric, literal);
  if (typeof value !== 'number') return { ...value, column: text.lastIndexOf(literal) + 1 };
  return {
    text: text.trim(),
    subject,
    metric,
    op: OPERATORS.find((known) => known === op) ?? '==',
    value,
    fromRun: run !== undefined,
  };
}

/** The condition with another value, for `--scale`. */
export function withValue(condition: Condition, value: number): Condition {
  const unit = isBytes(condition.metric) ? 'B' : '';
  return {
    ...condition,
    value,
    text: condition.text.replace(/\S+$/, `${value}${unit}`),
  };
}

export function isBytes(metric: string): boolean {
  return isMetricName(metric) && metricInfo(metric).unit === 'bytes';
}

function subjectFault(subject: string, metric: string, groups: readonly Group[]): Fault | null {
  const names = groups.map((group) => group.name);
  const entries = groups.flatMap((group) => [...group.publish, ...group.subscribe]);
  const subjects = [...new Set([...names, ...entries.map((entry) => entry.subject)])];
  if (!subjects.includes(subject)) {
    const near = nearest(subject, subjects);
    return {
      message: `there is no group or stream "${subject}"`,
      hint: near === null ? `the plan has ${subjects.join(', ')}` : `did you mean ${near}?`,
    };
  }
  if (!GROUP_METRICS.has(metric) || names.includes(subject)) return null;
  const group = subject.split('.')[0] ?? '';
  return {
    message: `${metric} is counted for a group, not for a stream`,
    hint: `write ${group}.${metric}`,
  };
}

function metricFault(metric: string, column: number): Fault | null {
  const counters = Object.entries(METRICS)
    .filter(([, info]) => info.kind === 'counter' && !('late' in info))
    .map(([name]) => name);
  if (counters.includes(metric)) return null;
  if (isMetricName(metric)) {
    const why = metricInfo(metric).late ? 'is known only after the load' : 'is not a counter';
    return { message: `${metric} ${why}, so it cannot end a stage`, column };
  }
  const near = nearest(metric, counters);
  const hint = near === null ? `the counters are ${counters.join(', ')}` : `did you mean ${near}?`;
  return { message: `there is no metric "${metric}"`, hint, column };
}

function parseLiteral(metric: string, literal: string): number | Fault {
  try {
    return isBytes(metric) ? parseSize(literal) : parseCount(literal);
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    return { message: error.message, hint: error.hint, code: error.code };
  }
}
