import { MAY_HAVE_ARRIVED } from '../metrics/index.ts';
import type { Group, Plan, PublishStream } from '../plan/plan.ts';
import type { Figures, GroupFigures } from './model.ts';

/** What the offsets of RocketMQ's queues say of a run. */
export interface BrokerBooks {
  readonly notes: string[];
  /** Less was stored than acknowledged. */
  readonly failures: string[];
}

interface Sums {
  stored: number;
  acked: number;
  /** Acknowledged, and surely in no queue of the topic: half messages that were rolled back. */
  never: number;
  /** Acknowledged, and perhaps not in a queue yet: delayed, or half messages left open. */
  later: number;
  /** Not acknowledged, and perhaps stored. */
  perhaps: number;
}

/**
 * Holds the growth of each topic's offsets against what was acknowledged: refused messages are in
 * neither, and what got no answer is an uncertainty that is named.
 */
export function brokerBooksOf(
  { groups, targets }: Pick<Plan, 'groups' | 'targets'>,
  figures: Readonly<Record<string, GroupFigures>>,
): BrokerBooks {
  const books: BrokerBooks = { notes: [], failures: [] };
  const topics = new Map<string, { readonly topic: string; readonly sums: Sums }>();
  for (const group of groups) {
    const own = figures[group.name];
    if (own === undefined || targets[group.target]?.protocol !== 'rocketmq') continue;
    for (const stream of group.publish) {
      const topic = typeof stream.topic === 'string' ? stream.topic : '';
      const key = `${group.target} ${topic}`;
      const { sums } = topics.get(key) ?? { sums: emptySums() };
      topics.set(key, { topic, sums });
      addTo(sums, stream, figuresOf(own, group, stream));
    }
    const unread = own.counters['unread'] ?? 0;
    if (unread > 0) {
      books.notes.push(`${group.name}: ${inWords(unread)} stored and not read at the end: no loss`);
    }
  }
  for (const { topic, sums } of topics.values()) judge(topic, sums, books);
  return books;
}

function emptySums(): Sums {
  return { stored: 0, acked: 0, never: 0, later: 0, perhaps: 0 };
}

function figuresOf(own: GroupFigures, group: Group, { name }: PublishStream): Figures {
  const stream = name === null ? undefined : own.streams[name];
  return stream ?? (group.publish.length === 1 ? own : { counters: {}, reasons: {}, times: {} });
}

function addTo(sums: Sums, stream: PublishStream, { counters, reasons }: Figures): void {
  const acked = counters['acked'] ?? 0;
  const half = reasons['transactions'] ?? {};
  sums.stored += counters['stored'] ?? 0;
  sums.acked += acked;
  sums.never += half['rolled back'] ?? 0;
  const isDelayed = (stream.rocketmq?.delayLevel ?? null) !== null;
  sums.later += isDelayed ? acked : (half['left open'] ?? 0);
  if (stream.qos === 0) sums.perhaps += counters['published'] ?? 0;
  sums.perhaps += unanswered(reasons);
}

function unanswered(reasons: Figures['reasons']): number {
  let sum = reasons['unfinished']?.['in_flight'] ?? 0;
  for (const [reason, count] of Object.entries(reasons['publish_failed'] ?? {})) {
    if (MAY_HAVE_ARRIVED.includes(reason)) sum += count;
  }
  return sum;
}

function judge(topic: string, sums: Sums, { notes, failures }: BrokerBooks): void {
  const { stored, acked, never, later, perhaps } = sums;
  if (acked + perhaps === 0) return;
  if (stored === 0) {
    notes.push(
      `the offsets of ${topic} are not known: ACL 2.0 wants Get on the topic of who reads them`,
    );
    return;
  }
  const differences = [
    [never, 'rolled back'],
    [later, 'delayed or left open'],
    [perhaps, 'without an answer'],
  ]
    .filter(([count]) => Number(count) > 0)
    .map(([count, what]) => `, ${format(Number(count))} ${what}`);
  const facts = `${topic} grew by ${inWords(stored)}, ${format(acked)} were acknowledged${differences.join('')}`;
  if (stored < acked - never - later) {
    failures.push(`the broker has less than it acknowledged: ${facts}`);
  } else if (stored > acked - never + perhaps) {
    notes.push(`${facts}: others write to it, too`);
  } else {
    notes.push(facts);
  }
}

function inWords(count: number): string {
  return `${format(count)} message${count === 1 ? '' : 's'}`;
}

function format(count: number): string {
  return count.toLocaleString('en-US');
}
