/** What a sender gives; one object may serve all messages, since everything is copied. */
export interface ProducerMessage {
  /** The body is `body[bodyAt]` up to `body[bodyEnd - 1]`. */
  body: Buffer;
  bodyAt: number;
  bodyEnd: number;
  /** Properties of this message alone, as `encodeProperties` writes them; empty: none. */
  properties: string;
  /** Decides of the queue where queues are chosen by key. */
  key: string;
  /** The sender's wall clock; a record's born time. */
  bornAtMs: number;
}

/** What came of handing a message over. */
export const Sent = {
  /** On its way; `settled` will be called. */
  accepted: 0,
  /** One-way: on its way, and nothing will be heard of it. */
  unacknowledged: 1,
  /** No broker of the topic (or not that of the queue) is connected. */
  notConnected: 2,
  /** Too many requests wait for their answers. */
  full: 3,
} as const;
export type Sent = (typeof Sent)[keyof typeof Sent];
