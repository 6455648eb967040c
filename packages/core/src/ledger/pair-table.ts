// Data path: one look-up and one update for each message received.
import { at } from './element.ts';
import { hashWords } from './hash-words.ts';
import { MAX_GAPS_A_PAIR, MAX_PAIRS } from './limits.ts';
import { RangeLists } from './range-lists.ts';

/** Words of one record, and what stands in them. */
const STRIDE = 12;
const SUBSCRIBER = 0;
const STREAM = 1;
const PUBLISHER = 2;
const NEXT = 3;
const UNIQUE = 4;
const DUPLICATES = 5;
const REORDERED = 6;
const LOWEST = 7;
const HORIZON = 8;
const GAPS = 9;
const GAP_COUNT = 10;
const STATE = 11;

/** In `STATE`: connections that the subscriber had lost when the pair's last message came. */
const LOSSES_MASK = 0xffff;
const AMBIGUOUS_BIT = 1 << 16;
const VISITED_BIT = 1 << 17;
const COUNTED_BIT = 1 << 18;
/** QoS by which messages may come, the lowest and the highest, of two bits each. */
const LOW_QOS_SHIFT = 19;
const HIGH_QOS_SHIFT = 21;
const QOS_BITS = (15 << LOW_QOS_SHIFT) >>> 0;

const CHUNK_BITS = 12;
const CHUNK_RECORDS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_RECORDS - 1;
const FIRST_SLOTS = 1024;
/** Records moved into a grown index with each new record: it is whole long before it is full. */
const MOVED_A_RECORD = 2;

/** What a message was to its pair. */
export const ARRIVED_NEW = 0;
/** New, but one with a higher number had come before it. */
export const ARRIVED_LATE = 1;
export const ARRIVED_AGAIN = 2;
/** A retained copy of a message that had come before: the broker's habit, not a duplicate. */
export const ARRIVED_REPLAY = 3;

/** Bits of `RangeLists.flag`: what befell the subscriber between the messages around a gap. */
export const GAP_DISCONNECTED = 1;
/** The broker lost its session. */
export const GAP_SESSION_LOST = 2;
/** It was away for so long that messages may have expired. */
export const GAP_EXPIRED = 4;
export const GAP_FLAGS = 8;

/** Who published what to whom: the key of a pair. */
export interface PairKey {
  /** Number of the subscribing client in the whole plan. */
  subscriber: number;
  /** Index of the publish stream in the whole plan, below 65,536, and perhaps an entry: `pair-stream.ts`. */
  stream: number;
  stage: number;
  /** Client index in the publishing group. */
  publisher: number;
}

/** How a message came. */
export interface Receipt {
  /** Connections that the subscriber has lost so far, at most 65,535. */
  losses: number;
  /** Flags of the gap, should there be one before this message. */
  absence: number;
  /** A copy that the broker kept for new subscriptions, which says nothing about order. */
  retained: boolean;
}

/**
 * What arrived, by pair: an open-addressing table over records of 48 bytes. Records lie in chunks
 * that are never copied; the index alone doubles, and its entries move a few at a time, so that no
 * message ever waits for a rebuild.
 *
 * A pair remembers the next number that it expects and its gaps; everything below and in no gap has
 * arrived. Gaps beyond `MAX_GAPS_A_PAIR` are *closed*, the oldest first: their sizes stay in the
 * sums, but a message from below the pair's horizon can no longer be told from a duplicate, which
 * marks the pair as ambiguous.
 */
export class PairTable {
  readonly gaps: RangeLists;
  readonly #limit: number;
  readonly #chunks: Uint32Array[] = [];
  /** Record + 1 by hash; 0 is free. Its length is a power of two. */
  #slots = new Uint32Array(FIRST_SLOTS);
  /** The index before the last growth; whole until every record of that time was moved. */
  #oldSlots: Uint32Array | null = null;
  #moved = 0;
  #toMove = 0;
  #count = 0;
  #peakBytes = 0;

