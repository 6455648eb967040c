// Data path: one look-up and one bit for each message that comes through a shared subscription.
import { at } from './element.ts';
import { MAX_SHARED_WORDS } from './limits.ts';
import type { StreamPlace } from './page.ts';

/** A new message, one that had come already, and one for which there is no place. */
const SHARE_NEW = 0;
export const SHARE_AGAIN = 1;
export const SHARE_FULL = 2;

/** Numbers that the first words of a publisher hold. */
const FIRST_WORDS = 4;

/** What came of one stream in one stage to the members of one share, by publisher. */
export class ShareColumn {
  readonly place: StreamPlace;
  /** A bit a message, by publisher. */
  readonly bits: (Uint32Array | undefined)[] = [];
  /** Messages that came again to members here, by publisher: only where there are some. */
  readonly again = new Map<number, number>();

  constructor(place: StreamPlace) {
    this.place = place;
  }
}

/**
 * What arrived through shared subscriptions. Who of the members gets which message is the broker's
 * choice, so gaps say nothing, and each message is a bit instead: all members in a worker set it
 * in one place, and the workers' bits are put together on the controller.
 */
export class ShareTable {
  readonly columns: ShareColumn[] = [];
  readonly #limit: number;
  readonly #places = new Map<number, number>();
  readonly #stages: number;
  readonly #streams: number;
  #words = 0;
  #lastKey = -1;
  #last: ShareColumn | null = null;

  constructor(
    size: { readonly stages: number; readonly streams: number },
    limit = MAX_SHARED_WORDS,
  ) {
    this.#stages = size.stages;
    this.#streams = size.streams;
    this.#limit = limit;
  }

  /** Memory of all bits. */
  get bytes(): number {
    return this.#words * 4;
  }

  column(place: StreamPlace): ShareColumn {
    const key = (place.receiver * this.#streams + place.stream) * this.#stages + place.stage;
    const last = this.#last;
    if (key === this.#lastKey && last !== null) return last;
    const column = this.#columnOf(key, place);
    this.#lastKey = key;
    this.#last = column;
    return column;
  }

  /** Notes one message and gives what it was, one of the constants above. */
  arrive(column: ShareColumn, publisher: number, seq: number): number {
    const place = seq >>> 5;
    let words = column.bits[publisher];
    if (words === undefined || place >= words.length) {
      const grown = this.#grow(words, place);
      if (grown === null) return SHARE_FULL;
      words = grown;
      column.bits[publisher] = grown;
    }
    const bit = 1 << (seq & 31);
    const before = at(words, place);
    if ((before & bit) !== 0) {
      column.again.set(publisher, (column.again.get(publisher) ?? 0) + 1);
      return SHARE_AGAIN;
    }
    words[place] = before | bit;
    return SHARE_NEW;
  }

  #columnOf(key: number, { receiver, stream, stage }: StreamPlace): ShareColumn {
    const known = this.columns[this.#places.get(key) ?? -1];
    if (known !== undefined) return known;
    const made = new ShareColumn({ receiver, stream, stage });
    this.#places.set(key, this.columns.length);
    this.columns.push(made);
    return made;
  }

  #grow(words: Uint32Array | undefined, place: number): Uint32Array | null {
    const before = words?.length ?? 0;
    const length = Math.max(FIRST_WORDS, before * 2, place + 1);
    if (this.#words - before + length > this.#limit) return null;
    this.#words += length - before;
    const grown = new Uint32Array(length);
    if (words !== undefined) grown.set(words);
    return grown;
  }
}
