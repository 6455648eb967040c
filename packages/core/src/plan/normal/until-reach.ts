import { stageNeeds } from '../../schedule/index.ts';
import type { Condition, FileFacts, Group, PublishStream, Stage } from '../plan.ts';
import { payloadBytes } from './payloads.ts';

/** What each message of a stream counts towards at most once. */
const MESSAGE_COUNTERS: ReadonlySet<string> = new Set([
  'planned',
  'scheduled',
  'sent',
  'acked',
  'published',
  'dropped',
  'publish_failed',
  'unfinished',
  'bytes_sent',
]);
const CONNECTING: ReadonlySet<string> = new Set([
  'connect_attempts',
  'connected',
  'connect_failed',
  'disconnected',
  'session_present',
  'disconnects',
  'wire_sent',
  'wire_received',
]);
const SUBSCRIBING: ReadonlySet<string> = new Set([
  'subscribed',
  'subscribe_failed',
  'received',
  'arrived',
  'bytes_received',
]);

interface Place {
  readonly condition: Condition;
  readonly stage: Stage;
  readonly groups: readonly Group[];
  readonly stages: readonly Stage[];
  readonly files: Readonly<Record<string, FileFacts>>;
}

/**
 * Why the `until` of a stage can never come true, or null where the plan does not show it: its
 * streams have a `count` that is too low, or nobody does what it counts.
 */
export function unreachable(place: Place): string | null {
  const { condition } = place;
  const most = mostOf(place);
  if (most === null || canHold(condition, most)) return null;
  const when = condition.fromRun ? 'by the end of this stage' : 'in this stage';
  const why =
    most === 0
      ? `${condition.subject}.${condition.metric} stays 0 ${when}`
      : `by its count ${condition.subject}.${condition.metric} comes to ${most} at most ${when}`;
  return `"${condition.text}" can never come true: ${why}`;
}

function canHold({ op, value }: Condition, most: number): boolean {
  switch (op) {
    case '>=':
      return most >= value;
    case '>':
      return most > value;
    case '==':
      return value <= most;
    case '<':
      return value > 0;
    case '<=':
      return true;
    case '!=':
      return most > 0 || value !== 0;
  }
}

/** The highest value that the counter can have; null where the plan sets no limit. */
function mostOf(place: Place): number | null {
  const { condition, stage, groups, stages } = place;
  const { metric, subject } = condition;
  const isMeant = (index: number) => groups[index]?.name === subject;
  const upTo = stages.slice(0, stage.index + 1);
  if (MESSAGE_COUNTERS.has(metric) || metric === 'retransmitted') {
    return messages(place, condition.fromRun ? upTo : [stage]);
  }
  const needs = stageNeeds({ groups, stages }).slice(0, stage.index + 1);
  if (CONNECTING.has(metric)) {
    const connects = needs.some((each) => [...each.connects, ...each.reconnects].some(isMeant));
    return connects ? null : 0;
  }
  if (!SUBSCRIBING.has(metric)) return null;
  const subscribed = needs.some(({ subscribes }) =>
    [...subscribes].some(([group, entries]) =>
      [...entries].some(
        (entry) => isMeant(group) || groups[group]?.subscribe[entry]?.subject === subject,
      ),
    ),
  );
  return subscribed ? null : 0;
}

function messages({ condition, groups, files }: Place, stages: readonly Stage[]): number | null {
  const { metric, subject } = condition;
  let most = 0;
  for (const work of stages.flatMap((stage) => stage.run)) {
    const group = groups[work.group];
    for (const activity of work.activities) {
      if (activity.kind !== 'publish' || group === undefined) continue;
      const stream = group.publish[activity.stream];
      if (stream === undefined || (group.name !== subject && stream.subject !== subject)) continue;
      const each = eachCounts(metric, stream, files);
      if (each > 0 && (stream.count === null || metric === 'retransmitted')) return null;
      most += each * (stream.count ?? 0);
    }
  }
  return Number.isFinite(most) ? most : null;
}

/** What one message adds to the counter at most. */
function eachCounts(
  metric: string,
  stream: PublishStream,
  files: Readonly<Record<string, FileFacts>>,
): number {
  if (metric === 'bytes_sent') return payloadBytes(stream.payload, files);
  const needsAck = metric === 'acked' || metric === 'retransmitted';
  return needsAck && stream.qos === 0 ? 0 : 1;
}
