/**
 * The way of the frames from agents to the controller. Every bus (the agent's own link, Redis
 * Streams) keeps the same promises, shown by one conformance suite:
 *
 * - frames of an (agent, epoch) arrive in order of their sequence, each at least once;
 * - a frame stays with the sender until the controller's checkpoint acknowledged it;
 * - the sender has at most one batch in flight and stops at the first error;
 * - delivering never blocks the caller.
 */
export interface BusSender {
  /**
   * Sends the frames in order, in one batch. Resolves with the highest sequence that the bus took;
   * rejects when it is not known what was taken. The caller then sends the same frames again.
   */
  send(frames: readonly EncodedFrame[]): Promise<number>;
  /** Called with each checkpoint: everything up to `seq` of this epoch may be forgotten. */
  onAcknowledged(listener: (seq: number) => void): void;
  close(): Promise<void>;
}

/** A frame as it travels: attempted once, it never changes. */
export interface EncodedFrame {
  readonly seqFrom: number;
  readonly seqTo: number;
  readonly bytes: Uint8Array;
}

/** Controller side. */
export interface BusReceiver {
  /** Called for every frame that arrives, duplicates included: folding once is the reader's part. */
  onFrame(listener: (frame: ReceivedFrame) => void): void;
  /** Tells the agent that everything up to `seq` is in a checkpoint. */
  acknowledge(agent: string, epoch: number, seq: number): Promise<void>;
  close(): Promise<void>;
}

export interface ReceivedFrame {
  readonly agent: string;
  readonly bytes: Uint8Array;
}
