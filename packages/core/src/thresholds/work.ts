import { isMetricName, type MetricName } from '../metrics/index.ts';
import type { Activity, Group, PublishStream, Stage } from '../plan/plan.ts';
import { type StageNeeds, stageNeeds } from '../schedule/index.ts';
import { type Doings, familyOf } from './relevance.ts';
import { metricFilter, type SeriesFilter } from './series-filter.ts';
import type { ParsedThreshold } from './threshold.ts';
import { mayMatch } from './topic-overlap.ts';
import { streamTopics } from '../schedule/index.ts';

/** What moves a metric: `done` tells whether the plan does it by the end of a stage. */
export interface Work {
  /** As in "nobody … ". */
  readonly what: string;
  readonly done: (stage: Stage) => boolean;
}

/** Metrics of messages that are acknowledged, and of those that have a due time. */
const ACKNOWLEDGED: ReadonlySet<MetricName> = new Set([
  'acked',
  'retransmitted',
  'service_time',
  'publish_time',
]);
const PACED: ReadonlySet<MetricName> = new Set(['lateness', 'wait_time', 'publish_time']);

/**
 * The work without which a metric stays at 0, or unmeasured, whatever the broker does; null where any
 * stage may move it. Narrower than what a threshold takes for relevant: connections that are lost are
 * made again, and messages arrive, in stages that do nothing of the kind by the plan.
 *
 * @param metric of the threshold, or of what its `share` is a share of.
 */
export function workFor(metric: MetricName, parsed: ParsedThreshold, plan: Doings): Work | null {
  const needs = stageNeeds(plan);
  const family = familyOf(metric);
  // The QoS of what arrives is the lower one of what was published and granted.
  const tags = family === 'receive' ? parsed.tags.filter(({ key }) => key !== 'qos') : parsed.tags;
  const filter = metricFilter(metric, { ...parsed, tags }, plan);
  switch (family) {
    case null:
      return null;
    case 'publish':
      return publishing(metric, plan, filter);
    case 'connect':
      return {
        what: 'connects',
        done: byThen(plan, ({ index }) =>
          [...(needs[index]?.connects ?? []), ...(needs[index]?.reconnects ?? [])].some((group) =>
            filter.meansSubject(plan.groups[group]?.name ?? ''),
          ),
        ),
      };
    case 'reconnect':
      // Connections that a broker drops are made again in any stage.
      return metric === 'recovery_time' ? null : reconnecting(metric, plan, filter);
    case 'unsubscribe':
      return {
        what: 'unsubscribes',
        done: doesSuch(plan, (activity, group) => {
          if (activity.kind !== 'unsubscribe') return false;
          return filter.meansSubject(group.subscribe[activity.entry]?.subject ?? '');
        }),
      };
    case 'request':
      return {
        what: 'sends requests',
        done: publishesSuch(
          plan,
          (stream) => stream.request !== null && filter.meansSubject(stream.subject),
        ),
      };
    case 'subscribe':
    case 'receive':
      return metric === 'delivery_time'
        ? delivering(plan, filter)
        : { what: 'subscribes', done: byThen(plan, subscribes({ plan, filter, needs })) };
  }
}

function byThen(plan: Doings, does: (stage: Stage) => boolean): (stage: Stage) => boolean {
  const first = plan.stages.find(does)?.index ?? Number.POSITIVE_INFINITY;
  return ({ index }) => index >= first;
}

function publishing(metric: MetricName, plan: Doings, filter: SeriesFilter): Work {
  const acknowledged = ACKNOWLEDGED.has(metric);
  const paced = PACED.has(metric);
  const how = `${acknowledged ? ' at QoS 1' : ''}${paced ? ' by a pace' : ''}`;
  return {
    what: `publishes${how}`,
    done: publishesSuch(plan, (stream, { pace }) => {
      if (!filter.meansSubject(stream.subject)) return false;
      return (!acknowledged || stream.qos > 0) && (!paced || pace.kind !== 'max');
    }),
  };
}

/** Deliveries are timed by the stamp of messages of this very run. */
function delivering(plan: Doings, filter: SeriesFilter): Work {
  const topics = plan.groups
    .flatMap((group) => group.subscribe)
    .filter(({ subject }) => filter.meansSubject(subject))
    .flatMap((entry) => entry.topics);
  return {
    what: 'publishes with a stamp to what is subscribed',
    done: publishesSuch(
      plan,
      (stream) =>
        stream.verify &&
        streamTopics(stream).some((topic) => topics.some((one) => mayMatch(topic, one))),
    ),
  };
}

/** Takeovers, or the turns of churn. */
function reconnecting(metric: MetricName, plan: Doings, filter: SeriesFilter): Work {
  const kind = metric === 'connect_missed' ? 'churn' : 'takeover';
  return {
    what: kind === 'churn' ? 'churns' : 'is taken over',
    done: doesSuch(
      plan,
      (activity, { name }) => activity.kind === kind && filter.meansSubject(name),
    ),
  };
}

type PublishActivity = Extract<Activity, { kind: 'publish' }>;

function publishesSuch(
  plan: Doings,
  isSuch: (stream: PublishStream, activity: PublishActivity) => boolean,
): (stage: Stage) => boolean {
  return doesSuch(plan, (activity, group) => {
    if (activity.kind !== 'publish') return false;
    const stream = group.publish[activity.stream];
    return stream !== undefined && isSuch(stream, activity);
  });
}

function doesSuch(
  plan: Doings,
  isSuch: (activity: Activity, group: Group) => boolean,
): (stage: Stage) => boolean {
  return ({ run }) =>
    run.some((work) => {
      const group = plan.groups[work.group];
      return group !== undefined && work.activities.some((activity) => isSuch(activity, group));
    });
}

function subscribes(scene: {
  readonly plan: Doings;
  readonly filter: SeriesFilter;
  readonly needs: readonly StageNeeds[];
}): (stage: Stage) => boolean {
  const { plan, filter, needs } = scene;
  return ({ index }) =>
    [...(needs[index]?.subscribes ?? [])].some(([group, entries]) =>
      [...entries].some((entry) =>
        filter.meansSubject(plan.groups[group]?.subscribe[entry]?.subject ?? ''),
      ),
    );
}

/** The metric itself, or what its `share` is a share of. */
export function askedMetric(metric: MetricName, base: string | undefined): MetricName {
  return base !== undefined && isMetricName(base) ? base : metric;
}
