/**
 * What became of the messages of one publish stream at one group of subscribers, for one stage.
 * Counts are of messages × subscribers. Always: `expected = unique + lost` and `received = unique +
 * duplicated + unresolvedArrived + unexpected + foreign + corrupted`.
 */
export interface LedgerRow {
  /** Subject of the publish stream; `UNKNOWN_SENDER` where messages do not say. */
  readonly from: string;
  /** Subject of the subscribe entry. */
  readonly to: string;
  /** min(publish QoS, granted QoS). */
  readonly qos: number;
  /** Index of the stage in which the messages were due. */
  readonly stage: number;
  /** Pairs of a publishing and a subscribing client. */
  readonly pairs: number;
  readonly expected: number;
  readonly received: number;
  readonly unique: number;
  readonly lost: number;
  /** Of the lost: those that fell into a time in which the subscriber had no connection. */
  readonly lostDisconnected: number;
  readonly duplicated: number;
  /** Copies through further matching subscriptions, which MQTT allows; in no other figure. */
  readonly copies: number;
  readonly reordered: number;
  readonly corrupted: number;
  /** Of this run, but on no subscription that was granted, or with a number that was never given. */
  readonly unexpected: number;
  readonly foreign: number;
  /** Sent and never acknowledged: may have arrived or not, and is not expected. */
  readonly unresolved: number;
  readonly unresolvedArrived: number;
  /** Messages of pairs that cannot be judged; `unverifiableFrom` says whose fault it is. */
  readonly unverifiable: number;
  readonly unverifiablePairs: number;
  readonly unverifiableFrom: readonly string[];
  /** Pairs with more gaps than were kept: their figures are bounds. */
  readonly inexactPairs: number;
  /** Pairs that subscribed while their publisher was at it and got nothing: nobody can say why. */
  readonly undecidedPairs: number;
  readonly examples: Readonly<Record<string, readonly LedgerExample[]>>;
}

export const UNKNOWN_SENDER = '(unknown)';

/** One message that a reader can look for in the broker's log. */
export interface LedgerExample {
  /** Client id of the publisher; empty where it is not known. */
  readonly client: string;
  readonly subscriber: string;
  /** Number of the message among those of its client, stream and stage, from 0. */
  readonly seq: number;
  /** µs on the run's timeline; null where nobody knows. */
  readonly sentAtUs: number | null;
  readonly while?: 'disconnected';
}

/** What the ledger found. */
export interface LedgerResult {
  readonly rows: readonly LedgerRow[];
  /** Streams that are in no row, and why. */
  readonly outside: readonly { readonly subject: string; readonly reason: string }[];
  /** Messages received that no row counts. */
  readonly apart: {
    /** Without a stamp, where the plan has such streams. */
    readonly unstamped: number;
    /** Of streams outside the ledger, or through shared subscriptions. */
    readonly outside: number;
    /** Retained copies of what had come already. */
    readonly replayed: number;
    /** Of pairs for which a worker had no place. */
    readonly untracked: number;
  };
  /** Whether the brokers sent one copy for each matching subscription; null where none overlapped. */
  readonly perSubscription: boolean | null;
  /** Workers whose ledger did not come, or not whole: `agent a, worker 0`. */
  readonly missing: readonly string[];
}
