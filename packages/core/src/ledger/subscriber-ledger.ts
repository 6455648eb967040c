import type { LedgerPlan } from './ledger-plan.ts';
import { MAX_PAIRS } from './limits.ts';
import { PairTable } from './pair-table.ts';
import { SubscriberBook } from './subscriber-book.ts';
import { ArrivalExamples, Tallies } from './tallies.ts';

export interface SubscriberLedgerOptions {
  readonly plan: LedgerPlan;
  /** `runHash` of the run: messages of other runs are foreign. */
  readonly runHash: number;
  /** The worker's moment: `[0]` is raw µs of the host's monotonic clock. */
  readonly moment: Float64Array;
  /** `MAX_PAIRS` unless a test wants fewer. */
  readonly maxPairs?: number;
}

/**
 * The receiving side of one worker's ledger: one table of pairs for all its subscribers, at most
 * `MAX_PAIRS` of them. Pairs beyond are counted as `untracked` and make the ledger inconclusive.
 */
export class SubscriberLedger {
  readonly plan: LedgerPlan;
  readonly runHash: number;
  readonly moment: Float64Array;
  readonly stages: number;
  /** Clients of each stream's group, by the stream's number. */
  readonly publishers: Uint32Array;
  /** 1 for streams outside the ledger. */
  readonly outside: Uint8Array;
  /** Whether a message without a stamp may be of the plan. */
  readonly someUnstamped: boolean;
  readonly pairs: PairTable;
  readonly tallies: Tallies;
  readonly examples: ArrivalExamples;
  readonly books: SubscriberBook[] = [];

  constructor(options: SubscriberLedgerOptions) {
    const { plan, maxPairs = MAX_PAIRS } = options;
    this.plan = plan;
    this.runHash = options.runHash;
    this.moment = options.moment;
    this.stages = plan.plan.stages.length;
    this.publishers = Uint32Array.from(
      plan.streams,
      ({ group }) => plan.plan.groups[group]?.clients ?? 0,
    );
    this.outside = Uint8Array.from(plan.streams, ({ outside }) => (outside === null ? 0 : 1));
    this.someUnstamped = plan.streams.some(({ spec }) => !spec.verify);
    this.pairs = new PairTable(maxPairs);
    this.tallies = new Tallies({
      stages: this.stages,
      streams: plan.streams.length,
      entries: plan.entries.length,
    });
    this.examples = new ArrivalExamples(plan.streams.length);
  }

  /** Opens the book of a subscribing group; `numbers` gives the client of each position. */
  book(group: number, numbers: Uint32Array): SubscriberBook {
    const book = new SubscriberBook(this, group, numbers);
    this.books.push(book);
    return book;
  }
}
