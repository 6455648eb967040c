import { at } from '../element.ts';
import { MAX_MARKS } from '../limits.ts';
import {
  GAP_DISCONNECTED,
  GAP_EXPIRED,
  GAP_SESSION_LOST,
  type PairKey,
  type PairTable,
} from '../pair-table.ts';
import type { LedgerEntry } from '../ledger-plan.ts';
import { entryIn, entryStream, streamIn } from '../pair-stream.ts';
import { GRANTED, INTERRUPTED, QOS_SHIFT } from '../subscription-states.ts';
import {
  AGAIN,
  ENDED,
  type Entitlement,
  entitlementsOf,
  HELD,
  type Subscription,
} from './entitlements.ts';
import { type ClockedMoment, surelyAfter } from './moments.ts';
import { missingNumbers, type PairCase, pairFigures } from './pair-figures.ts';
import type { PlanNames } from '../plan-names.ts';
import type { PlanTopics } from './plan-topics.ts';
import { lostExample, seqOf } from './lost-example.ts';
import type { PublisherColumn, PublisherStore } from './publisher-store.ts';
import type { RowBook, RowKey } from './row-book.ts';
import type { Sources } from './sources.ts';
import { ShareJudge } from './share-judge.ts';
import type { ShareStore } from './share-store.ts';
import { Shares } from './shares.ts';
import { StreamStages } from '../stream-stages.ts';
import type { SubscriberStore } from './subscriber-store.ts';

export interface PairJudgeOptions {
  readonly names: PlanNames;
  readonly topics: PlanTopics;
  readonly sources: Sources;
  readonly publishers: PublisherStore;
  readonly subscribers: SubscriberStore;
  readonly pairs: PairTable;
  readonly shares: ShareStore;
  readonly rows: RowBook;
}

/** A subscribing client while its pairs are judged. */
interface Subscriber {
  readonly group: number;
  readonly client: number;
  /** Number among all clients of the plan. */
  readonly number: number;
  readonly source: number;
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
  /** Messages of which nobody can tell through which subscription they came. */
  outside = 0;
  readonly #options: PairJudgeOptions;
  readonly #topics: PlanTopics;
  readonly #stages: StreamStages;
  readonly #shares: Shares;

  constructor(options: PairJudgeOptions) {
    this.#options = options;
    this.#topics = options.topics;
    this.#stages = new StreamStages(options.names.plan);
    this.#shares = new Shares(options.names, options.topics);
  }

  /** Judges all pairs; yields how many there were, after each topic of each subscriber. */
  *subscribers(): Generator<number, void> {
    const { names, sources } = this.#options;
    const { plan, firstClient, filters } = names.plan;
    for (const [group, { clients }] of plan.groups.entries()) {
      if ((filters[group]?.length ?? 0) === 0) continue;
      for (let client = 0; client < clients; client++) {
        const source = sources.ownerOf(group, client);
        const number = (firstClient[group] ?? 0) + client;
        yield* this.#judge({ group, client, number, source });
      }
    }
  }

