/** Who of several consumers reads which queue. */
export type QueueSharing =
  /** A member of the group: queues are shared out among all members, wherever they run. */
  | { readonly by: 'group' }
  /** Every member reads every queue; offsets stay with the member. */
  | { readonly by: 'broadcast' }
  /** Reader `index` of `count`: every `count`-th queue, without registering anywhere. */
  | { readonly by: 'turn'; readonly index: number; readonly count: number };

export type MessageFilter =
  /** `*`, `TagA`, `TagA || TagB` */
  | { readonly type: 'TAG'; readonly expression: string }
  /** Wants `enablePropertyFilter=true` on the broker. */
  | { readonly type: 'SQL92'; readonly expression: string };

/** Where a group begins that has no committed offset. */
export type StartFrom =
  | { readonly at: 'first' }
  | { readonly at: 'last' }
  /** Messages stored at that time (broker's clock, ms of the epoch) or later. */
  | { readonly at: 'timestamp'; readonly timestampMs: number }
  /** The same offset in every queue. */
  | { readonly at: 'offset'; readonly offset: number };

export interface ConsumerOptions {
  readonly topic: string;
  readonly group: string;
  /** [group] */
  readonly sharing?: QueueSharing;
  /** [every message] */
  readonly filter?: MessageFilter;
  /** [last] */
  readonly from?: StartFrom;
  /** Begin at `from` even where the group has committed offsets [false]. */
  readonly ignoreCommitted?: boolean;
  /** Queues are locked, so that nobody else reads them [false]. */
  readonly ordered?: boolean;
  /** Messages of one answer; brokers give 32 at most unless told otherwise [32]. */
  readonly pullMax?: number;
  /** How long a broker may hold a pull that finds nothing [15,000]; brokers look every 5 s. */
  readonly suspendMs?: number;
  readonly commitEveryMs?: number;
  /** Deliveries of a message that failed, before it goes to the dead-letter topic [16]. */
  readonly retries?: number;
  /** Of its own for every member; made up if not given. */
  readonly clientId?: string;
}

export const PULL_MAX = 32;
export const SUSPEND_MS = 15_000;
/** What a held pull may take beyond its time. */
export const SUSPEND_SLACK_MS = 15_000;
export const COMMIT_EVERY_MS = 5_000;
export const RETRIES = 16;
export const EVERY_MESSAGE: MessageFilter = { type: 'TAG', expression: '*' };
