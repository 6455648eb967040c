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
   * Sends the frames in order, in one batch. Resolves with the sequence up to which the bus now has
   * everything; what is behind it is offered again. A bus that lost what it had taken before says so
   * by a sequence below the batch's own. Rejects when it is not known what was taken; the caller then
   * sends the same frames again.
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

/** Controller side, of one run. */
export interface BusReceiver {
  /** Called for every frame that arrives, duplicates included: folding once is the reader's part. */
  onFrame(listener: (frame: ReceivedFrame) => void): void;
  /** Tells the agent that everything up to `seq` is in a checkpoint. */
  acknowledge(agent: string, epoch: number, seq: number): Promise<void>;
  /** The run is over: nothing is delivered any more, and nothing of it stays on the bus. */
  close(): Promise<void>;
}

export interface ReceivedFrame {
  readonly agent: string;
  readonly bytes: Uint8Array;
}
