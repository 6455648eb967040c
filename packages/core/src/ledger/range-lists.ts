// Data path: what is missing or open is looked up once a gap, not once a message.
import { at } from './element.ts';
import { MAX_RANGES } from './limits.ts';

const STRIDE = 4;
const FROM = 0;
const TO = 1;
const NEXT = 2;
const FLAG = 3;
const FIRST_CAPACITY = 64;

/**
 * Many lists of half-open ranges of sequence numbers in one typed array. A list is known by its head
 * (0 is the empty one), which the owner keeps; its ranges are disjoint and *fall*: the highest comes
 * first, since what is looked for is nearly always recent. Memory is given back to the other lists.
 *
 * An operation that changes a list gives its new head and leaves the rest in `found`, `grown`,
 * `refused` and `closedBelow`: results of more than one number without an object.
 */
export class RangeLists {
  /** The number that was asked for was in the list. */
  found = false;
  /** How many ranges the last operation added; negative where it took some away. */
  grown = 0;
  /** There was no place for another range. */
  refused = false;
  /** `take` found no place for the lower half of a range: the list now ends here. 0 otherwise. */
  closedBelow = 0;

  readonly #limit: number;
  #words = new Uint32Array(FIRST_CAPACITY * STRIDE);
  /** Nodes are numbered from 1; node 0 is never used. */
  #used = 1;
  #free = 0;
  #live = 0;

  constructor(limit: number = MAX_RANGES) {
    this.#limit = limit;
  }

  /** Ranges in all lists. */
  get live(): number {
    return this.#live;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  from(node: number): number {
    return at(this.#words, node * STRIDE + FROM);
  }

  /** One beyond the last number of the range. */
  to(node: number): number {
    return at(this.#words, node * STRIDE + TO);
  }

  /** The next lower range of the list, or 0. */
  next(node: number): number {
    return at(this.#words, node * STRIDE + NEXT);
  }

  flag(node: number): number {
    return at(this.#words, node * STRIDE + FLAG);
  }

  /** Of the range at the head of a list, after `push`. */
  setFlag(node: number, flag: number): void {
    this.#words[node * STRIDE + FLAG] = flag;
  }

  /** Puts `[from, to)` before the list, all of which lies below it. */
  push(head: number, from: number, to: number): number {
    this.#begin();
    const node = this.#take();
    if (node === 0) return head;
    this.#words[node * STRIDE + FROM] = from;
    this.#words[node * STRIDE + TO] = to;
    this.#words[node * STRIDE + NEXT] = head;
    this.#words[node * STRIDE + FLAG] = 0;
    this.grown = 1;
    return node;
  }

  /** Takes one number out of the list; `found` says whether it was there. */
  take(head: number, seq: number): number {
    this.#begin();
    let before = 0;
    let node = head;
    while (node !== 0 && this.from(node) > seq) {
      before = node;
      node = this.next(node);
    }
    if (node === 0 || seq >= this.to(node)) return head;
    this.found = true;
    const from = this.from(node);
    const to = this.to(node);
    if (to - from === 1) return this.#remove(head, before, node);
    if (seq === from) this.#words[node * STRIDE + FROM] = seq + 1;
    else if (seq === to - 1) this.#words[node * STRIDE + TO] = seq;
    else this.#split(node, seq);
    return head;
  }

  /** Adds one number that is not in the list, joining ranges that touch. */
  add(head: number, seq: number): number {
    this.#begin();
    let before = 0;
    let node = head;
    while (node !== 0 && this.from(node) > seq) {
      before = node;
      node = this.next(node);
    }
    if (node !== 0 && seq < this.to(node)) return head;
    const above = before !== 0 && this.from(before) === seq + 1;
    const below = node !== 0 && this.to(node) === seq;
    if (above && below) {
      this.#words[before * STRIDE + FROM] = this.from(node);
      return this.#remove(head, before, node);
    }
    if (above) this.#words[before * STRIDE + FROM] = seq;
    else if (below) this.#words[node * STRIDE + TO] = seq + 1;
    else return this.#insert(head, before, seq);
    return head;
  }

  /**
   * Keeps the highest `keep` ranges (≥ 1) of a list and gives the number below which nothing is
   * listed any more: one beyond the highest number of the ranges that went.
   */
  cut(head: number, keep: number): number {
    this.#begin();
    let last = head;
    for (let k = 1; k < keep && last !== 0; k++) last = this.next(last);
    const first = last === 0 ? 0 : this.next(last);
    if (first === 0) return 0;
    const below = this.to(first);
    this.#words[last * STRIDE + NEXT] = 0;
    this.#freeFrom(first);
    return below;
  }

  /** Gives back a whole list. */
  drop(head: number): void {
    this.#begin();
    this.#freeFrom(head);
  }

  #begin(): void {
    this.found = false;
    this.grown = 0;
    this.refused = false;
    this.closedBelow = 0;
  }

  #insert(head: number, before: number, seq: number): number {
    const next = before === 0 ? head : this.next(before);
    const node = this.push(next, seq, seq + 1);
    if (this.refused) return head;
    if (before === 0) return node;
    this.#words[before * STRIDE + NEXT] = node;
    return head;
  }

  /** Takes `seq` out of the middle of a range: the lower half becomes a range of its own. */
  #split(node: number, seq: number): void {
    const lower = this.#take();
    if (lower === 0) {
      const lost = this.next(node);
      this.#words[node * STRIDE + NEXT] = 0;
      this.#words[node * STRIDE + FROM] = seq + 1;
      this.#freeFrom(lost);
      this.closedBelow = seq;
      return;
    }
    this.#words[lower * STRIDE + FROM] = this.from(node);
    this.#words[lower * STRIDE + TO] = seq;
    this.#words[lower * STRIDE + NEXT] = this.next(node);
    this.#words[lower * STRIDE + FLAG] = this.flag(node);
    this.#words[node * STRIDE + FROM] = seq + 1;
    this.#words[node * STRIDE + NEXT] = lower;
    this.grown = 1;
  }

  #remove(head: number, before: number, node: number): number {
    const next = this.next(node);
    this.#words[node * STRIDE + NEXT] = this.#free;
    this.#free = node;
    this.#live -= 1;
    this.grown = -1;
    if (before === 0) return next;
    this.#words[before * STRIDE + NEXT] = next;
    return head;
  }

  #freeFrom(first: number): void {
    let node = first;
    while (node !== 0) {
      const next = this.next(node);
      this.#words[node * STRIDE + NEXT] = this.#free;
      this.#free = node;
      this.#live -= 1;
      this.grown -= 1;
      node = next;
    }
  }

  /** A node without content, or 0 where the limit is reached. */
  #take(): number {
    if (this.#free !== 0) {
      const node = this.#free;
      this.#free = this.next(node);
      this.#live += 1;
      return node;
    }
    if (this.#live >= this.#limit) {
      this.refused = true;
      return 0;
    }
    if ((this.#used + 1) * STRIDE > this.#words.length) this.#grow();
    this.#live += 1;
    this.#used += 1;
    return this.#used - 1;
  }

  #grow(): void {
    const most = (this.#limit + 1) * STRIDE;
    const grown = new Uint32Array(Math.min(this.#words.length * 2, most));
    grown.set(this.#words);
    this.#words = grown;
  }
}
