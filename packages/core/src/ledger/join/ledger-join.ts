import type { GroupRows } from '../../partition/group-rows.ts';
import type { AgentShare } from '../../partition/partition.ts';
import { type LedgerPlan, ledgerPlan } from '../ledger-plan.ts';
import {
  type ArrivalExample,
  type EdgeBody,
  EXAMPLE_KINDS,
  type LedgerPage,
  type TalliesBody,
} from '../page.ts';
import type { Plan } from '../../plan/plan.ts';
import { type LedgerResult, UNKNOWN_SENDER } from '../row.ts';
import { arrivalGoal } from './arrival-goal.ts';
import { PairJudge } from './pair-judge.ts';
import { PairStore } from './pair-store.ts';
import { PlanTopics } from './plan-topics.ts';
import { PlanNames } from '../plan-names.ts';
import { PublisherStore } from './publisher-store.ts';
import { type CountedKind, RowBook, type RowKey } from './row-book.ts';
import { ShareStore } from './share-store.ts';
import { Sources } from './sources.ts';
import { SubscriberStore } from './subscriber-store.ts';
import {
  CORRUPTED,
  EXAMPLE_CORRUPTED,
  FOREIGN,
  OUTSIDE,
  QUEUED,
  REPLAYED,
  RETAINED,
  UNASKED,
  UNSTAMPED,
  UNTRACKED,
  WRONG_QOS,
  WRONG_TOPIC,
} from '../tallies.ts';

/** Under which figures of a row a kind of tally counts. */
const COUNTED: ReadonlyMap<number, CountedKind> = new Map([
  [CORRUPTED, 'corrupted'],
  [FOREIGN, 'foreign'],
  [REPLAYED, 'retained'],
  [RETAINED, 'retained'],
  [QUEUED, 'queued'],
  [WRONG_TOPIC, 'wrongTopic'],
  [WRONG_QOS, 'wrongQos'],
  [UNASKED, 'unexpected'],
]);
/** And which of what no row counts as received. */
const APART: ReadonlyMap<number, keyof LedgerResult['apart']> = new Map([
  [UNSTAMPED, 'unstamped'],
  [OUTSIDE, 'outside'],
  [REPLAYED, 'replayed'],
  [UNTRACKED, 'untracked'],
]);

export interface LedgerJoinOptions {
  readonly plan: Plan;
  /** Which worker owns which clients. */
  readonly split: readonly AgentShare[];
  /** As workers print `{{run}}`. */
  readonly shortRun: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Rows of CSV files, by the group's name. */
  readonly rows?: Readonly<Record<string, GroupRows>>;
  /** `MAX_JOINED_PAIRS` unless a test wants fewer. */
  readonly maxPairs?: number;
}

/** Pairs judged between two breaths of `join`. */
const PAIRS_A_STEP = 20_000;

/**
 * The two sides of the ledger put together on the controller. Pages come in any order, each counted
 * once; `join` then goes through every pair that the plan entitles to messages, in bounded steps, and
 * gives the rows. What never came, because an agent or worker was lost, is never called a loss.
 */
export class LedgerJoin {
  readonly #plan: LedgerPlan;
  readonly #names: PlanNames;
  readonly #sources: Sources;
  readonly #publishers: PublisherStore;
  readonly #subscribers: SubscriberStore;
  readonly #pairs: PairStore;
  readonly #shares: ShareStore;
  readonly #edges = new Map<number, EdgeBody>();
  #topics: PlanTopics | null = null;
  readonly #tallies: { readonly source: number; readonly body: TalliesBody }[] = [];

  /** @throws SquallError SQ_PLAN where a topic or filter is not a template. */
  constructor({ plan, split, shortRun, secrets, rows = {}, maxPairs }: LedgerJoinOptions) {
    this.#plan = ledgerPlan(plan);
    this.#names = new PlanNames({ plan: this.#plan, shortRun, secrets, rows });
    this.#sources = new Sources(split, plan.groups.length);
    this.#publishers = new PublisherStore(this.#plan);
    this.#subscribers = new SubscriberStore(this.#plan);
    this.#pairs = new PairStore(this.#plan, maxPairs);
    this.#shares = new ShareStore(this.#plan);
  }

  /** Whether everything is here that publishers sent, so that `goal` can be asked for. */
  get allSent(): boolean {
    return this.#sources.allSent;
  }

  /**
   * How many first arrivals (`arrived`) there will be when everything has arrived, or null where only
   * `join` can tell. Yields now and then, like `join`. To be run once, when `allSent`.
   */
  goal(): Generator<void, number | null> {
    return arrivalGoal({
      names: this.#names,
      topics: this.#planTopics(),
      sources: this.#sources,
      publishers: this.#publishers,
      edges: this.#edges,
    });
  }

  /** Whether every worker's ledger is here. */
  get complete(): boolean {
    return this.#sources.allComplete;
  }

