// Data path: one add and one remove a received QoS 2 message.
import { element } from '../codec/bytes.ts';

/** Places of a client's first table; a power of two. */
const PLACES_MIN = 16;

/**
 * Packet ids of QoS 2 messages that came and are not released yet, by client: as long as one is in
 * here, the same id again is the same message again [MQTT-4.3.3-10]. A hash table of numbers a
 * client, made when the first such message comes; it grows with what is really open, 65,535 at most.
 */
export class ReceivedIds {
  readonly #tables: (Uint16Array | undefined)[] = [];
  readonly #counts: Uint16Array;

  constructor(slots: number) {
    this.#counts = new Uint16Array(slots);
  }

  countOf(slot: number): number {
    return element(this.#counts, slot);
  }

  /** False where the id is in already. */
  add(slot: number, packetId: number): boolean {
    let table = (this.#tables[slot] ??= new Uint16Array(PLACES_MIN));
    const count = element(this.#counts, slot);
    if (count * 2 >= table.length) {
      table = grown(table);
      this.#tables[slot] = table;
    }
    const place = placeOf(table, packetId);
    if (element(table, place) === packetId) return false;
    table[place] = packetId;
    this.#counts[slot] = count + 1;
    return true;
  }

  /** False where the id was not in. */
  remove(slot: number, packetId: number): boolean {
    const table = this.#tables[slot];
    if (table === undefined) return false;
    const place = placeOf(table, packetId);
    if (element(table, place) !== packetId) return false;
    this.#counts[slot] = element(this.#counts, slot) - 1;
    closeGap(table, place);
    return true;
  }

  /** The session of one slot goes on in another one. */
  move(from: number, to: number): void {
    this.#tables[to] = this.#tables[from];
    this.#counts[to] = element(this.#counts, from);
    this.#tables[from] = undefined;
    this.#counts[from] = 0;
  }

  /** The session of a client is new: it knows no ids. */
  clear(slot: number): void {
    if (element(this.#counts, slot) === 0) return;
    this.#tables[slot] = undefined;
    this.#counts[slot] = 0;
  }
}

/** Where the id is, or where it would go; 0 marks a free place. */
function placeOf(table: Uint16Array, packetId: number): number {
  const mask = table.length - 1;
  let place = homeOf(packetId, mask);
  while (element(table, place) !== 0 && element(table, place) !== packetId) {
    place = (place + 1) & mask;
  }
  return place;
}

function homeOf(packetId: number, mask: number): number {
  return (Math.imul(packetId, 0x9e37) >>> 3) & mask;
}

/** Moves those behind a removed id forward that would not be found any more. */
function closeGap(table: Uint16Array, removed: number): void {
  const mask = table.length - 1;
  let gap = removed;
  let place = (gap + 1) & mask;
  while (element(table, place) !== 0) {
    const home = homeOf(element(table, place), mask);
    if (((place - home) & mask) >= ((place - gap) & mask)) {
      table[gap] = element(table, place);
      gap = place;
    }
    place = (place + 1) & mask;
  }
  table[gap] = 0;
}

function grown(table: Uint16Array): Uint16Array {
  const larger = new Uint16Array(table.length * 2);
  for (const packetId of table) if (packetId !== 0) larger[placeOf(larger, packetId)] = packetId;
  return larger;
}
