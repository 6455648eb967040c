// Data path: one slot taken and freed a request.
import { element } from '../codec/bytes.ts';
import type { FrameView } from '../codec/frame-framer.ts';
import type { HeaderScan } from '../codec/header-scan.ts';

/** An answer in place: valid during the call only. */
export interface Answer {
  /** Code, opaque, flag, and fields on demand. */
  readonly head: HeaderScan;
  /** The whole frame; its body is `bytes[bodyAt]` up to `bytes[end - 1]`. */
  readonly frame: FrameView;
}

/** Why there will be no answer: nothing came in time, or the connection was lost first. */
export type NoAnswer = 'timed out' | 'connection lost';

/** Who waits; one object for many requests, which `token` tells apart. */
export interface AnswerHandler {
  answered(token: number, answer: Answer): void;
  unanswered(token: number, why: NoAnswer): void;
}

/** Opaques are positive Java ints: 2^31 makes a broker close the connection. */
const OPAQUE_LIMIT = 2 ** 31;
const FREE = -1;

/**
 * The requests of one connection that wait for their answer. An opaque is a slot's index with the
 * slot's count of uses above it: the answer finds its slot without a look-up, and an answer that
 * comes a second time, or after its time-out, finds that its slot means somebody else.
 */
export class WaitingRequests {
  readonly #capacity: number;
  readonly #opaques: Int32Array;
  readonly #tokens: Int32Array;
  readonly #deadlinesUs: Float64Array;
  readonly #handlers: (AnswerHandler | null)[];
  /** Indexes of free slots, as a stack. */
  readonly #free: Int32Array;
  #freeCount: number;
  readonly #uses: Int32Array;
  /** Nobody's time is over before this, µs. */
  #earliestUs = Number.POSITIVE_INFINITY;

  /** @throws RangeError where `capacity` is no power of two */
  constructor(capacity: number) {
    if (capacity < 1 || (capacity & (capacity - 1)) !== 0) {
      throw new RangeError(`${capacity} requests at a time: it must be a power of two`);
    }
    this.#capacity = capacity;
    this.#opaques = new Int32Array(capacity).fill(FREE);
    this.#tokens = new Int32Array(capacity);
    this.#deadlinesUs = new Float64Array(capacity);
    this.#handlers = Array.from({ length: capacity }, () => null);
    this.#free = Int32Array.from({ length: capacity }, (_, i) => capacity - 1 - i);
    this.#freeCount = capacity;
    this.#uses = new Int32Array(capacity);
  }

  get count(): number {
    return this.#capacity - this.#freeCount;
  }

  get isFull(): boolean {
    return this.#freeCount === 0;
  }

  /** Takes a slot, of which there must be one, and gives the opaque of its request. */
  add(handler: AnswerHandler, token: number, deadlineUs: number): number {
    this.#freeCount -= 1;
    const slot = element(this.#free, this.#freeCount);
    const uses = element(this.#uses, slot);
    const next = (uses + 1) * this.#capacity;
    this.#uses[slot] = next + slot >= OPAQUE_LIMIT ? 0 : uses + 1;
    const opaque = uses * this.#capacity + slot;
    this.#opaques[slot] = opaque;
    this.#tokens[slot] = token;
    this.#deadlinesUs[slot] = deadlineUs;
    this.#handlers[slot] = handler;
    if (deadlineUs < this.#earliestUs) this.#earliestUs = deadlineUs;
    return opaque;
  }

  /** Hands an answer to whoever waits for it. False: nobody does. */
  settle(opaque: number, answer: Answer): boolean {
    const slot = opaque & (this.#capacity - 1);
    if (opaque < 0 || element(this.#opaques, slot) !== opaque) return false;
    const handler = this.#release(slot);
    handler?.answered(element(this.#tokens, slot), answer);
    return true;
  }

  /** Gives up on those whose time is over; gives how many. */
  expire(nowUs: number): number {
    if (nowUs < this.#earliestUs) return 0;
    let expired = 0;
    this.#earliestUs = Number.POSITIVE_INFINITY;
    for (let slot = 0; slot < this.#capacity; slot += 1) {
      if (element(this.#opaques, slot) === FREE) continue;
      const deadlineUs = element(this.#deadlinesUs, slot);
      if (deadlineUs > nowUs) {
        if (deadlineUs < this.#earliestUs) this.#earliestUs = deadlineUs;
        continue;
      }
      // Whoever hears of it may send again, and has its own deadline then.
      this.#release(slot)?.unanswered(element(this.#tokens, slot), 'timed out');
      expired += 1;
    }
    return expired;
  }

  /** The connection is lost: nobody gets an answer any more. */
  abandon(): void {
    for (let slot = 0; slot < this.#capacity; slot += 1) {
      if (element(this.#opaques, slot) === FREE) continue;
      this.#release(slot)?.unanswered(element(this.#tokens, slot), 'connection lost');
    }
  }

  #release(slot: number): AnswerHandler | null {
    const handler = this.#handlers[slot] ?? null;
    this.#opaques[slot] = FREE;
    this.#handlers[slot] = null;
    this.#free[this.#freeCount] = slot;
    this.#freeCount += 1;
    return handler;
  }
}
