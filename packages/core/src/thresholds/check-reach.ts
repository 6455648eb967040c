import type { SquallError } from '../errors/index.ts';
import { isMetricName, metricInfo, type MetricInfo, type MetricName } from '../metrics/index.ts';
import type { Stage } from '../plan/plan.ts';
import { stageNeeds } from '../schedule/index.ts';
import { formatDuration } from '../units/index.ts';
import { reasonDoubts } from './check-reasons.ts';
import { foregone } from './check-values.ts';
import { thresholdError } from './cursor.ts';
import { findingOf } from './finding.ts';
import type { ReadThreshold } from './long-form.ts';
import { type Doings, familyOf, stageScopes } from './relevance.ts';
import { metricFilter } from './series-filter.ts';
import { lastsAsWindow } from './window-track.ts';
import { askedMetric, workFor } from './work.ts';

/** What a threshold cannot do in its plan, though nothing in it is wrong by itself. */
export interface Reach {
  /** It can never hold: the run would fail whatever happens. */
  readonly errors: readonly SquallError[];
  /** It can never fail, or is left out by its own words. */
  readonly warnings: readonly SquallError[];
}

interface Question extends ReadThreshold {
  readonly metric: MetricName;
  readonly info: MetricInfo;
  readonly plan: Doings;
  /** Stages that it is judged in. */
  readonly stages: readonly Stage[];
}

/**
 * Whether a threshold that `checkThreshold` has found right can be broken and can hold in its plan. A
 * line that passes for ever is worse than none, and one that never holds makes a long run for nothing.
 */
export function checkReach(read: ReadThreshold, plan: Doings): Reach {
  const { parsed } = read;
  const { metric } = parsed;
  if (!isMetricName(metric)) return { errors: [], warnings: [] };
  const info = metricInfo(metric);
  const filter = metricFilter(metric, parsed, plan);
  const judged = new Set(stageScopes(parsed, { plan, metric, filter }).map(({ index }) => index));
  const stages = plan.stages.filter(({ index }) => judged.has(index));
  const question = { ...read, metric, info, plan, stages };
  const found = foregoneReach(question) ?? idleReach(question) ?? windowReach(question);
  const doubts = reasonDoubts(parsed, metric);
  return { errors: found?.errors ?? [], warnings: [...(found?.warnings ?? []), ...doubts] };
}

function never(error: SquallError): Reach {
  return { errors: [error], warnings: [] };
}

function doubt(warning: SquallError): Reach {
  return { errors: [], warnings: [warning] };
}

function foregoneReach({ parsed, info, metric }: Question): Reach | null {
  const column = parsed.terms[0]?.column ?? 1;
  const asked = parsed.terms
    .map(({ aggregate, percentile, op, literal }) => {
      const name = percentile === null ? aggregate : `p(${percentile})`;
      return `${name} ${op} ${literal.text}`;
    })
    .join(' and ');
  switch (foregone(parsed.terms, info)) {
    case 'never':
      return never(thresholdError(`${metric} can never have ${asked}`, column));
    case 'always':
      return doubt(
        thresholdError(
          `this can never fail: ${metric} always has ${asked}`,
          column,
          'compare with a value that it may pass',
        ),
      );
    case null:
      return null;
  }
}

/** Nothing in the stages in question moves what is measured. */
function idleReach(question: Question): Reach | null {
  const { parsed, plan, stages, metric, info } = question;
  const column = parsed.columns.metric;
  if (stages.length === 0) {
    const message = 'no stage is judged: all that it speaks of are warm-up stages';
    return noData(question, thresholdError(message, column, 'name a stage with in'));
  }
  const isShare = parsed.terms.some(({ aggregate }) => aggregate === 'share');
  const work = workFor(askedMetric(metric, isShare ? info.base : undefined), parsed, plan);
  if (info.late === true || work === null || stages.some(work.done)) return null;
  const names = stages.map(({ name }) => name);
  const where = names.length > 5 ? 'all the stages that it speaks of' : names.join(', ');
  const why = `nobody that it speaks of ${work.what} in ${where}`;
  if (info.kind !== 'counter' || isShare) {
    return noData(question, thresholdError(`there is no ${metric} to judge: ${why}`, column));
  }
  // Where a stage is named, or all are counted together, what stayed 0 is judged as 0.
  const counts = parsed.terms.every(({ aggregate }) => aggregate === 'count');
  const named = parsed.stages.length > 0 || parsed.tags.some(isStageName);
  if (!named && (parsed.overUs !== null || !counts)) {
    return noData(question, thresholdError(`there is no ${metric} to judge: ${why}`, column));
  }
  const zeros = parsed.terms.map(() => 0);
  return findingOf(parsed.terms, zeros).holds
    ? doubt(thresholdError(`this can never fail: ${why}, so ${metric} stays 0`, column))
    : never(thresholdError(`this can never hold: ${why}, so ${metric} stays 0`, column));
}

function isStageName({ key, op }: { readonly key: string; readonly op: string }): boolean {
  return key === 'stage' && op === '=';
}

/** No data fails by default, so that without another word the line can never hold. */
function noData({ spec, parsed }: Question, error: SquallError): Reach {
  const mild = spec.noData !== 'fail' || parsed.onBreach === 'warn';
  return mild ? doubt(error) : never(error);
}

function windowReach(question: Question): Reach | null {
  const { parsed } = question;
  const { overUs, forWindows, columns, afterUs } = parsed;
  if (overUs === null) return null;
  const most = mostWindows(question, overUs);
  if (most === null) return null;
  if (most === 0) {
    const message = `no window begins ${formatDuration(afterUs)} after the start of a stage that it speaks of: all are shorter`;
    const hint = 'choose a shorter "after"';
    return noData(question, thresholdError(message, columns.after ?? 1, hint));
  }
  if (forWindows <= most) return null;
  const has = most === 1 ? 'one window' : `${most} windows`;
  return doubt(
    thresholdError(
      `this can never fail: ${forWindows} windows in a row must fail, and no stage that it speaks of has more than ${has} of ${formatDuration(overUs)}`,
      columns.over ?? 1,
      'choose shorter windows or a smaller "for"',
    ),
  );
}

/** Windows of the stage that has most of them; null where the plan does not tell. */
function mostWindows({ parsed, metric, plan, stages }: Question, overUs: number): number | null {
  const needs = stageNeeds(plan);
  const family = familyOf(metric);
  const isLoad = family === 'publish' || family === 'receive';
  let most = 0;
  for (const { index, forUs } of stages) {
    if (forUs === null) return null;
    // What connects before the stage's clock is judged in windows of its own.
    const early = !isLoad && parsed.afterUs === 0 && needs[index]?.prologue === true;
    if (early) return null;
    const first = Math.ceil(parsed.afterUs / overUs);
    const whole = Math.floor(forUs / overUs);
    const rest = whole === 0 || lastsAsWindow(forUs - whole * overUs) ? 1 : 0;
    most = Math.max(most, whole + rest - first);
  }
  return most;
}