  /** Judges the shared subscriptions, when all subscribers were looked at; yields like `subscribers`. */
  shares(): Generator<number, void> {
    return new ShareJudge({ ...this.#options, stages: this.#stages }).judge(this.#shares.all);
  }

  /** Shared subscriptions with messages that nobody can assign, and why. */
  openShares(): { subject: string; reason: string }[] {
    const { entries } = this.#options.names.plan;
    const open = [...this.#shares.all].filter((share) => share.open.size > 0);
    const subjects = new Set(open.map(({ entry }) => entries[entry]?.spec.subject ?? ''));
    const reason =
      'a client has other subscriptions to the same topics, and messages do not say which they are for';
    return [...subjects].map((subject) => ({ subject: `${subject} (shared)`, reason }));
  }

  /** Looks for pairs that got what nobody entitled them to; yields after `step` records each. */
  *rest(step: number): Generator<number, void> {
    const { pairs } = this.#options;
    for (let record = 0; record < pairs.count; record++) {
      if (record % step === step - 1) yield step;
      if (!pairs.isVisited(record)) this.#unexpected(record);
    }
  }

  #unexpected(record: number): void {
    const { pairs, sources, names, rows } = this.#options;
    const { streams, firstClient } = names.plan;
    const subscriber = pairs.subscriberOf(record);
    const group = names.groupOf(subscriber);
    const source = sources.ownerOf(group, subscriber - (firstClient[group] ?? 0));
    const stream = streams[streamIn(pairs.streamOf(record))];
    if (stream === undefined || !sources.isComplete(source)) return;
    const publisher = pairs.publisherOf(record);
    const row: RowKey = {
      from: stream.spec.subject,
      ...this.#receiverOf(group, entryIn(pairs.streamOf(record)), stream.spec.qos),
      stage: pairs.stageOf(record),
    };
    const lowest = Math.max(0, pairs.lowestOf(record));
    rows.count(row, 'unexpected', pairs.uniqueOf(record) + pairs.duplicatesOf(record));
    rows.example(row, 'unexpected', {
      client: names.clientId(stream.group, publisher),
      subscriber: names.clientIdOf(subscriber),
      seq: seqOf(names, { stream: stream.index, publisher }, lowest),
      sentAtUs: null,
    });
  }

  /** Under which entry and QoS something counts that no subscription was there for. */
  #receiverOf(group: number, entry: number, qos: number): Pick<RowKey, 'to' | 'qos'> {
    const { plan } = this.#options.names.plan;
    const spec = plan.groups[group]?.subscribe[Math.max(0, entry)];
    return {
      to: spec?.subject ?? plan.groups[group]?.name ?? '',
      qos: Math.min(qos, spec?.qos ?? 0),
    };
  }

  *#judge(subscriber: Subscriber): Generator<number, void> {
    const held = this.#held(subscriber);
    const open = this.#joinShares(subscriber, held);
    const own = held.filter(({ filter }) => !filter.shared);
    for (const entitlement of this.#entitled(subscriber, own)) {
      const to = this.#topics.to(entitlement.topic);
      let judged = 0;
      for (let place = this.#topics.from(entitlement.topic); place < to; place++) {
        if (open.has(entitlement.topic)) this.#leaveOut(subscriber, place);
        else this.#judgePublisher(subscriber, entitlement, place);
        judged += 1;
        // One topic may have more publishers than a step should take.
        if (judged % 4096 === 0) yield 4096;
      }
      yield judged % 4096;
    }
  }

  /** All of a client's subscriptions together, or entry by entry where messages say which they are for. */
  *#entitled(subscriber: Subscriber, held: readonly Subscription[]): Generator<Entitlement, void> {
    const { names } = this.#options;
    const plan = { names, topics: this.#topics };
    if (names.plan.identified[subscriber.group] !== true) {
      yield* entitlementsOf(subscriber, held, plan);
      return;
    }
    for (const entry of new Set(held.map(({ filter }) => filter.entry))) {
      const own = held.filter(({ filter }) => filter.entry === entry);
      yield* entitlementsOf(subscriber, own, plan);
    }
  }

  /** Gives the topics on which the client's shared subscriptions cannot be told from its others. */
  #joinShares(subscriber: Subscriber, held: readonly Subscription[]): ReadonlySet<number> {
    const { names, sources } = this.#options;
    const filters = names.plan.filters[subscriber.group] ?? [];
    if (!filters.some(({ shared }) => shared)) return NONE;
    const clock = sources.list[subscriber.source]?.clock ?? null;
    return this.#shares.join({ ...subscriber, clock }, held);
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

  /** Messages of one publisher that may have come through any of the subscriber's subscriptions. */
  #leaveOut({ number }: Subscriber, place: number): void {
    const { pairs } = this.#options;
    const [stream, publisher] = [this.#topics.streamAt(place), this.#topics.clientAt(place)];
    for (const stage of this.#stages.of(stream)) {
      const record = pairs.find({ subscriber: number, stream, stage, publisher });
      if (record < 0) continue;
      pairs.visit(record);
      this.outside += pairs.uniqueOf(record) + pairs.duplicatesOf(record);
    }
  }

