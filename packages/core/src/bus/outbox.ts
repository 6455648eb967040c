import { encodeFrame } from '../metrics/frame-codec.ts';
import type { Frame } from '../metrics/frame.ts';
import { coarsenFrames } from '../metrics/merge.ts';
import type { EncodedFrame } from './bus.ts';

/** Frames that an agent holds at most: two minutes of seconds before the resolution gets coarser. */
export const OUTBOX_LIMIT = 120;

/** Frames and bytes of one batch; a single frame may be longer. */
export const MAX_BATCH_FRAMES = 16;
export const MAX_BATCH_BYTES = 4 * 1024 * 1024;

export type Batch = readonly EncodedFrame[];

/** A frame in the outbox. From the first attempt on it has its bytes and never changes again. */
interface Entry {
  readonly frame: Frame;
  bytes: Uint8Array | null;
}

/**
 * The frames of one epoch between the load and the bus. It never blocks and never grows beyond its
 * limit: when it is full, two neighbours that were never sent become one of coarser time. It holds a
 * frame until the controller's checkpoint acknowledges it, and at most one batch is in flight.
 *
 * Pure: the agent's main process takes a batch, gives it to a `BusSender` and tells the outcome.
 *
 *   takeBatch → taken(batch, seq)   the bus has everything up to `seq`, and nothing behind it
 *             → failed(batch)       not known: the same frames are offered again
 *   acknowledge(seq)                in the controller's checkpoint: forgotten
 *   rewind()                        the link is new, or the bus lost its data: all is offered again
 *
 * The outcome of a batch that a rewind overtook says nothing any more and is ignored.
 */
export class Outbox {
  readonly #limit: number;
  #entries: Entry[] = [];
  /** Sequence of the last frame appended. */
  #lastSeq = 0;
  /** The bus has everything up to here. */
  #takenSeq = 0;
  #acknowledgedSeq = 0;
  #inFlight: Batch | null = null;
  #coarsened = 0;
  #failures = 0;

  /** @throws RangeError for a limit below 4: less leaves no pair to make coarser. */
  constructor(limit: number = OUTBOX_LIMIT) {
    if (!Number.isInteger(limit) || limit < 4) throw new RangeError('an outbox holds 4 at least');
    this.#limit = limit;
  }

  /**
   * Takes the next frame; encoding waits until it is sent.
   * @throws RangeError where its sequence does not follow the last one's.
   */
  append(frame: Frame): void {
    if (frame.seqFrom !== this.#lastSeq + 1) {
      throw new RangeError(`frame ${frame.seqFrom} does not follow frame ${this.#lastSeq}`);
    }
    if (this.#entries.length >= this.#limit) this.#coarsen();
    this.#entries.push({ frame, bytes: null });
    this.#lastSeq = frame.seqTo;
  }

  /** The next batch in order, or null: nothing to send, a batch in flight, or too much unconfirmed. */
  takeBatch(): Batch | null {
    if (this.#inFlight !== null) return null;
    const batch: EncodedFrame[] = [];
    let bytes = 0;
    for (const [place, entry] of this.#entries.entries()) {
      const { seqFrom, seqTo } = entry.frame;
      if (seqTo <= this.#takenSeq) continue;
      // Attempted frames cannot be made coarser: two places always stay for those that can.
      if (place >= this.#limit - 2 && entry.bytes === null) break;
      if (batch.length > 0 && (batch.length >= MAX_BATCH_FRAMES || bytes >= MAX_BATCH_BYTES)) break;
      entry.bytes ??= encodeFrame(entry.frame);
      bytes += entry.bytes.length;
      batch.push({ seqFrom, seqTo, bytes: entry.bytes });
    }
    if (batch.length === 0) return null;
    this.#inFlight = batch;
    return batch;
  }

  /**
   * The bus has everything up to `seq`; what is behind it is offered again. Below the batch's first
   * frame it says that the bus has lost what it took before.
   */
  taken(batch: Batch, seq: number): void {
    if (batch !== this.#inFlight) return;
    this.#takenSeq = Math.max(this.#acknowledgedSeq, Math.min(seq, batch.at(-1)?.seqTo ?? 0));
    this.#inFlight = null;
  }

  /** What the bus took of the batch is not known: the same frames are offered again. */
  failed(batch: Batch): void {
    if (batch !== this.#inFlight) return;
    this.#failures++;
    this.#inFlight = null;
  }

  /** Everything up to `seq` is in the controller's checkpoint. May come early, late and repeatedly. */
  acknowledge(seq: number): void {
    const known = Math.min(seq, this.#lastSeq);
    if (known <= this.#acknowledgedSeq) return;
    this.#acknowledgedSeq = known;
    this.#takenSeq = Math.max(this.#takenSeq, known);
    this.#entries = this.#entries.filter((entry) => entry.frame.seqTo > known);
  }

  /** Offers everything unacknowledged again, in order: after a reconnect, or a bus without its data. */
  rewind(): void {
    this.#takenSeq = this.#acknowledgedSeq;
    this.#inFlight = null;
  }

  /** Frames held now. */
  get size(): number {
    return this.#entries.length;
  }

  /** Whether every frame appended so far is acknowledged. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Whether a batch is in flight. */
  get isSending(): boolean {
    return this.#inFlight !== null;
  }

  /** Sequence of the last frame appended, 0 before the first. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  get acknowledgedSeq(): number {
    return this.#acknowledgedSeq;
  }

  /** How many times two frames became one. */
  get coarsened(): number {
    return this.#coarsened;
  }

  /** Batches whose outcome was not known. */
  get failures(): number {
    return this.#failures;
  }

  /** Joins the pair of never-attempted neighbours that covers least, the oldest of equals. */
  #coarsen(): void {
    let best = -1;
    let leastCovered = Infinity;
    for (let at = 0; at + 1 < this.#entries.length; at++) {
      const [first, second] = [this.#entries[at], this.#entries[at + 1]];
      if (first === undefined || second === undefined) break;
      if (first.bytes !== null || second.bytes !== null) continue;
      // A page of the ledger is as long as a frame should be; two would be too long for one.
      if (first.frame.pages !== undefined || second.frame.pages !== undefined) continue;
      const covered = second.frame.seqTo - first.frame.seqFrom;
      if (covered >= leastCovered) continue;
      leastCovered = covered;
      best = at;
    }
    const [first, second] = [this.#entries[best], this.#entries[best + 1]];
    if (first === undefined || second === undefined) return;
    const joined = { frame: coarsenFrames(first.frame, second.frame), bytes: null };
    this.#entries.splice(best, 2, joined);
    this.#coarsened++;
  }
}
