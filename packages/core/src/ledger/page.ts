/**
 * The end of a worker's ledger as it travels to the controller: pages, inside frames, so that they
 * are kept, numbered, sent again and counted once like every other measurement.
 *
 * Rows are flat lists of whole numbers. Moments are raw µs of the clock that the page names.
 */
export type LedgerPage = PageHead & PageBody;

interface PageHead {
  /** Index of the worker in its agent. */
  readonly worker: number;
  /** Number of the page among the worker's, from 0. */
  readonly page: number;
  /** The worker's last page: with all before it, its ledger is complete. */
  readonly last: boolean;
  readonly clock: PageClock;
}

/** Which clock a worker's moments are of. */
export interface PageClock {
  /** `clockDomainHash`: equal domains compare raw. */
  readonly domain: number;
  /** When the run began, on this clock. */
  readonly startUs: number;
}

export type PageBody =
  | PublishersBody
  | EdgeBody
  | SubscribersBody
  | PairsBody
  | SharesBody
  | TalliesBody;

/** What clients of one stream sent in one stage. */
export interface PublishersBody {
  readonly kind: 'publishers';
  readonly stream: number;
  readonly stage: number;
  readonly marksUs: readonly number[];
  /**
   * A client: client, handed, moments of the first and the last message, unlisted unresolved, how many
   * of the unresolved the broker refused, its number at each mark, count of unresolved ranges, then
   * `from, length` of each, falling.
   */
  readonly rows: readonly number[];
}

/**
 * Follows the publishers of a worker, when nothing is sent any more: with it they are all there, and
 * the end of a run need not wait longer than for what is on its way.
 */
export interface EdgeBody {
  readonly kind: 'edge';
  /** A stream in a stage: stream, stage, moment of the first message of all. */
  readonly firsts: readonly number[];
  /**
   * A filter of a group: group, filter, clients that have held it without a break, moment of the
   * last grant of all.
   */
  readonly held: readonly number[];
}

/** What clients of one group were granted. */
export interface SubscribersBody {
  readonly kind: 'subscribers';
  readonly group: number;
  /** Filters a client: of the whole group. */
  readonly filters: number;
  /** Sessions that the broker should have kept and did not. */
  readonly sessionsLost: number;
  /**
   * A client: client, lost connections, whether its session was lost, its longest time without
   * connection in ms, then `state, since` of each filter.
   */
  readonly rows: readonly number[];
}

/** What came to subscribers, by pair. */
export interface PairsBody {
  readonly kind: 'pairs';
  /**
   * A pair: subscriber, stream, stage, publisher, next, detail. With detail 0 all numbers below
   * `next` came once and in order; with 1 there follow unique, duplicates, reordered, lowest + 1,
   * horizon, state (1 ambiguous, and 2 × the flags of what is missing after the last message), count
   * of gaps, then `from, length · 8 + flags` of each, falling.
   */
  readonly rows: readonly number[];
}

/** Which share a column is of, and of which stream in which stage. */
export interface StreamPlace {
  /** Number of the share in its worker. */
  readonly receiver: number;
  readonly stream: number;
  readonly stage: number;
}

/** What came to the members of one share in one worker. */
export interface SharesBody extends Omit<StreamPlace, 'receiver'> {
  readonly kind: 'shares';
  /** The share as a filter: `$share/name/filter`. */
  readonly share: string;
  /**
   * A publisher: publisher, messages that came again, the first word, count of numbers that follow,
   * then the bits of its messages, 32 a word, in runs: `n · 4` for n words of zeros, `n · 4 + 1` for n
   * words of ones, `n · 4 + 2` and n words as they are.
   */
  readonly rows: readonly number[];
}

/** What was counted apart from pairs, and single messages to look at. */
export interface TalliesBody {
  readonly kind: 'tallies';
  /** The table of pairs was full at some time: pairs that are not named may have got messages. */
  readonly full: boolean;
  readonly tallies: readonly Tally[];
  readonly examples: readonly ArrivalExample[];
}

/** Numbers before the variable part of a row. */
export const PUBLISHER_FIELDS = 6;
export const SUBSCRIBER_FIELDS = 4;
export const FIRST_FIELDS = 3;
export const HELD_FIELDS = 4;
export const SHARE_FIELDS = 4;
export const PAIR_FIELDS = 6;
/** Numbers of the detail of a pair, its gaps not counted. */
export const PAIR_DETAILS = 7;

export const PAIR_AMBIGUOUS = 1;
/** Gap flags of the tail stand above the bit before. */
export const PAIR_TAIL_SHIFT = 1;

/** Forms of a run of words in a share. */
export const RUN_ZEROS = 0;
export const RUN_ONES = 1;
export const RUN_WORDS = 2;

/** What was counted apart from the pairs, in the order of their numbers. */
export const TALLY_KINDS = [
  /** The stamp's checksum does not fit. */
  'corrupted',
  /** No stamp of this run, on a filter of this plan. */
  'foreign',
  /** No stamp, where the plan has streams without one: nobody can say whose it was. */
  'unstamped',
  /** Of a stream that is outside the ledger. */
  'outside',
  /** A retained copy of a message that had come already. */
  'replayed',
  /** Of a pair for which the table had no place. */
  'untracked',
  /** A retained copy of a message that had not come. */
  'retained',
  /** Sent before the connection on which it came, which resumed its session. */
  'queued',
  /** On another topic than its publisher's. */
  'wrongTopic',
  /** By another QoS than the lower one of what was published and what was granted. */
  'wrongQos',
  /** A retained copy for one who asked for none. */
  'unasked',
] as const;

/** How many messages were counted under a key. */
export interface Tally {
  /** Index in `TALLY_KINDS`. */
  readonly kind: number;
  /** Number of the subscribe entry in the plan. */
  readonly entry: number;
  readonly stage: number;
  /** Number of the publish stream in the plan, -1 where it is not known. */
  readonly stream: number;
  readonly count: number;
}

/** Kinds of which single messages are kept when they arrive, in the order of their numbers. */
export const EXAMPLE_KINDS = [
  'corrupted',
  'foreign',
  'duplicated',
  'reordered',
  'wrongTopic',
  'wrongQos',
  'unexpected',
] as const;

/** A single message that is worth a look. Numbers as in `PairKey`. */
export interface ArrivalExample {
  /** Index in `EXAMPLE_KINDS`. */
  readonly kind: number;
  readonly entry: number;
  readonly stage: number;
  /** -1 where it is not known; publisher and seq are then 0. */
  readonly stream: number;
  readonly subscriber: number;
  readonly publisher: number;
  readonly seq: number;
  /** Raw µs of the publisher's clock as its stamp says; -1 where it is not known. */
  readonly sentUs: number;
}
