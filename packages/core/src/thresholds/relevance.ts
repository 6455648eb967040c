import type { MetricName } from '../metrics/index.ts';
import type { Plan, PublishStream, Stage } from '../plan/plan.ts';
import { type StageNeeds, stageNeeds } from '../schedule/index.ts';
import type { SeriesFilter } from './series-filter.ts';
import { matchesTag } from './tag.ts';
import type { ParsedThreshold } from './threshold.ts';

/** What a threshold means by a stage. */
export interface StageScope {
  readonly index: number;
  readonly name: string;
  /** The threshold names it: what is missing there is missing. */
  readonly named: boolean;
  /**
   * By its plan the stage does what the metric counts. In a stage that does not, nothing is missing
   * when nothing was counted, but what was counted is judged all the same.
   */
  readonly relevant: boolean;
}

/** Metrics by the work that moves them. All others move in every stage. */
const FAMILIES: Readonly<Partial<Record<MetricName, Family>>> = {
  connect_attempts: 'connect',
  connected: 'connect',
  connect_time: 'connect',
  recovery_time: 'reconnect',
  connect_missed: 'reconnect',
  takeovers: 'reconnect',
  taken_over: 'reconnect',
  takeover_failed: 'reconnect',
  unsubscribed: 'unsubscribe',
  unsubscribe_failed: 'unsubscribe',
  unsubscribe_time: 'unsubscribe',
  responses: 'request',
  request_failed: 'request',
  late_responses: 'request',
  stray_responses: 'request',
  response_time: 'request',
  subscribed: 'subscribe',
  subscribe_failed: 'subscribe',
  subscribe_time: 'subscribe',
  received: 'receive',
  arrived: 'receive',
  bytes_received: 'receive',
  delivery_time: 'receive',
  born_time: 'receive',
  stored_time: 'receive',
  consume_failed: 'receive',
  offset_faults: 'receive',
  lag: 'receive',
  unread: 'receive',
  drain_time: 'receive',
  expected: 'receive',
  lost: 'receive',
  duplicated: 'receive',
  reordered: 'receive',
  corrupted: 'receive',
  planned: 'publish',
  scheduled: 'publish',
  sent: 'publish',
  acked: 'publish',
  published: 'publish',
  retransmitted: 'publish',
  dropped: 'publish',
  publish_failed: 'publish',
  unfinished: 'publish',
  bytes_sent: 'publish',
  inflight: 'publish',
  backlog: 'publish',
  lateness: 'publish',
  wait_time: 'publish',
  service_time: 'publish',
  publish_time: 'publish',
};

export type Family =
  | 'connect'
  | 'reconnect'
  | 'subscribe'
  | 'unsubscribe'
  | 'receive'
  | 'publish'
  | 'request';

export function familyOf(metric: MetricName): Family | null {
  return FAMILIES[metric] ?? null;
}

/** The part of a plan that says what is done when. */
export type Doings = Pick<Plan, 'groups' | 'stages'>;

/** The stages that a threshold is judged in, in their order. */
export function stageScopes(
  parsed: ParsedThreshold,
  { plan, metric, filter }: { plan: Doings; metric: MetricName; filter: SeriesFilter },
): StageScope[] {
  const needs = stageNeeds(plan);
  const family = familyOf(metric);
  return plan.stages
    .filter((stage) => isJudged(parsed, stage))
    .map((stage) => ({
      index: stage.index,
      name: stage.name,
      named: isNamed(parsed, stage),
      relevant: isRelevant(stage, { plan, family, filter, needs }),
    }));
}

function isNamed(parsed: ParsedThreshold, stage: Stage): boolean {
  return (
    parsed.stages.includes(stage.name) ||
    parsed.tags.some((tag) => tag.key === 'stage' && tag.op === '=' && tag.value === stage.name)
  );
}

/** Warm-up is left out unless it is named. */
function isJudged(parsed: ParsedThreshold, stage: Stage): boolean {
  if (parsed.stages.length > 0 && !parsed.stages.includes(stage.name)) return false;
  if (stage.warmup && !isNamed(parsed, stage)) return false;
  return parsed.tags.every((tag) => tag.key !== 'stage' || matchesTag(tag, stage.name));
}

interface Question {
  readonly plan: Doings;
  readonly family: Family | null;
  readonly filter: SeriesFilter;
  readonly needs: readonly StageNeeds[];
}

function isRelevant(stage: Stage, question: Question): boolean {
  const { plan, family, filter } = question;
  switch (family) {
    case null:
      return true;
    case 'publish':
      return publishes(stage, { plan, filter });
    case 'request':
      return publishes(stage, { plan, filter, only: isRequest });
    case 'connect':
      return connectsIn(stage.index, question) || reconnectsIn(stage.index, question);
    case 'reconnect':
      return reconnectsIn(stage.index, question);
    case 'unsubscribe':
      return unsubscribes(stage, question);
    case 'subscribe':
      return subscribesIn(stage.index, question);
    case 'receive':
      return receives(stage, question);
  }
}

interface Publishing {
  readonly plan: Doings;
  readonly filter?: SeriesFilter;
  /** Which streams count; all where it is left out. */
  readonly only?: (stream: PublishStream) => boolean;
}

function publishes(stage: Stage, { plan, filter, only }: Publishing): boolean {
  return stage.run.some((work) =>
    work.activities.some((activity) => {
      if (activity.kind !== 'publish') return false;
      const stream = plan.groups[work.group]?.publish[activity.stream];
      if (stream === undefined || only?.(stream) === false) return false;
      return filter === undefined || filter.meansSubject(stream.subject);
    }),
  );
}

function isRequest({ request }: PublishStream): boolean {
  return request !== null;
}

function unsubscribes({ run }: Stage, { plan, filter }: Question): boolean {
  return run.some((work) =>
    work.activities.some((activity) => {
      if (activity.kind !== 'unsubscribe') return false;
      const entry = plan.groups[work.group]?.subscribe[activity.entry];
      return entry !== undefined && filter.meansSubject(entry.subject);
    }),
  );
}

function connectsIn(index: number, { plan, filter, needs }: Question): boolean {
  return meansGroup(needs[index]?.connects, { plan, filter });
}

/** By the plan, clients go and come back in the stage, or are taken over. */
function reconnectsIn(index: number, { plan, filter, needs }: Question): boolean {
  return meansGroup(needs[index]?.reconnects, { plan, filter });
}

function meansGroup(
  groups: ReadonlySet<number> | undefined,
  { plan, filter }: Pick<Question, 'plan' | 'filter'>,
): boolean {
  return [...(groups ?? [])].some((group) => filter.meansSubject(plan.groups[group]?.name ?? ''));
}

function subscribesIn(index: number, { plan, filter, needs }: Question): boolean {
  return [...(needs[index]?.subscribes ?? [])].some(([group, entries]) =>
    [...entries].some((entry) =>
      filter.meansSubject(plan.groups[group]?.subscribe[entry]?.subject ?? ''),
    ),
  );
}

/** Something that is meant is subscribed by then, and something is published (if the plan does). */
function receives(stage: Stage, question: Question): boolean {
  const { plan } = question;
  const subscribed = plan.stages.some(
    (earlier) => earlier.index <= stage.index && subscribesIn(earlier.index, question),
  );
  if (!subscribed) return false;
  const anyone = plan.stages.some((other) => publishes(other, { plan }));
  return !anyone || publishes(stage, { plan });
}
