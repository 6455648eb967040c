import { at } from './element.ts';
import type { FiltersOf } from './filter-rules.ts';
import type { LedgerPlan } from './ledger-plan.ts';
import { MAX_PAIRS } from './limits.ts';
import { PairTable } from './pair-table.ts';
import { ShareTable } from './share-table.ts';
import { SubscriberBook } from './subscriber-book.ts';
import { ArrivalExamples, Tallies } from './tallies.ts';
import type { TopicTurns } from './topic-turns.ts';
import { KnownTopics, type TopicOf } from './known-topics.ts';

export interface SubscriberLedgerOptions {
  readonly plan: LedgerPlan;
  /** `runHash` of the run: messages of other runs are foreign. */
  readonly runHash: number;
  /** The worker's moment: `[0]` is raw µs of the host's monotonic clock. */
  readonly moment: Float64Array;
  /** `clockDomainHash` of the host. */
  readonly clockDomain: number;
  readonly topicOf: TopicOf;
  /** `MAX_PAIRS` unless a test wants fewer. */
  readonly maxPairs?: number;
  /** `MAX_SHARED_WORDS` unless a test wants fewer. */
  readonly maxSharedWords?: number;
}

/**
 * The receiving side of one worker's ledger: one table of pairs for all its subscribers, at most
 * `MAX_PAIRS` of them. Pairs beyond are counted as `untracked` and make the ledger inconclusive.
 */
export class SubscriberLedger {
  readonly plan: LedgerPlan;
  readonly runHash: number;
  readonly moment: Float64Array;
  readonly clockDomain: number;
  readonly stages: number;
  /** Clients of each stream's group. */
  readonly publishers: Uint32Array;
  /** The same by the number that stands in stamps. */
  readonly stampedClients: Uint32Array;
  /** Of the first part of a stream, by the number that stands in stamps. */
  readonly firstParts: Uint32Array;
  /** By the number in stamps: which message goes to which part. Null where one number is all there is. */
  readonly turns: readonly (TopicTurns | null)[] | null;
  /** 1 for streams outside the ledger. */
  readonly outside: Uint8Array;
  /** After how long the messages of a stream may expire, µs; 0: never. */
  readonly expiryUs: Float64Array;
  /** QoS of each stream. */
  readonly qos: Uint8Array;
  /** Whether a message without a stamp may be of the plan. */
  readonly someUnstamped: boolean;
  readonly topics: KnownTopics;
  readonly pairs: PairTable;
  readonly shares: ShareTable;
  /** Shares of this worker, by their number: `$share/name/filter`. */
  readonly shareNames: string[] = [];
  readonly tallies: Tallies;
  readonly examples: ArrivalExamples;
  readonly books: SubscriberBook[] = [];
  readonly #shareNumbers = new Map<string, number>();

  constructor(options: SubscriberLedgerOptions) {
    const { plan, maxPairs = MAX_PAIRS, maxSharedWords } = options;
    const { groups, stages } = plan.plan;
    const size = { stages: stages.length, streams: plan.streams.length };
    this.plan = plan;
    this.runHash = options.runHash;
    this.moment = options.moment;
    this.clockDomain = options.clockDomain;
    this.stages = stages.length;
    this.publishers = Uint32Array.from(plan.streams, ({ group }) => groups[group]?.clients ?? 0);
    this.firstParts = Uint32Array.from(plan.stamped, ([part]) => part?.index ?? 0);
    this.stampedClients = this.firstParts.map((part) => at(this.publishers, part));
    const turns = plan.stamped.map(([part]) => part?.turns ?? null);
    this.turns = turns.every((each) => each === null) ? null : turns;
    this.outside = Uint8Array.from(plan.streams, ({ outside }) => (outside === null ? 0 : 1));
    this.expiryUs = Float64Array.from(plan.streams, ({ spec }) => (spec.expiryS ?? 0) * 1_000_000);
    this.qos = Uint8Array.from(plan.streams, ({ spec }) => spec.qos);
    this.someUnstamped = plan.streams.some(({ spec }) => !spec.verify);
    this.topics = new KnownTopics(plan, options.topicOf);
    this.pairs = new PairTable(maxPairs);
    this.shares = new ShareTable(size, maxSharedWords);
    this.tallies = new Tallies({ ...size, entries: plan.entries.length });
    this.examples = new ArrivalExamples(plan.streams.length);
  }

  /** Opens the book of a subscribing group; `numbers` gives the client of each position. */
  book(group: number, numbers: Uint32Array, filtersOf: FiltersOf): SubscriberBook {
    const book = new SubscriberBook(this, { group, numbers, filtersOf });
    this.books.push(book);
    return book;
  }

  /** The number of a share in this worker, by `$share/name/filter`. */
  share(name: string): number {
    const known = this.#shareNumbers.get(name);
    if (known !== undefined) return known;
    const number = this.shareNames.length;
    this.shareNames.push(name);
    this.#shareNumbers.set(name, number);
    return number;
  }

  /** The QoS of a stream's messages. */
  qosOf(stream: number): number {
    return at(this.qos, stream);
  }
}
