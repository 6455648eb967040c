import type { MessageProperties } from '../codec/message-properties.ts';
import type { Serialization } from '../codec/command.ts';

/** How a message's queue is chosen; brokers are never asked to choose (4.7–4.9.1 choose wrong). */
export type QueueChoice =
  | { readonly by: 'turn' }
  /** By the message's key, as `SelectMessageQueueByHash` does: one key, one queue. */
  | { readonly by: 'key' }
  /** Always this one; on every broker of the route in turn where `brokerName` is null. */
  | { readonly by: 'number'; readonly queueId: number; readonly brokerName: string | null };

export interface ProducerOptions {
  readonly topic: string;
  /** Any name; producers need no registration unless they use transactions. */
  readonly group: string;
  /** [by turn] */
  readonly queues?: QueueChoice;
  /** The same for every message: tags, user properties, WAIT. */
  readonly properties?: MessageProperties;
  /** Level 1 to 18 (1 s to 2 h) after which the message is delivered. */
  readonly delayLevel?: number;
  /** A message id by us in every message [true]; 5.x makes one itself where it is missing. */
  readonly uniqueKeys?: boolean;
  /** Bodies of so many bytes and more are compressed (zlib, level 5) [none]. */
  readonly compressFromBytes?: number;
  /** No answer, no acknowledgement: such messages are never counted as stored [false]. */
  readonly oneWay?: boolean;
  /** One message at a time on a queue, so that its order is that of sending [false]. */
  readonly ordered?: boolean;
  /** Messages that may wait for their queue to be free, where `ordered` [4096]. */
  readonly waitingMax?: number;
  /** Of a send [3,000, as official clients]. */
  readonly timeoutMs?: number;
  /** How headers are written [JSON]. */
  readonly serialization?: Serialization;
  /** Half messages, and what becomes of them. */
  readonly transactions?: TransactionOptions;
  /** Where the walk over queues begins [at random]. */
  readonly firstQueue?: number;
}

export type TransactionState = 'commit' | 'rollback' | 'unknown';

export interface TransactionOptions {
  /** Decides of a half message that was stored. */
  decide(token: number): TransactionState;
  /** Decides of one that the broker asks about; `times` counts from 1. */
  decideAgain(messageId: string, times: number): TransactionState;
}

export const SEND_TIMEOUT_MS = 3_000;
export const WAITING_MAX = 4096;
