import { at } from '../element.ts';
import { MAX_MARKS } from '../limits.ts';
import type { PairKey, PairTable } from '../pair-table.ts';
import type { LedgerExample } from '../row.ts';
import { GRANTED, INTERRUPTED, QOS_SHIFT } from '../subscriber-book.ts';
import {
  AGAIN,
  ENDED,
  type Entitlement,
  entitlementsOf,
  HELD,
  type Subscription,
} from './entitlements.ts';
import { type ClockedMoment, surelyAfter } from './moments.ts';
import { lostNumbers, type PairCase, pairFigures } from './pair-figures.ts';
import type { PlanNames } from './plan-names.ts';
import { PlanTopics } from './plan-topics.ts';
import type { PublisherColumn, PublisherStore } from './publisher-store.ts';
import type { RowBook, RowKey } from './row-book.ts';
import type { Sources } from './sources.ts';
import { StreamStages } from './stream-stages.ts';
import type { SubscriberStore } from './subscriber-store.ts';

export interface PairJudgeOptions {
  readonly names: PlanNames;
  readonly sources: Sources;
  readonly publishers: PublisherStore;
  readonly subscribers: SubscriberStore;
  readonly pairs: PairTable;
  readonly rows: RowBook;
}

/** A subscribing client while its pairs are judged. */
interface Subscriber {
  readonly group: number;
  readonly client: number;
  /** Number among all clients of the plan. */
  readonly number: number;
  readonly source: number;
  readonly losses: number;
}

/** A pair in one stage, on its way to a row. */
interface Candidate {
  readonly subscriber: Subscriber;
  readonly entitlement: Entitlement;
  readonly column: PublisherColumn | null;
  readonly key: Readonly<PairKey>;
  readonly publisherSource: number;
  readonly record: number;
  readonly row: RowKey;
}

/** Goes through every pair that the plan entitles to messages, subscriber by subscriber. */
export class PairJudge {
  /** Messages that came through shared subscriptions. */
  outside = 0;
  readonly #options: PairJudgeOptions;
  readonly #topics: PlanTopics;
  readonly #stages: StreamStages;

  constructor(options: PairJudgeOptions) {
    this.#options = options;
    this.#topics = new PlanTopics(options.names);
    this.#stages = new StreamStages(options.names.plan);
  }

  /** Judges all pairs; yields how many there were, after each topic of each subscriber. */
  *subscribers(): Generator<number, void> {
    const { names, sources, subscribers } = this.#options;
    const { plan, firstClient, filters } = names.plan;
    for (const [group, { clients }] of plan.groups.entries()) {
      if ((filters[group]?.length ?? 0) === 0) continue;
      const { losses } = subscribers.column(group);
      for (let client = 0; client < clients; client++) {
        const source = sources.ownerOf(group, client);
        const number = (firstClient[group] ?? 0) + client;
        yield* this.#judge({ group, client, number, source, losses: at(losses, client) });
      }
    }
  }

  /** Looks for pairs that got what nobody entitled them to; yields after `step` records each. */
  *rest(step: number): Generator<number, void> {
    const { pairs, sources, names, rows } = this.#options;
    const { plan, streams, filters, firstClient } = names.plan;
    for (let record = 0; record < pairs.count; record++) {
      if (record % step === step - 1) yield step;
      if (pairs.isVisited(record)) continue;
      const subscriber = pairs.subscriberOf(record);
      const group = names.groupOf(subscriber);
      const source = sources.ownerOf(group, subscriber - (firstClient[group] ?? 0));
      if (!sources.isComplete(source)) continue;
      const stream = streams[pairs.streamOf(record)];
      const entry = filters[group]?.[0]?.entry.spec;
      if (stream === undefined) continue;
      const row: RowKey = {
        from: stream.spec.subject,
        to: entry?.subject ?? plan.groups[group]?.name ?? '',
        qos: Math.min(stream.spec.qos, entry?.qos ?? 0),
        stage: pairs.stageOf(record),
      };
      rows.count(row, 'unexpected', pairs.uniqueOf(record) + pairs.duplicatesOf(record));
      rows.example(row, 'unexpected', {
        client: names.clientId(stream.group, pairs.publisherOf(record)),
        subscriber: names.clientIdOf(subscriber),
        seq: Math.max(0, pairs.lowestOf(record)),
        sentAtUs: null,
      });
    }
  }