  constructor(limit: number = MAX_PAIRS, gaps: RangeLists = new RangeLists()) {
    this.#limit = limit;
    this.gaps = gaps;
  }

  get count(): number {
    return this.#count;
  }

  /** Memory of all arrays now. */
  get bytes(): number {
    const chunks = this.#chunks.length * CHUNK_RECORDS * STRIDE * 4;
    const old = this.#oldSlots?.byteLength ?? 0;
    return chunks + this.#slots.byteLength + old + this.gaps.bytes;
  }

  /** The most memory that its arrays ever had. */
  get peakBytes(): number {
    return Math.max(this.#peakBytes, this.bytes);
  }

  /** The record of a pair, or -1. */
  find(key: PairKey): number {
    const hash = hashOf(key);
    const found = this.#search(this.#slots, hash, key);
    if (found >= 0 || this.#oldSlots === null) return found;
    return this.#search(this.#oldSlots, hash, key);
  }

  /** The record of a pair, made where there is none; -1 where the table is full. */
  open(key: PairKey): number {
    const known = this.find(key);
    if (known >= 0) return known;
    if (this.#count >= this.#limit) return -1;
    const record = this.#count;
    if ((record & CHUNK_MASK) === 0) {
      this.#chunks.push(new Uint32Array(CHUNK_RECORDS * STRIDE));
    }
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    chunk[base + SUBSCRIBER] = key.subscriber;
    chunk[base + STREAM] = (key.stream << 8) | key.stage;
    chunk[base + PUBLISHER] = key.publisher;
    this.#count += 1;
    this.#index(record, hashOf(key));
    return record;
  }

  /**
   * Books a message of a pair and gives what it was to it, one of the constants above. The caller
   * keeps `seq` below 2³² − 1.
   */
  arrive(record: number, seq: number, receipt: Receipt): number {
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    const next = at(chunk, base + NEXT);
    if (!receipt.retained) noteLowest(chunk, base, seq);
    if (seq < next) return this.#arriveBelow(record, seq, receipt.retained);
    if (seq > next) this.#openGap(record, seq, receipt.absence);
    const state = at(chunk, base + STATE);
    chunk[base + STATE] = (state & ~LOSSES_MASK) | receipt.losses;
    chunk[base + NEXT] = seq + 1;
    chunk[base + UNIQUE] = at(chunk, base + UNIQUE) + 1;
    return ARRIVED_NEW;
  }

  subscriberOf(record: number): number {
    return this.#word(record, SUBSCRIBER);
  }

  streamOf(record: number): number {
    return this.#word(record, STREAM) >>> 8;
  }

  stageOf(record: number): number {
    return this.#word(record, STREAM) & 0xff;
  }

  publisherOf(record: number): number {
    return this.#word(record, PUBLISHER);
  }

  /** One beyond the highest number that came. */
  nextOf(record: number): number {
    return this.#word(record, NEXT);
  }

  /** Different messages that came. */
  uniqueOf(record: number): number {
    return this.#word(record, UNIQUE);
  }

  duplicatesOf(record: number): number {
    return this.#word(record, DUPLICATES);
  }

  reorderedOf(record: number): number {
    return this.#word(record, REORDERED);
  }

  /** The lowest number that came other than as a retained copy; -1 where none did. */
  lowestOf(record: number): number {
    return this.#word(record, LOWEST) - 1;
  }

  /** No gap below this number is listed. */
  horizonOf(record: number): number {
    return this.#word(record, HORIZON);
  }

  /** Head of the pair's gaps in `gaps`. */
  gapsOf(record: number): number {
    return this.#word(record, GAPS);
  }

  gapCountOf(record: number): number {
    return this.#word(record, GAP_COUNT);
  }

  lossesOf(record: number): number {
    return this.#word(record, STATE) & LOSSES_MASK;
  }

  /** A message came from below the horizon: it may be one of the missing, or one that came again. */
  isAmbiguous(record: number): boolean {
    return (this.#word(record, STATE) & AMBIGUOUS_BIT) !== 0;
  }

  /** Says of a new record that its arrivals are among those that the end of a run waits for. */
  setCounted(record: number): void {
    const base = (record & CHUNK_MASK) * STRIDE;
    const chunk = this.#chunk(record);
    chunk[base + STATE] = at(chunk, base + STATE) | COUNTED_BIT;
  }

  /** Says of a new record by which QoS its messages must come. */
  setQos(record: number, low: number, high: number): void {
    const base = (record & CHUNK_MASK) * STRIDE;
    const chunk = this.#chunk(record);
    const others = at(chunk, base + STATE) & ~QOS_BITS;
    chunk[base + STATE] = others | (low << LOW_QOS_SHIFT) | (high << HIGH_QOS_SHIFT);
  }

  allowsQos(record: number, qos: number): boolean {
    const state = this.#word(record, STATE);
    return qos >= ((state >>> LOW_QOS_SHIFT) & 3) && qos <= ((state >>> HIGH_QOS_SHIFT) & 3);
  }

  isCounted(record: number): boolean {
    return (this.#word(record, STATE) & COUNTED_BIT) !== 0;
  }

  /** Marks a record, for one who joins tables and looks for what is left. */
  visit(record: number): void {
    const base = (record & CHUNK_MASK) * STRIDE;
    const chunk = this.#chunk(record);
    chunk[base + STATE] = at(chunk, base + STATE) | VISITED_BIT;
  }

  isVisited(record: number): boolean {
    return (this.#word(record, STATE) & VISITED_BIT) !== 0;
  }

  /** Fills a record that `open` just made with figures from elsewhere; its gaps are pushed apart. */
  load(record: number, figures: PairFigures): void {
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    chunk[base + NEXT] = figures.next;
    chunk[base + UNIQUE] = figures.unique;
    chunk[base + DUPLICATES] = figures.duplicates;
    chunk[base + REORDERED] = figures.reordered;
    chunk[base + LOWEST] = figures.lowest + 1;
    chunk[base + HORIZON] = figures.horizon;
    chunk[base + STATE] = figures.losses | (figures.ambiguous ? AMBIGUOUS_BIT : 0);
  }

  /** Puts a gap on top of a loaded record's gaps, the lowest first. */
  loadGap(record: number, gap: { from: number; to: number; flag: number }): void {
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    const head = this.gaps.push(at(chunk, base + GAPS), gap.from, gap.to);
    if (this.gaps.refused) {
      this.#close(chunk, base, gap.to);
      return;
    }
    this.gaps.setFlag(head, gap.flag);
    chunk[base + GAPS] = head;
    chunk[base + GAP_COUNT] = at(chunk, base + GAP_COUNT) + 1;
  }

  #arriveBelow(record: number, seq: number, retained: boolean): number {
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    const { gaps } = this;
    chunk[base + GAPS] = gaps.take(at(chunk, base + GAPS), seq);
    if (!gaps.found) {
      if (retained) return ARRIVED_REPLAY;
      chunk[base + DUPLICATES] = at(chunk, base + DUPLICATES) + 1;
      if (seq < at(chunk, base + HORIZON)) {
        chunk[base + STATE] = at(chunk, base + STATE) | AMBIGUOUS_BIT;
      }
      return ARRIVED_AGAIN;
    }
    if (gaps.closedBelow !== 0) chunk[base + HORIZON] = gaps.closedBelow;
    chunk[base + GAP_COUNT] = at(chunk, base + GAP_COUNT) + gaps.grown;
    chunk[base + UNIQUE] = at(chunk, base + UNIQUE) + 1;
    if (retained) return ARRIVED_NEW;
    chunk[base + REORDERED] = at(chunk, base + REORDERED) + 1;
    return ARRIVED_LATE;
  }

  /** Everything from the number that was expected up to `seq` is missing. */
  #openGap(record: number, seq: number, absence: number): void {
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    const { gaps } = this;
    const head = gaps.push(at(chunk, base + GAPS), at(chunk, base + NEXT), seq);
    if (gaps.refused) {
      this.#close(chunk, base, seq);
      return;
    }
    gaps.setFlag(head, absence);
    chunk[base + GAPS] = head;
    const count = at(chunk, base + GAP_COUNT) + 1;
    chunk[base + GAP_COUNT] = count;
    if (count <= MAX_GAPS_A_PAIR) return;
    chunk[base + HORIZON] = gaps.cut(head, MAX_GAPS_A_PAIR >>> 1);
    chunk[base + GAP_COUNT] = count + gaps.grown;
  }

  /** There is no place for a gap: the pair gives up all that it lists. */
  #close(chunk: Uint32Array, base: number, below: number): void {
    this.gaps.drop(at(chunk, base + GAPS));
    chunk[base + GAPS] = 0;
    chunk[base + GAP_COUNT] = 0;
    chunk[base + HORIZON] = below;
  }

  #search(slots: Uint32Array, hash: number, key: PairKey): number {
    const mask = slots.length - 1;
    const stream = (key.stream << 8) | key.stage;
    let slot = hash & mask;
    let entry = at(slots, slot);
    while (entry !== 0) {
      const chunk = this.#chunk(entry - 1);
      const base = ((entry - 1) & CHUNK_MASK) * STRIDE;
      if (
        at(chunk, base + PUBLISHER) === key.publisher &&
        at(chunk, base + SUBSCRIBER) === key.subscriber &&
        at(chunk, base + STREAM) === stream
      ) {
        return entry - 1;
      }
      slot = (slot + 1) & mask;
      entry = at(slots, slot);
    }
    return -1;
  }

  #index(record: number, hash: number): void {
    if (this.#count * 4 > this.#slots.length * 3) this.#grow(record);
    place(this.#slots, record, hash);
    this.#moveSome();
  }

  #grow(records: number): void {
    // The index before is whole by now: two records were moved for each one that came since.
    this.#oldSlots = this.#slots;
    this.#slots = new Uint32Array(this.#slots.length * 2);
    this.#moved = 0;
    this.#toMove = records;
    this.#peakBytes = Math.max(this.#peakBytes, this.bytes);
  }

  #moveSome(): void {
    if (this.#oldSlots === null) return;
    const until = Math.min(this.#toMove, this.#moved + MOVED_A_RECORD);
    for (let record = this.#moved; record < until; record++) {
      place(this.#slots, record, this.#hashOfRecord(record));
    }
    this.#moved = until;
    if (until === this.#toMove) this.#oldSlots = null;
  }

  #hashOfRecord(record: number): number {
    const chunk = this.#chunk(record);
    const base = (record & CHUNK_MASK) * STRIDE;
    return hashWords(
      at(chunk, base + SUBSCRIBER),
      at(chunk, base + STREAM),
      at(chunk, base + PUBLISHER),
    );
  }

  #word(record: number, word: number): number {
    return at(this.#chunk(record), (record & CHUNK_MASK) * STRIDE + word);
  }

  #chunk(record: number): Uint32Array {
    const chunk = this.#chunks[record >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`there is no pair ${record}`);
    return chunk;
  }
}

/** Figures of a pair as they stand in a page. */
export interface PairFigures {
  readonly next: number;
  readonly unique: number;
  readonly duplicates: number;
  readonly reordered: number;
  readonly lowest: number;
  readonly horizon: number;
  readonly losses: number;
  readonly ambiguous: boolean;
}

function noteLowest(chunk: Uint32Array, base: number, seq: number): void {
  const lowest = at(chunk, base + LOWEST);
  if (lowest === 0 || seq + 1 < lowest) chunk[base + LOWEST] = seq + 1;
}

function place(slots: Uint32Array, record: number, hash: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (at(slots, slot) !== 0) slot = (slot + 1) & mask;
  slots[slot] = record + 1;
}

function hashOf(key: PairKey): number {
  return hashWords(key.subscriber, (key.stream << 8) | key.stage, key.publisher);
}
