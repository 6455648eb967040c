import type { SquallError } from '../errors/index.ts';
import {
  isMetricName,
  METRICS,
  type MetricInfo,
  metricInfo,
  type MetricKind,
} from '../metrics/index.ts';
import type { Plan } from '../plan/plan.ts';
import { thresholdError } from './cursor.ts';
import { nearest } from '../text/nearest.ts';
import { matchesTag } from './tag.ts';
import type {
  AggregateKind,
  Literal,
  LiteralKind,
  ParsedThreshold,
  TagFilter,
  Term,
} from './threshold.ts';

/** The part of a plan that thresholds speak of. */
export type ThresholdContext = Pick<Plan, 'groups' | 'stages'>;

const FITTING: Readonly<Record<MetricKind, readonly AggregateKind[]>> = {
  counter: ['count', 'rate', 'share'],
  gauge: ['p', 'avg', 'min', 'max', 'med', 'value', 'delta'],
  time: ['p', 'avg', 'min', 'max', 'med'],
};

const TAG_KEYS = ['group', 'stream', 'stage', 'qos', 'reason'];
/** Slices are cut at each second of a stage's clock, so a window cannot be finer. */
const SLICE_US = 1_000_000;

const EXAMPLES: Readonly<Record<LiteralKind, string>> = {
  count: 'a count such as 0, 100k or 2M',
  duration: 'a time with its unit, such as 500ms or 2s',
  size: 'a size such as 200B or 100GB',
  rate: 'a rate such as 28k/s or 12/m',
  byte_rate: 'a size over a time, such as 10MB/s',
  share: 'a share such as 0.1%',
};

/**
 * Everything that is wrong with a threshold in this plan: names that do not exist, an aggregate that
 * does not fit the metric's kind, a unit that does not fit the value, a question that the plan can
 * never answer. Empty: it can be judged.
 */
export function checkThreshold(parsed: ParsedThreshold, plan: ThresholdContext): SquallError[] {
  if (!isMetricName(parsed.metric)) return [unknownMetric(parsed)];
  const info = metricInfo(parsed.metric);
  return [
    ...parsed.terms.flatMap((term) => checkTerm(term, info, parsed.metric)),
    ...parsed.tags.flatMap((tag) => checkTag(tag, { parsed, info, plan })),
    ...checkStages(parsed, plan),
    ...checkWindows(parsed, info),
    ...checkPublishTime(parsed, plan),
  ];
}

function unknownMetric({ metric, columns }: ParsedThreshold): SquallError {
  const near = nearest(metric, Object.keys(METRICS));
  const hint = near === null ? 'the metrics are listed in docs/reference' : `did you mean ${near}?`;
  return thresholdError(`there is no metric "${metric}"`, columns.metric, hint);
}

function checkTerm(term: Term, info: MetricInfo, metric: string): SquallError[] {
  const { aggregate, literal } = term;
  if (!FITTING[info.kind].includes(aggregate)) {
    const fitting = FITTING[info.kind].map((name) => (name === 'p' ? 'p(99)' : name)).join(', ');
    const message = `${aggregate} does not fit ${metric}, which is a ${info.kind}`;
    return [thresholdError(message, term.column, `a ${info.kind} has ${fitting}`)];
  }
  if (aggregate === 'share' && info.base === undefined) {
    const shares = Object.entries<MetricInfo>(METRICS)
      .filter(([, other]) => other.base !== undefined)
      .map(([name]) => name);
    const hint = `share is for ${shares.join(', ')}`;
    return [thresholdError(`${metric} is not a share of anything`, term.column, hint)];
  }
  return checkLiteral(literal, wantedLiteral(aggregate, info));
}

/** The kind of value that an aggregate of a metric has. */
function wantedLiteral(aggregate: AggregateKind, info: MetricInfo): LiteralKind {
  if (aggregate === 'share') return 'share';
  if (aggregate === 'rate') return info.unit === 'bytes' ? 'byte_rate' : 'rate';
  if (info.unit === 'us') return 'duration';
  return info.unit === 'bytes' ? 'size' : 'count';
}

function checkLiteral(literal: Literal, wanted: LiteralKind): SquallError[] {
  if (literal.kind !== wanted) {
    const bare = literal.kind === 'count' ? `${literal.text} has no unit that fits` : literal.text;
    const message = `${bare}: ${EXAMPLES[wanted]} is expected`;
    return [thresholdError(message, literal.column, `write ${EXAMPLES[wanted]}`)];
  }
  return [];
}

interface TagPlace {
  readonly parsed: ParsedThreshold;
  readonly info: MetricInfo;
  readonly plan: ThresholdContext;
}

function checkTag(tag: TagFilter, { parsed, info, plan }: TagPlace): SquallError[] {
  if (tag.key === 'agent') {
    return [
      thresholdError(
        'agent is not a tag: agents are merged before anything is judged',
        tag.column,
        `the tags are ${TAG_KEYS.join(', ')}`,
      ),
    ];
  }
  if (!TAG_KEYS.includes(tag.key)) {
    const near = nearest(tag.key, TAG_KEYS);
    const hint = near === null ? `the tags are ${TAG_KEYS.join(', ')}` : `did you mean ${near}?`;
    return [thresholdError(`there is no tag "${tag.key}"`, tag.column, hint)];
  }
  if (tag.key === 'reason') {
    if (info.reasons === true) return [];
    return [thresholdError(`${parsed.metric} has no reasons`, tag.column)];
  }
  const values = tagValues(tag.key, plan);
  if (values.some((value) => matchesTag(tag, value))) return [];
  const near = nearest(tag.value, values);
  const known = `the plan has ${values.length === 0 ? 'none' : values.slice(0, 20).join(', ')}`;
  const hint = near === null ? known : `did you mean ${near}?`;
  return [thresholdError(misfitText(tag), tag.column, hint)];
}