  *#judge(subscriber: Subscriber): Generator<number, void> {
    const { names } = this.#options;
    const plan = { names, topics: this.#topics };
    for (const entitlement of entitlementsOf(subscriber, this.#held(subscriber), plan)) {
      const to = this.#topics.to(entitlement.topic);
      let judged = 0;
      for (let place = this.#topics.from(entitlement.topic); place < to; place++) {
        this.#judgePublisher(subscriber, entitlement, place);
        judged += 1;
        // One topic may have more publishers than a step should take.
        if (judged % 4096 === 0) yield 4096;
      }
      yield judged % 4096;
    }
  }

  /** What a client held; of a lost worker's client, what the plan has it subscribe to. */
  #held({ group, client, source }: Subscriber): Subscription[] {
    const { names, sources, subscribers } = this.#options;
    const filters = names.plan.filters[group] ?? [];
    const { states, sinceUs } = subscribers.column(group);
    const known = sources.isComplete(source);
    const held: Subscription[] = [];
    for (const [k, filter] of filters.entries()) {
      const place = client * filters.length + k;
      const state = known ? at(states, place) : (filter.entry.spec.qos << QOS_SHIFT) | GRANTED;
      if ((state & (GRANTED | INTERRUPTED)) === 0) continue;
      held.push({ filter, state, sinceUs: known ? at(sinceUs, place) : 0 });
    }
    return held;
  }

