// Data path
import { at } from './element.ts';
import { MAX_GAPS_A_PAIR, MAX_PAIRS } from './limits.ts';
import { RangeLists } from './range-lists.ts';

const FIRST_CAPACITY = 256;

/** The message had not come before. */
export const ARRIVED_FIRST = 0;
/** It has come before. */
export const ARRIVED_AGAIN = 1;
/** There is no place to follow its publisher. */
export const ARRIVED_UNTRACKED = 2;

/**
 * Which messages of one run came to a receiver that stands outside it, by the numbers in their stamps:
 * those of a publisher in a stream and stage count from 0 without a gap. What lies below the highest
 * number that came and did not come itself is missing; what was sent after that cannot be known here.
 */
export class ArrivalBook {
  /** Came for the first time. */
  unique = 0;
  /** Came again. */
  duplicated = 0;
  /** Of publishers that there was no place to follow. */
  untracked = 0;
  /**
   * Gaps that are not kept any more, since there were too many: what comes late from one of them is
   * taken for a duplicate, and stays lost.
   */
  forgotten = 0;
  /** By stream and stage: publishers and their places. */
  readonly #places = new Map<number, Map<number, number>>();
  readonly #missing: RangeLists;
  readonly #maxPairs: number;
  #pairs = 0;
  /** All numbers below the highest that came, the highest included, over all publishers. */
  #span = 0;
  /** By place: one beyond the highest number that came, and the list of those missing below it. */
  #next = new Uint32Array(FIRST_CAPACITY);
  #heads = new Uint32Array(FIRST_CAPACITY);
  /** And how many gaps are in it. */
  #gaps = new Uint32Array(FIRST_CAPACITY);

  constructor({ maxPairs = MAX_PAIRS, maxGaps }: { maxPairs?: number; maxGaps?: number } = {}) {
    this.#maxPairs = maxPairs;
    this.#missing = new RangeLists(maxGaps);
  }

  /** Publishers, counted once for each of their streams and stages. */
  get pairs(): number {
    return this.#pairs;
  }

  /** Missing below the highest number of its publisher that came: lost, or still under way. */
  get lost(): number {
    return this.#span - this.unique;
  }

  /** Takes a message by its stamp: stream, stage, publisher and number. */
  take(stamp: {
    readonly subject: number;
    readonly stage: number;
    readonly publisher: number;
    readonly seq: number;
  }): number {
    const place = this.#place(stamp.subject * 256 + stamp.stage, stamp.publisher);
    if (place < 0) {
      this.untracked += 1;
      return ARRIVED_UNTRACKED;
    }
    return this.#isFirst(place, stamp.seq) ? ARRIVED_FIRST : ARRIVED_AGAIN;
  }

  #isFirst(place: number, seq: number): boolean {
    const next = at(this.#next, place);
    if (seq >= next) {
      if (seq > next) this.#miss(place, next, seq);
      this.#span += seq + 1 - next;
      this.#next[place] = seq + 1;
      this.unique += 1;
      return true;
    }
    const missing = this.#missing;
    this.#heads[place] = missing.take(at(this.#heads, place), seq);
    this.#gaps[place] = at(this.#gaps, place) + missing.grown;
    if (missing.closedBelow > 0) this.forgotten += 1;
    if (missing.found) this.unique += 1;
    else this.duplicated += 1;
    return missing.found;
  }

  #miss(place: number, from: number, to: number): void {
    const missing = this.#missing;
    this.#heads[place] = missing.push(at(this.#heads, place), from, to);
    const gaps = at(this.#gaps, place) + missing.grown;
    this.#gaps[place] = gaps;
    if (missing.refused) this.forgotten += 1;
    if (gaps <= MAX_GAPS_A_PAIR) return;
    // Looking a number up must not take longer and longer: the oldest half goes.
    missing.cut(at(this.#heads, place), MAX_GAPS_A_PAIR / 2);
    this.#gaps[place] = MAX_GAPS_A_PAIR / 2;
    this.forgotten += gaps - MAX_GAPS_A_PAIR / 2;
  }

  #place(stream: number, publisher: number): number {
    let own = this.#places.get(stream);
    if (own === undefined) {
      own = new Map();
      this.#places.set(stream, own);
    }
    const known = own.get(publisher);
    if (known !== undefined) return known;
    if (this.#pairs >= this.#maxPairs) return -1;
    const place = this.#pairs++;
    if (place >= this.#next.length) this.#grow();
    own.set(publisher, place);
    return place;
  }

  #grow(): void {
    this.#next = doubled(this.#next);
    this.#heads = doubled(this.#heads);
    this.#gaps = doubled(this.#gaps);
  }
}

function doubled(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const wider = new Uint32Array(array.length * 2);
  wider.set(array);
  return wider;
}
