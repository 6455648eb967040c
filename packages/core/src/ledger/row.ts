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
  /** Of the lost: those around which the broker lost a session that it should have kept. */
  readonly lostSession: number;
  /** Not arrived, and possibly expired while the subscriber was away; in no other figure. */
  readonly expired: number;
  readonly duplicated: number;
  /** Copies through further matching subscriptions, which MQTT allows; in no other figure. */
  readonly copies: number;
  readonly reordered: number;
  readonly corrupted: number;
  /** Of all arrivals: on another topic than that of their publisher. */
  readonly wrongTopic: number;
  /** Of all arrivals: by another QoS than the row's. */
  readonly wrongQos: number;
  /** Of this run, but on no subscription that was granted, or with a number that was never given. */
  readonly unexpected: number;
  readonly foreign: number;
  /** Copies that the broker kept for new subscriptions, of what had come already included. */
  readonly retained: number;
  /** Of the arrivals: sent while the subscriber was away, and delivered to its resumed session. */
  readonly queued: number;
  /** Sent and never acknowledged: may have arrived or not, and is not expected. */
  readonly unresolved: number;
  readonly unresolvedArrived: number;
  /** Of the unresolved: refused by the broker. */
  readonly refused: number;
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

/** Figures of a row that count messages: those of several stages add up. All of them at 0. */
const NO_FIGURES = {
  expected: 0,
  received: 0,
  unique: 0,
  lost: 0,
  lostDisconnected: 0,
  lostSession: 0,
  expired: 0,
  duplicated: 0,
  copies: 0,
  reordered: 0,
  corrupted: 0,
  wrongTopic: 0,
  wrongQos: 0,
  unexpected: 0,
  foreign: 0,
  retained: 0,
  queued: 0,
  unresolved: 0,
  unresolvedArrived: 0,
  refused: 0,
  unverifiable: 0,
};

export type LedgerFigure = keyof typeof NO_FIGURES;

/** Each figure of messages as `valueOf` gives it. */
export function ledgerFigures(
  valueOf: (figure: LedgerFigure) => number,
): Record<LedgerFigure, number> {
  const figures = { ...NO_FIGURES };
  for (const figure of Object.keys(figures)) {
    if (isFigure(figure)) figures[figure] = valueOf(figure);
  }
  return figures;
}

function isFigure(name: string): name is LedgerFigure {
  return Object.hasOwn(NO_FIGURES, name);
}

export const UNKNOWN_SENDER = '(unknown)';

/** One message that a reader can look for in the broker's log. */
export interface LedgerExample {
  /** Client id of the publisher; empty where it is not known. */
  readonly client: string;
  readonly subscriber: string;
  /** Number of the message among those of its client, stream and stage, from 0. */
  readonly seq: number;
  /**
   * µs on the run's timeline; null where nobody knows. Of a message that never came it is read off its
   * number, between the first and the last message of its publisher.
   */
  readonly sentAtUs: number | null;
  readonly while?: 'disconnected' | 'session lost';
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
  /** Sessions that brokers should have kept and did not, by the group of their clients. */
  readonly sessionsLost: readonly { readonly subject: string; readonly clients: number }[];
  /** Whether the brokers sent one copy for each matching subscription; null where none overlapped. */
  readonly perSubscription: boolean | null;
  /** Workers whose ledger did not come, or not whole: `agent a, worker 0`. */
  readonly missing: readonly string[];
}