  #judgePublisher(subscriber: Subscriber, entitlement: Entitlement, place: number): void {
    const { names, sources, publishers, pairs } = this.#options;
    const stream = this.#topics.streamAt(place);
    const publisher = this.#topics.clientAt(place);
    const spec = names.plan.streams[stream];
    const entry = names.plan.entries[entitlement.entry];
    if (spec === undefined || entry === undefined) return;
    const publisherSource = sources.ownerOf(spec.group, publisher);
    for (const stage of this.#stages.of(stream)) {
      const key = { subscriber: subscriber.number, stream, stage, publisher };
      const record = pairs.find(key);
      if (record >= 0) pairs.visit(record);
      this.#judgePair({
        subscriber,
        entitlement,
        column: publishers.column(stream, stage),
        key,
        publisherSource,
        record,
        row: {
          from: spec.spec.subject,
          to: entry.spec.subject,
          qos: Math.min(spec.spec.qos, entitlement.qos),
          stage,
        },
      });
    }
  }

  #judgePair(candidate: Candidate): void {
    const { pairs, rows } = this.#options;
    const { record, entitlement, row } = candidate;
    if (entitlement.shared) {
      if (record >= 0) this.outside += pairs.uniqueOf(record) + pairs.duplicatesOf(record);
      return;
    }
    const unverifiable = this.#unverifiable(candidate);
    if (unverifiable !== null) {
      if (this.#concerns(candidate)) rows.unverifiable(row, unverifiable);
      return;
    }
    const sent = at(candidate.column?.handed ?? [], candidate.key.publisher);
    if (sent === 0 && record < 0) return;
    const start = this.#startOf(candidate, sent);
    const pair = this.#caseOf(candidate, sent, start);
    const figures = pairFigures(pair);
    rows.add(row, figures, entitlement.filters);
    if (figures.lost > 0) this.#lostExamples(candidate, pair);
    if (record < 0 && start === sent && entitlement.hold === HELD && this.#mayBeLate(candidate)) {
      rows.undecided(row);
    }
  }

  #caseOf(candidate: Candidate, sent: number, start: number): PairCase {
    const { pairs, publishers } = this.#options;
    const { record, column, key, entitlement, subscriber } = candidate;
    const head = at(column?.heads ?? [], key.publisher);
    return {
      handed: sent,
      unresolved: { lists: publishers.unresolved, head },
      pairs,
      record,
      start: record < 0 ? start : lower(start, pairs.lowestOf(record)),
      open: entitlement.hold === ENDED || (entitlement.hold === AGAIN && start > 0),
      cutOff: record < 0 ? subscriber.losses > 0 : pairs.lossesOf(record) > 0,
    };
  }

  /** Why a pair cannot be judged, and how many of its messages are known; null where it can. */
  #unverifiable(candidate: Candidate): { messages: number; from: string } | null {
    const { sources, pairs } = this.#options;
    const { subscriber, publisherSource, column, key, record } = candidate;
    const sent = at(column?.handed ?? [], key.publisher);
    const arrived = record < 0 ? 0 : pairs.uniqueOf(record);
    if (!sources.isComplete(subscriber.source)) {
      return { messages: sent, from: this.#agentOf(subscriber.source) };
    }
    if (!sources.isComplete(publisherSource)) {
      return { messages: arrived, from: this.#agentOf(publisherSource) };
    }
    if (at(column?.unlisted ?? [], key.publisher) === 1) {
      return { messages: sent, from: this.#agentOf(publisherSource) };
    }
    if (record < 0 && sources.list[subscriber.source]?.full === true) {
      return { messages: sent, from: this.#agentOf(subscriber.source) };
    }
    return null;
  }

  #agentOf(source: number): string {
    return this.#options.sources.list[source]?.agent ?? '';
  }

  /** From which number on everything must have come, as far as moments can tell. */
  #startOf({ subscriber, entitlement, column, key, publisherSource }: Candidate, sent: number) {
    const { sources } = this.#options;
    const since = clocked(entitlement.sinceUs, sources.list[subscriber.source]?.clock);
    const clock = sources.list[publisherSource]?.clock;
    if (column === null || since === null || clock === null || clock === undefined) return sent;
    if (surelyAfter(since, { us: at(column.firstUs, key.publisher), clock })) return 0;
    for (const [mark, us] of (column.marksUs.get(publisherSource) ?? []).entries()) {
      if (surelyAfter(since, { us, clock })) {
        return Math.min(sent, at(column.marks, key.publisher * MAX_MARKS + mark));
      }
    }
    return sent;
  }

  /** Whether there was anything that a pair without a verdict could have been about. */
  #concerns(candidate: Candidate): boolean {
    const { sources } = this.#options;
    const { column, key, publisherSource, record } = candidate;
    if (record >= 0) return true;
    if (!this.#mayBeLate(candidate) || column === null) return false;
    return at(column.handed, key.publisher) > 0 || !sources.isComplete(publisherSource);
  }

  /** Not of a stage before the plan subscribes: the subscription may have begun within it. */
  #mayBeLate({ entitlement, key }: Candidate): boolean {
    return key.stage >= this.#stages.firstOf(entitlement.entry);
  }

  #lostExamples({ row, key }: Candidate, pair: PairCase): void {
    const { rows, names } = this.#options;
    const room = rows.roomFor(row, 'lost');
    if (room <= 0) return;
    const group = names.plan.streams[key.stream]?.group ?? 0;
    const client = names.clientId(group, key.publisher);
    const subscriber = names.clientIdOf(key.subscriber);
    for (const { seq, cutOff } of lostNumbers(pair, room)) {
      const example: LedgerExample = { client, subscriber, seq, sentAtUs: null };
      rows.example(row, 'lost', cutOff ? { ...example, while: 'disconnected' } : example);
    }
  }
}

function clocked(us: number, clock: ClockedMoment['clock'] | null | undefined) {
  return clock === null || clock === undefined ? null : { us, clock };
}

function lower(start: number, lowest: number): number {
  return lowest < 0 ? start : Math.min(start, lowest);
}
