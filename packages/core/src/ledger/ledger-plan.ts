import type { Group, Plan, PublishStream, SubscribeEntry } from '../plan/plan.ts';
import { compileTemplate, type Template } from '../template/index.ts';
import { sharedFilter } from './matches-filter.ts';
import { streamTopics, TopicRound } from '../schedule/index.ts';
import { MAX_IDENTIFIED_ENTRIES, MAX_STREAMS } from './limits.ts';
import { TopicTurns } from './topic-turns.ts';

/**
 * What clients of a publish stream send to one topic each: the stream itself, or a part of it where its
 * topics take turns. Streams are numbered through the whole plan, and so are their parts; where no
 * stream has several topics, both numbers are the same.
 */
export interface LedgerStream {
  readonly index: number;
  /** Number of the stream among those of the plan: it stands in stamps. */
  readonly stamped: number;
  /** Which of the stream's topics it is; 0 where there is one. */
  readonly choice: number;
  /** Which messages are its own; null where all of the stream's are. */
  readonly turns: TopicTurns | null;
  /** Index of its group in the plan. */
  readonly group: number;
  readonly spec: PublishStream;
  readonly topic: Template;
  /** Why its messages are in no ledger, or null where they are. */
  readonly outside: string | null;
}

/** A subscribe entry, numbered through the whole plan. */
export interface LedgerEntry {
  readonly index: number;
  readonly group: number;
  readonly spec: SubscribeEntry;
}

/** One filter of a group, numbered in the group over all its entries. */
export interface LedgerFilter {
  readonly entry: LedgerEntry;
  readonly template: Template;
  readonly shared: boolean;
}

/**
 * A plan as the ledger sees it: who publishes and who subscribes, with the numbers that stand for
 * them in stamps, tables and pages. Agents and controller make the same one from the same plan.
 */
export interface LedgerPlan {
  readonly plan: Plan;
  readonly streams: readonly LedgerStream[];
  /** The same, by the number that stands in stamps. */
  readonly stamped: readonly (readonly LedgerStream[])[];
  readonly entries: readonly LedgerEntry[];
  /** Filters by group. */
  readonly filters: readonly (readonly LedgerFilter[])[];
  /** Number of the first client of each group, among all clients of the plan. */
  readonly firstClient: readonly number[];
  /**
   * Groups whose messages say by subscription identifiers which entries they are for: there each entry
   * is a receiver of its own.
   */
  readonly identified: readonly boolean[];
}

/** @throws SquallError SQ_PLAN where a topic or filter is not a template. */
export function ledgerPlan(plan: Plan): LedgerPlan {
  const streams: LedgerStream[] = [];
  const stamped: LedgerStream[][] = [];
  const entries: LedgerEntry[] = [];
  const filters: LedgerFilter[][] = [];
  const firstClient: number[] = [];
  let clients = 0;
  for (const [group, { publish, subscribe, clients: count }] of plan.groups.entries()) {
    firstClient.push(clients);
    clients += count;
    for (const spec of publish) {
      const parts = partsOf(spec, group, { stamped: stamped.length, first: streams.length });
      stamped.push(parts);
      streams.push(...parts);
    }
    const own: LedgerFilter[] = [];
    for (const spec of subscribe) {
      const entry = { index: entries.length, group, spec };
      entries.push(entry);
      for (const text of spec.topics) {
        const template = compileTemplate(text);
        own.push({ entry, template, shared: sharedFilter(text) !== null });
      }
    }
    filters.push(own);
  }
  return {
    plan,
    streams,
    stamped,
    entries,
    filters,
    firstClient,
    identified: plan.groups.map(isIdentified),
  };
}

/** Several entries, each with an identifier that no other one has. */
function isIdentified({ subscribe }: Group): boolean {
  if (subscribe.length < 2 || subscribe.length > MAX_IDENTIFIED_ENTRIES) return false;
  const identifiers = subscribe.map(({ options }) => options.identifier);
  return !identifiers.includes(null) && new Set(identifiers).size === subscribe.length;
}

function partsOf(
  spec: PublishStream,
  group: number,
  { stamped, first }: { readonly stamped: number; readonly first: number },
): LedgerStream[] {
  const topics = streamTopics(spec);
  const outside = whyOutside(spec) ?? (first + topics.length > MAX_STREAMS ? TOO_MANY : null);
  const followed = outside === null ? topics : topics.slice(0, 1);
  const weights = typeof spec.topic === 'string' ? [] : spec.topic.map(({ weight }) => weight);
  const turns = followed.length > 1 ? new TopicTurns(new TopicRound(weights), topics.length) : null;
  return followed.map((topic, choice) => ({
    index: first + choice,
    stamped,
    choice,
    turns,
    group,
    spec,
    topic: compileTemplate(topic),
    outside,
  }));
}

const TOO_MANY = 'the plan has more topics than the ledger can number';

/**
 * Why the messages of a stream are in no ledger, or null where they are.
 * @throws SquallError SQ_PLAN where the topic is not a template.
 */
export function whyOutside(stream: PublishStream): string | null {
  if (!stream.verify) return 'its messages carry no stamp (verify: off)';
  const isFixed = streamTopics(stream).every((topic) => !compileTemplate(topic).perMessage);
  return isFixed ? null : 'its topic changes with every message';
}
