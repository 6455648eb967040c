import type { Plan, PublishStream, SubscribeEntry } from '../plan/plan.ts';
import { compileTemplate, type Template } from '../template/index.ts';
import { sharedFilter } from './matches-filter.ts';
import { streamTopics } from '../schedule/index.ts';

/** A publish stream, numbered through the whole plan: the number stands in its stamps. */
export interface LedgerStream {
  readonly index: number;
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
  readonly entries: readonly LedgerEntry[];
  /** Filters by group. */
  readonly filters: readonly (readonly LedgerFilter[])[];
  /** Number of the first client of each group, among all clients of the plan. */
  readonly firstClient: readonly number[];
}

/** @throws SquallError SQ_PLAN where a topic or filter is not a template. */
export function ledgerPlan(plan: Plan): LedgerPlan {
  const streams: LedgerStream[] = [];
  const entries: LedgerEntry[] = [];
  const filters: LedgerFilter[][] = [];
  const firstClient: number[] = [];
  let clients = 0;
  for (const [group, { publish, subscribe, clients: count }] of plan.groups.entries()) {
    firstClient.push(clients);
    clients += count;
    for (const spec of publish) {
      const topic = compileTemplate(streamTopics(spec)[0] ?? '');
      streams.push({ index: streams.length, group, spec, topic, outside: whyOutside(spec) });
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
  return { plan, streams, entries, filters, firstClient };
}

/**
 * Why the messages of a stream are in no ledger, or null where they are.
 * @throws SquallError SQ_PLAN where the topic is not a template.
 */
export function whyOutside(stream: PublishStream): string | null {
  if (!stream.verify) return 'its messages carry no stamp (verify: off)';
  const topics = streamTopics(stream);
  if (topics.length > 1) return 'it has several topics';
  if (topics.some((topic) => compileTemplate(topic).perMessage))
    return 'its topic changes with every message';
  return null;
}