  #judgePublisher(subscriber: Subscriber, all: Entitlement, place: number): void {
    const { names, sources, publishers, pairs } = this.#options;
    const stream = this.#topics.streamAt(place);
    const publisher = this.#topics.clientAt(place);
    const spec = names.plan.streams[stream];
    const isOwn = spec?.group === subscriber.group && publisher === subscriber.client;
    const entitlement = isOwn ? all.own : all;
    const entry = names.plan.entries[entitlement?.entry ?? -1];
    if (spec === undefined || entry === undefined || entitlement === null) return;
    const publisherSource = sources.ownerOf(spec.group, publisher);
    for (const stage of this.#stages.of(stream)) {
      const key = { subscriber: subscriber.number, stream, stage, publisher };
      const record = pairs.find({ ...key, stream: this.#pairStream(subscriber, entry, stream) });
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

  #pairStream({ group }: Subscriber, entry: LedgerEntry, stream: number): number {
    const { identified, filters } = this.#options.names.plan;
    if (identified[group] !== true) return stream;
    return entryStream(stream, entry.index - (filters[group]?.[0]?.entry.index ?? 0));
  }

  #judgePair(candidate: Candidate): void {
    const { rows } = this.#options;
    const { record, entitlement, row } = candidate;
    const unverifiable = this.#unverifiable(candidate);
    if (unverifiable !== null) {
      if (this.#concerns(candidate)) rows.unverifiable(row, unverifiable);
      return;
    }
    const sent = at(candidate.column?.handed ?? [], candidate.key.publisher);
    if (sent === 0 && record < 0) return;
    const start = this.#startOf(candidate, sent);
    const pair = this.#caseOf(candidate, sent, start);
    this.#add(candidate, pair);
    if (record < 0 && start === sent && entitlement.hold === HELD && this.#mayBeLate(candidate)) {
      rows.undecided(row);
    }
  }

  #add(candidate: Candidate, pair: PairCase): void {
    const { rows } = this.#options;
    const { column, entitlement, key, row } = candidate;
    const figures = pairFigures(pair);
    rows.add(row, figures, entitlement.filters);
    const refused = at(column?.refused ?? [], key.publisher);
    if (refused > 0) rows.refused(row, Math.min(refused, figures.unresolved));
    if (figures.lost > 0) this.#examples(candidate, pair, 'lost');
    if (figures.expired > 0) this.#examples(candidate, pair, 'expired');
  }

  #caseOf(candidate: Candidate, sent: number, start: number): PairCase {
    const { pairs, publishers } = this.#options;
    const { record, column, key, entitlement } = candidate;
    const head = at(column?.heads ?? [], key.publisher);
    return {
      handed: sent,
      unresolved: { lists: publishers.unresolved, head },
      pairs,
      record,
      start: record < 0 ? start : lower(start, pairs.lowestOf(record)),
      open: entitlement.hold === ENDED || (entitlement.hold === AGAIN && start > 0),
      tail: record < 0 ? this.#absenceOf(candidate) : pairs.lossesOf(record),
    };
  }

  /** What befell a subscriber that got nothing of the pair: flags of a gap. */
  #absenceOf({ subscriber: { group, client }, key }: Candidate): number {
    const { losses, sessionLost, awayMs } = this.#options.subscribers.column(group);
    if (at(losses, client) === 0) return 0;
    const expiryS = this.#options.names.plan.streams[key.stream]?.spec.expiryS ?? null;
    const expired = expiryS !== null && at(awayMs, client) >= expiryS * 1_000;
    return (
      GAP_DISCONNECTED |
      (at(sessionLost, client) === 1 ? GAP_SESSION_LOST : 0) |
      (expired ? GAP_EXPIRED : 0)
    );
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

  #examples(candidate: Candidate, pair: PairCase, kind: 'lost' | 'expired'): void {
    const { row, key, column, publisherSource } = candidate;
    const { rows, names, sources } = this.#options;
    const room = rows.roomFor(row, kind);
    if (room <= 0) return;
    const subscriber = names.clientIdOf(key.subscriber);
    const sender = { ...key, column, clock: sources.list[publisherSource]?.clock ?? null };
    for (const lost of missingNumbers(pair, kind, room)) {
      rows.example(row, kind, lostExample(lost, { names, sender, subscriber }));
    }
  }
}

const NONE: ReadonlySet<number> = new Set();

function clocked(us: number, clock: ClockedMoment['clock'] | null | undefined) {
  return clock === null || clock === undefined ? null : { us, clock };
}

function lower(start: number, lowest: number): number {
  return lowest < 0 ? start : Math.min(start, lowest);
}
