/** What became of a send, one class each; their sum is the number of sends. */
export const Outcome = {
  stored: 0,
  /** Stored, but the disk did not confirm in time (SYNC_FLUSH). */
  flushDiskTimeout: 1,
  /** Stored on the master; there is no slave, or it is too far behind (SYNC_MASTER). */
  slaveNotAvailable: 2,
  /** Stored on the master; the slave did not confirm in time. */
  flushSlaveTimeout: 3,
  /** Not stored: the broker controls the flow (code 2, and page cache busy). */
  busy: 4,
  /** Not stored: any other answer. */
  refused: 5,
  /** Nobody knows: no answer in time. */
  timedOut: 6,
  /** Nobody knows: the connection was lost before the answer. */
  connectionLost: 7,
} as const;
export type Outcome = (typeof Outcome)[keyof typeof Outcome];

/** Whether the messages are in the broker's log. */
export function isStored(outcome: Outcome): boolean {
  return outcome <= Outcome.flushSlaveTimeout;
}

/** One object serves all settlements: valid during the call only. */
export interface Settlement {
  outcome: Outcome;
  /** The broker's answer; −1 where there was none. */
  responseCode: number;
  /** From a fixed set; empty where the message was stored and confirmed. */
  reason: string;
  brokerName: string;
  /** Of the (first) message; −1 where it was not stored. */
  queueId: number;
  queueOffset: number;
}

export interface ProducerHandlers {
  /** A send is over. `token` is what its sender gave with it. */
  settled(token: number, settlement: Settlement): void;
  /** A message that had to wait for its queue has been written to the socket (`ordered` only). */
  handedOver?(token: number): void;
  /** A connection to a broker of the topic can be used (again). */
  connected?(address: string): void;
  /** A connection was lost, or could not be made; the next attempt is made by itself. */
  disconnected?(
    address: string,
    loss: { readonly reason: string; readonly wasOpen: boolean },
  ): void;
  /** The queues of the topic are others than before. */
  queuesChanged?(queues: number): void;
  /** The route could not be renewed; the last one stays in force. */
  routeFailed?(reason: string): void;
}