function misfitText({ key, op, value }: TagFilter): string {
  switch (op) {
    case '=':
      return `no ${key} of the plan is "${value}"`;
    case '!=':
      return `no ${key} of the plan is another than "${value}"`;
    case '=~':
      return `no ${key} of the plan fits the pattern "${value}"`;
  }
}

function tagValues(key: string, plan: ThresholdContext): string[] {
  if (key === 'stage') return plan.stages.map((stage) => stage.name);
  if (key === 'qos') return ['0', '1', '2'];
  if (key === 'group') return plan.groups.map((group) => group.name);
  return plan.groups.flatMap((group) =>
    [...group.publish, ...group.subscribe].flatMap(({ name, subject }) =>
      name === null ? [] : [name, subject],
    ),
  );
}

/** Stages that the plan has not. */
export function checkStages(
  parsed: ParsedThreshold,
  plan: Pick<ThresholdContext, 'stages'>,
): SquallError[] {
  const names = plan.stages.map((stage) => stage.name);
  return parsed.stages.flatMap((stage, index) => {
    if (names.includes(stage)) return [];
    const near = nearest(stage, names);
    const hint = near === null ? `the stages are ${names.join(', ')}` : `did you mean ${near}?`;
    return [
      thresholdError(`there is no stage "${stage}"`, parsed.columns.stages[index] ?? 1, hint),
    ];
  });
}

function checkWindows(parsed: ParsedThreshold, info: MetricInfo): SquallError[] {
  const { over, breach } = parsed.columns;
  if (info.late === true && over !== null) {
    const message = `${parsed.metric} is known only after settle, so it has no windows`;
    return [thresholdError(message, over, 'leave out "over", "for" and "abort"')];
  }
  if (info.late === true && parsed.onBreach === 'abort') {
    return [thresholdError(`${parsed.metric} is known too late to abort`, breach ?? 1)];
  }
  if (parsed.overUs !== null && parsed.overUs % SLICE_US !== 0) {
    const message = 'windows are whole seconds, at least 1s';
    return [thresholdError(message, over ?? 1, 'for example over 10s')];
  }
  return [];
}

/** Where no stream has a due time and an acknowledgement, there is no time between them. */
function checkPublishTime(parsed: ParsedThreshold, plan: ThresholdContext): SquallError[] {
  if (parsed.metric !== 'publish_time') return [];
  const streams = publishActivities(parsed, plan);
  if (streams.length === 0) return [];
  const column = parsed.columns.metric;
  const closed = streams.find((stream) => stream.pace === 'max');
  if (closed !== undefined) {
    return [
      thresholdError(
        `${closed.subject} runs with rate: max, so its messages have no due time to count from`,
        column,
        closed.qos > 0
          ? 'use service_time, or give the stream a pace'
          : 'give the stream a pace, and publish at QoS 1 or use delivery_time',
      ),
    ];
  }
  if (streams.some((stream) => stream.qos > 0)) return [];
  return [
    thresholdError(
      'publish_time ends with the acknowledgement, and at QoS 0 there is none',
      column,
      'use delivery_time or wait_time, or publish at QoS 1',
    ),
  ];
}

interface Published {
  readonly subject: string;
  readonly qos: number;
  readonly pace: string;
}

/** The streams that the threshold speaks of, as the stages in question run them. */
function publishActivities(parsed: ParsedThreshold, plan: ThresholdContext): Published[] {
  const stages = plan.stages.filter((stage) => selectsStage(parsed, stage));
  return stages.flatMap((stage) =>
    stage.run.flatMap((work) =>
      work.activities.flatMap((activity) => {
        const group = plan.groups[work.group];
        if (activity.kind !== 'publish' || group === undefined) return [];
        const stream = group.publish[activity.stream];
        if (stream === undefined || !selectsStream(parsed, group.name, stream)) return [];
        return [{ subject: stream.subject, qos: stream.qos, pace: activity.pace.kind }];
      }),
    ),
  );
}

function selectsStage(
  parsed: ParsedThreshold,
  stage: { readonly name: string; readonly warmup: boolean },
): boolean {
  const named = parsed.stages.includes(stage.name);
  if (parsed.stages.length > 0 ? !named : stage.warmup && !namesByTag(parsed, stage.name)) {
    return false;
  }
  return parsed.tags.every((tag) => tag.key !== 'stage' || matchesTag(tag, stage.name));
}

function namesByTag(parsed: ParsedThreshold, stage: string): boolean {
  return parsed.tags.some((tag) => tag.key === 'stage' && tag.op === '=' && tag.value === stage);
}

function selectsStream(
  parsed: ParsedThreshold,
  group: string,
  stream: { readonly name: string | null; readonly subject: string; readonly qos: number },
): boolean {
  return parsed.tags.every((tag) => {
    if (tag.key === 'group') return matchesTag(tag, group);
    if (tag.key === 'qos') return matchesTag(tag, String(stream.qos));
    if (tag.key !== 'stream') return true;
    return matchesStream(tag, stream);
  });
}

function matchesStream(
  tag: TagFilter,
  stream: { readonly name: string | null; readonly subject: string },
): boolean {
  const names = [stream.subject, ...(stream.name === null ? [] : [stream.name])];
  return tag.op === '!='
    ? names.every((name) => matchesTag(tag, name))
    : names.some((name) => matchesTag(tag, name));
}
