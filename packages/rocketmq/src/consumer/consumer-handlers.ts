import type { RecordReader } from '../codec/record-reader.ts';
import type { TopicQueue } from '../route/topic-queues.ts';

/** What a consumer was doing when something failed. */
export type ConsumerActivity =
  | 'pull'
  | 'rebalance'
  | 'heartbeat'
  | 'commit'
  | 'send back'
  | 'route';

export interface ConsumerHandlers {
  /**
   * A message, in place: valid during the call only. False: consuming it failed; it is sent back, and
   * comes again from the group's retry topic.
   */
  received(record: RecordReader, queue: TopicQueue): boolean;
  /** The queues that are read from now on. */
  assigned?(queues: readonly TopicQueue[]): void;
  /** Something went wrong and will be tried again; `reason` comes from a fixed set. */
  failed?(during: ConsumerActivity, reason: string): void;
  connected?(address: string): void;
  disconnected?(
    address: string,
    loss: { readonly reason: string; readonly wasOpen: boolean },
  ): void;
}

/** What a consumer has seen, since its start. */
export interface ConsumerCounts {
  messages: number;
  /** Bytes of message bodies, as stored. */
  bodyBytes: number;
  pulls: number;
  /** Pulls that brought nothing. */
  emptyPulls: number;
  /** Offsets that were skipped, or given again: only where nothing is filtered. */
  gaps: number;
  repeats: number;
  /** Times that the broker moved us to another offset. */
  offsetsMoved: number;
  /** Messages whose tag has the hash of one that is wanted, and is another. */
  otherTags: number;
  sentBack: number;
  sendBacksFailed: number;
  /** Answers that came while paused; their messages come again. */
  discarded: number;
}

export function newConsumerCounts(): ConsumerCounts {
  return {
    messages: 0,
    bodyBytes: 0,
    pulls: 0,
    emptyPulls: 0,
    gaps: 0,
    repeats: 0,
    offsetsMoved: 0,
    otherTags: 0,
    sentBack: 0,
    sendBacksFailed: 0,
    discarded: 0,
  };
}