  /**
   * Takes a page. One that came before, or of a worker that is not in the split, changes nothing.
   * @throws SquallError SQ_FRAME for a page that names what the plan does not have.
   */
  add(agent: string, page: LedgerPage): void {
    const source = this.#sources.take(agent, page);
    const entry = this.#sources.list[source];
    if (entry === undefined) return;
    switch (page.kind) {
      case 'publishers':
        this.#publishers.add(page, source);
        break;
      case 'edge':
        this.#edges.set(source, page);
        break;
      case 'subscribers':
        this.#subscribers.add(page);
        break;
      case 'shares':
        this.#shares.add(page);
        break;
      case 'pairs':
        if (!this.#pairs.add(page)) entry.full = true;
        break;
      case 'tallies':
        if (page.full) entry.full = true;
        this.#tallies.push({ source, body: page });
    }
  }

  /**
   * Judges all pairs. Yields after some ten thousand of them each, so that the caller can let others
   * run; the last step returns the result. To be run once, when all pages are here or given up.
   */
  *join(): Generator<void, LedgerResult> {
    const rows = new RowBook();
    const judge = new PairJudge({
      names: this.#names,
      topics: this.#planTopics(),
      sources: this.#sources,
      publishers: this.#publishers,
      subscribers: this.#subscribers,
      pairs: this.#pairs.table,
      shares: this.#shares,
      rows,
    });
    let judged = 0;
    for (const pairs of judge.subscribers()) {
      judged += pairs;
      if (judged < PAIRS_A_STEP) continue;
      judged = 0;
      yield;
    }
    for (const pairs of judge.shares()) if (pairs > 0) yield;
    for (const records of judge.rest(PAIRS_A_STEP)) if (records > 0) yield;
    const apart = { unstamped: 0, outside: judge.outside, replayed: 0, untracked: 0 };
    for (const { source, body } of this.#tallies) {
      if (!this.#sources.isComplete(source)) continue;
      this.#tally(body, rows, apart);
      for (const example of body.examples) this.#example(example, source, rows);
    }
    return {
      rows: rows.rows(),
      outside: [...this.#outside(), ...judge.openShares()],
      apart,
      sessionsLost: this.#sessionsLost(),
      perSubscription: rows.perSubscription,
      missing: this.#missing(),
    };
  }

  #tally(body: TalliesBody, rows: RowBook, apart: Record<keyof LedgerResult['apart'], number>) {
    for (const tally of body.tallies) {
      const counted = COUNTED.get(tally.kind);
      if (counted !== undefined) rows.tally(this.#rowOf(tally), counted, tally.count);
      const kept = APART.get(tally.kind);
      if (kept !== undefined) apart[kept] += tally.count;
    }
  }

  #example(example: ArrivalExample, source: number, rows: RowBook): void {
    const { stream, publisher, seq, sentUs, subscriber } = example;
    const group = this.#plan.streams[stream]?.group;
    const sender = group === undefined ? -1 : this.#sources.ownerOf(group, publisher);
    // Of a pair without a verdict nothing is shown; what is corrupted is so whoever sent it.
    const ofPair = stream >= 0 && example.kind !== EXAMPLE_CORRUPTED;
    if (ofPair && !this.#sources.isComplete(sender)) return;
    const clock = this.#sources.list[source]?.clock;
    // The stamp's moment is of the publisher's clock: on another one it cannot be placed.
    const known = clock !== null && clock !== undefined && sentUs >= 0;
    const sameClock = known && this.#sources.list[sender]?.clock?.domain === clock.domain;
    rows.example(rows.nearest(this.#rowOf(example)), EXAMPLE_KINDS[example.kind] ?? '', {
      client: group === undefined ? '' : this.#names.clientId(group, publisher),
      subscriber: this.#names.clientIdOf(subscriber),
      seq,
      sentAtUs: sameClock ? sentUs - clock.startUs : null,
    });
  }

  #rowOf(place: {
    readonly stream: number;
    readonly entry: number;
    readonly stage: number;
  }): RowKey {
    const entry = this.#plan.entries[place.entry]?.spec;
    const stream = this.#plan.streams[place.stream]?.spec;
    return {
      from: stream?.subject ?? UNKNOWN_SENDER,
      to: entry?.subject ?? '',
      qos: Math.min(stream?.qos ?? 2, entry?.qos ?? 0),
      stage: place.stage,
    };
  }

  #outside(): LedgerResult['outside'] {
    return this.#plan.streams.flatMap(({ spec, outside: reason }) =>
      reason === null ? [] : [{ subject: spec.subject, reason }],
    );
  }

  #sessionsLost(): LedgerResult['sessionsLost'] {
    return this.#plan.plan.groups.flatMap(({ name }, group) => {
      const clients = this.#subscribers.column(group).sessionsLost;
      return clients === 0 ? [] : [{ subject: name, clients }];
    });
  }

  /** Made when it is first asked for, since it takes its time. */
  #planTopics(): PlanTopics {
    this.#topics ??= new PlanTopics(this.#names);
    return this.#topics;
  }

  /** Where the plan has nothing to follow, nothing can be missing. */
  #missing(): string[] {
    const { streams, filters } = this.#plan;
    const follows = streams.some(({ outside }) => outside === null);
    if (!follows || filters.flat().length === 0) return [];
    return this.#sources.list.flatMap((source, k) =>
      this.#sources.isComplete(k) ? [] : [`agent ${source.agent}, worker ${source.worker}`],
    );
  }
}
