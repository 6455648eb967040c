// Data path: one `handed` a message.
import { at } from './element.ts';
import { MAX_MARKS, MAX_UNRESOLVED_A_PUBLISHER } from './limits.ts';
import { RangeLists } from './range-lists.ts';

export interface PublisherBookOptions {
  /** Number of the stream in the plan. */
  readonly stream: number;
  readonly stage: number;
  /** Position → client index in the group. */
  readonly numbers: Uint32Array;
}

/** The publishing side of one worker's ledger: a book for each stream in each stage. */
export class PublisherLedger {
  readonly moment: Float64Array;
  readonly unresolved: RangeLists;
  readonly books: PublisherBook[] = [];

  constructor(moment: Float64Array, unresolved: RangeLists = new RangeLists()) {
    this.moment = moment;
    this.unresolved = unresolved;
  }

  book(options: PublisherBookOptions): PublisherBook {
    const book = new PublisherBook(this, options);
    this.books.push(book);
    return book;
  }
}

/**
 * What the clients of one stream sent in one stage. Messages of a client are numbered from 0 without
 * a gap as they are handed to the socket, so the count alone says which was the last one.
 *
 * Every message handed over counts as delivered to the broker, unless it is said to be *unresolved*:
 * at QoS 1 and 2 one that got no acknowledgement, or a refusal, at QoS 0 one that was not all in the kernel when the
 * connection went. Such a message may arrive or not, and nobody can be blamed for either.
 */
export class PublisherBook {
  readonly stream: number;
  readonly stage: number;
  readonly numbers: Uint32Array;
  /** Messages handed over, by position: the next number. */
  readonly handedOf: Uint32Array;
  /** When the first one was handed over, raw µs. */
  readonly firstUs: Float64Array;
  /** When the last one was, raw µs. */
  readonly lastUs: Float64Array;
  /** Head of the unresolved numbers of a position, in the ledger's `unresolved`. */
  readonly heads: Uint32Array;
  readonly marksUs: number[] = [];
  /** `handedOf` at each mark. */
  readonly marks: Uint32Array[] = [];

  readonly #ledger: PublisherLedger;
  /** Ranges in the list of a position. */
  readonly #ranges: Uint16Array;
  /** Unresolved messages for which there was no place, by position. */
  readonly #unlisted = new Map<number, number>();
  /** Messages that the broker refused, by position. */
  readonly #refused = new Map<number, number>();

  constructor(ledger: PublisherLedger, { stream, stage, numbers }: PublisherBookOptions) {
    this.#ledger = ledger;
    this.stream = stream;
    this.stage = stage;
    this.numbers = numbers;
    this.handedOf = new Uint32Array(numbers.length);
    this.firstUs = new Float64Array(numbers.length);
    this.lastUs = new Float64Array(numbers.length);
    this.heads = new Uint32Array(numbers.length);
    this.#ranges = new Uint16Array(numbers.length);
  }

  /** Gives the number of a client's next message, for its stamp. */
  nextOf(position: number): number {
    return at(this.handedOf, position);
  }

  /** The message with the number `nextOf` was handed to the socket, at the worker's moment. */
  handed(position: number): void {
    const seq = at(this.handedOf, position);
    const nowUs = at(this.#ledger.moment, 0);
    if (seq === 0) this.firstUs[position] = nowUs;
    this.lastUs[position] = nowUs;
    this.handedOf[position] = seq + 1;
  }

  /** What becomes of a message will never be known. */
  unresolved(position: number, seq: number): void {
    const { unresolved } = this.#ledger;
    const ranges = at(this.#ranges, position);
    if (ranges < MAX_UNRESOLVED_A_PUBLISHER) {
      this.heads[position] = unresolved.add(at(this.heads, position), seq);
      this.#ranges[position] = ranges + unresolved.grown;
      if (!unresolved.refused) return;
    }
    this.#unlisted.set(position, this.unlistedOf(position) + 1);
  }

  /** The broker said that it does not take the message: like above, but it is known why. */
  refused(position: number, seq: number): void {
    this.#refused.set(position, this.refusedOf(position) + 1);
    this.unresolved(position, seq);
  }

  /** The last `count` messages of a client are unresolved: those that its socket had not taken. */
  unresolvedTail(position: number, count: number): void {
    const next = at(this.handedOf, position);
    for (let seq = next - count; seq < next; seq++) this.unresolved(position, seq);
  }

  /** Messages of a client that the broker refused: so many of the unresolved. */
  refusedOf(position: number): number {
    return this.#refused.get(position) ?? 0;
  }

  /** Unresolved messages of a client that no range names: its figures cannot be verified. */
  unlistedOf(position: number): number {
    return this.#unlisted.get(position) ?? 0;
  }

  /**
   * Notes where every client is now. Done when a stage's clock starts, so that subscribers of its
   * prologue can be told what they must have got of streams that were running all the time. Further
   * marks than `MAX_MARKS` are left out, which makes nothing wrong, only less sharp.
   */
  mark(): void {
    if (this.marks.length >= MAX_MARKS) return;
    this.marksUs.push(at(this.#ledger.moment, 0));
    this.marks.push(this.handedOf.slice());
  }
}
