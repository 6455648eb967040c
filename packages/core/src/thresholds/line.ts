import {
  isMetricName,
  type MetricInfo,
  metricInfo,
  type MetricName,
  NOT_SENT,
  type SeriesDelta,
} from '../metrics/index.ts';
import type { Plan, ThresholdSpec } from '../plan/plan.ts';
import { SquallError } from '../errors/index.ts';
import { parseThreshold } from './parse.ts';
import { type Family, familyOf, type StageScope, stageScopes } from './relevance.ts';
import { baseFilter, metricFilter, type SeriesFilter } from './series-filter.ts';
import type { ParsedThreshold } from './threshold.ts';
import { mayMatch } from './topic-overlap.ts';
import { streamTopics } from '../schedule/index.ts';

/** A threshold with all that its plan says about it; nothing here changes while it is judged. */
export interface Line {
  readonly spec: ThresholdSpec;
  readonly parsed: ParsedThreshold;
  readonly metric: MetricName;
  readonly info: MetricInfo;
  readonly family: Family | null;
  readonly filter: SeriesFilter;
  /** Of a share, else null. */
  readonly base: SeriesFilter | null;
  readonly waits: readonly Wait[];
  /** True: whatever is timed ends all waiting (deliveries are not paired with messages). */
  readonly endsAllWaits: boolean;
  /** The stages that it is judged in, by index. */
  readonly scopes: ReadonlyMap<number, StageScope>;
  /** True: counted over all its stages together (`count` without `over` and without stages). */
  readonly total: boolean;
}

/** A counter that tells when something begins (1) or ends (-1) to wait for what is timed. */
interface Wait {
  readonly sign: 1 | -1;
  matches(series: SeriesDelta): boolean;
}

const WAITS: Readonly<Partial<Record<MetricName, readonly (readonly [1 | -1, MetricName])[]>>> = {
  connect_time: [
    [1, 'connect_attempts'],
    [-1, 'connected'],
    [-1, 'connect_failed'],
  ],
  publish_time: [
    [1, 'scheduled'],
    [-1, 'published'],
    [-1, 'publish_failed'],
    [-1, 'dropped'],
    [-1, 'unfinished'],
  ],
  service_time: [
    [1, 'sent'],
    [-1, 'published'],
    [-1, 'publish_failed'],
  ],
};

/** @throws SquallError SQ_THRESHOLD for a line that the check of the plan would have refused. */
export function lineOf(spec: ThresholdSpec, plan: Plan): Line {
  const parsed = parseThreshold(spec.text);
  const { metric } = parsed;
  if (!isMetricName(metric)) {
    throw new SquallError('SQ_THRESHOLD', `there is no metric "${metric}"`);
  }
  const info = metricInfo(metric);
  const filter = metricFilter(metric, parsed, plan);
  const shared = parsed.terms.some((term) => term.aggregate === 'share') ? info.base : undefined;
  const base = shared !== undefined && isMetricName(shared) ? shared : null;
  // A share can only be asked where there is something to be a share of.
  const asked = base ?? metric;
  const scopes = stageScopes(parsed, { plan, metric: asked, filter });
  return {
    spec,
    parsed,
    metric,
    info,
    family: familyOf(asked),
    filter,
    base: base === null ? null : baseFilter(base, parsed, plan),
    waits: metric === 'delivery_time' ? deliveryWaits(filter, plan) : waitsOf(metric, parsed, plan),
    endsAllWaits: metric === 'delivery_time',
    scopes: new Map(scopes.map((scope) => [scope.index, scope])),
    total: isTotal(parsed),
  };
}

/** +1 for each thing that began to wait, -1 for each that ended it. */
export function waitDelta(line: Line, series: SeriesDelta): number {
  const wait = line.waits.find((one) => one.matches(series));
  return wait === undefined ? 0 : wait.sign * (series.value ?? 0);
}

function waitsOf(metric: MetricName, parsed: ParsedThreshold, plan: Plan): Wait[] {
  return (WAITS[metric] ?? []).map(([sign, counter]) => {
    const filter = baseFilter(counter, parsed, plan);
    // Failures that happened before a message was sent do not end the wait for its answer.
    const afterSending = metric === 'service_time' && counter === 'publish_failed';
    return {
      sign,
      matches: (series) =>
        filter.matches(series) && !(afterSending && series.reason?.startsWith(NOT_SENT) === true),
    };
  });
}

/** Whoever sends to a topic that is subscribed is waited for. */
function deliveryWaits(filter: SeriesFilter, plan: Plan): Wait[] {
  const filters = plan.groups
    .flatMap((group) => group.subscribe)
    .filter((entry) => filter.meansSubject(entry.subject))
    .flatMap((entry) => entry.topics);
  const senders = new Set(
    plan.groups
      .flatMap((group) => group.publish)
      .filter((stream) =>
        streamTopics(stream).some((topic) => filters.some((one) => mayMatch(topic, one))),
      )
      .map((stream) => stream.subject),
  );
  return [{ sign: 1, matches: ({ metric, subject }) => metric === 'sent' && senders.has(subject) }];
}

function isTotal(parsed: ParsedThreshold): boolean {
  return (
    parsed.overUs === null &&
    parsed.stages.length === 0 &&
    parsed.terms.every((term) => term.aggregate === 'count') &&
    parsed.tags.every((tag) => tag.key !== 'stage')
  );
}
