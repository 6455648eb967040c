// Data path: one acquire and one settle + release a message of QoS 1 or 2.
import { element } from '../codec/bytes.ts';
import { LockedIds } from './locked-ids.ts';
import { PUBLISH_PACKET_ID_MAX } from './packet-ids.ts';

/** `settle`: no such id is in flight. A broker's fault, or the id of an earlier connection. */
export const PUBACK_UNKNOWN = -1;
/** `settle`: the acknowledgement of a message that was given up before (`expire`). */
export const PUBACK_LATE = -2;

/** `progress`: PUBREC has not come. */
export const UNRELEASED = 0;
/** `progress`: PUBREC came by this connection, PUBREL is on its way. */
export const RELEASED = 1;
/** `progress`: PUBREL was sent again by a later connection. */
export const RELEASED_AGAIN = 2;

export interface InflightOptions {
  readonly clients: number;
  /** Messages in flight a client, 1–65,519. */
  readonly window: number;
}

/**
 * Messages in flight of many clients, in typed arrays. An *entry* is a number that stays the same
 * from `acquire` to `release`; the public arrays are the owner's fields of it, and the owner may
 * keep more arrays of `entries` length beside them.
 *
 * - The packet id names the entry (id = generation · window + position + 1), so a PUBACK is found
 *   by arithmetic, and an id comes back only after all others of its position.
 * - Entries lie position by position, the clients beside each other: clients with few messages in
 *   flight touch only the first pages, and untouched pages cost no memory.
 * - Entries are chained in the order of `acquire`, so the acknowledgement time-out looks at the
 *   oldest only.
 */
export class InflightTable {
  readonly clients: number;
  readonly window: number;
  readonly entries: number;

  readonly dueUs: Float64Array;
  readonly pickedUs: Float64Array;
  readonly sentUs: Float64Array;
  readonly stage: Uint8Array;
  readonly stream: Uint16Array;
  /** How far a QoS 2 message is: `UNRELEASED`, and what the owner makes of it then; 0 at first. */
  readonly progress: Uint8Array;

  readonly #generations: number;
  readonly #locked = new LockedIds();
  /** Packet id an entry, 0 = free. */
  readonly #ids: Uint16Array;
  readonly #generation: Uint16Array;
  /** Chain of all entries in flight by age; values are entry + 1, 0 = none. */
  readonly #older: Uint32Array;
  readonly #newer: Uint32Array;
  #oldest = 0;
  #newest = 0;
  #total = 0;
  /** Free entries of a client: those used before (chain, position + 1), then those from `used` up. */
  readonly #nextFree: Uint16Array;
  readonly #firstFree: Uint16Array;
  readonly #used: Uint16Array;
  readonly #count: Uint16Array;

  constructor(options: InflightOptions) {
    const { clients, window } = options;
    if (!Number.isInteger(window) || window < 1 || window > PUBLISH_PACKET_ID_MAX) {
      throw new RangeError(`an in-flight window is 1 to ${PUBLISH_PACKET_ID_MAX}, not ${window}`);
    }
    const entries = clients * window;
    this.clients = clients;
    this.window = window;
    this.entries = entries;
    this.#generations = Math.floor(PUBLISH_PACKET_ID_MAX / window);
    this.dueUs = new Float64Array(entries);
    this.pickedUs = new Float64Array(entries);
    this.sentUs = new Float64Array(entries);
    this.stage = new Uint8Array(entries);
    this.stream = new Uint16Array(entries);
    this.progress = new Uint8Array(entries);
    this.#ids = new Uint16Array(entries);
    this.#generation = new Uint16Array(entries);
    this.#older = new Uint32Array(entries);
    this.#newer = new Uint32Array(entries);
    this.#nextFree = new Uint16Array(entries);
    this.#firstFree = new Uint16Array(clients);
    this.#used = new Uint16Array(clients);
    this.#count = new Uint16Array(clients);
  }

  /** Takes an entry for one more message of `client`, or -1 when its window is full. */
  acquire(client: number): number {
    const position = this.#takePosition(client);
    if (position < 0) return -1;
    const entry = position * this.clients + client;
    this.#ids[entry] = this.#nextId(client, entry);
    this.progress[entry] = UNRELEASED;
    this.#count[client] = element(this.#count, client) + 1;
    this.#total += 1;
    this.#append(entry);
    return entry;
  }

  /** The packet id of an entry in flight. */
  packetId(entry: number): number {
    return element(this.#ids, entry);
  }

  clientOf(entry: number): number {
    return entry % this.clients;
  }

  /**
   * The entry that a PUBACK or PUBCOMP is for (read its fields, then `release` it), or `PUBACK_LATE` (the id
   * is now free again) or `PUBACK_UNKNOWN`.
   */
  settle(client: number, packetId: number): number {
    if (packetId < 1 || packetId > PUBLISH_PACKET_ID_MAX) return PUBACK_UNKNOWN;
    const entry = ((packetId - 1) % this.window) * this.clients + client;
    if (element(this.#ids, entry) === packetId) return entry;
    return this.#locked.unlock(client, packetId) ? PUBACK_LATE : PUBACK_UNKNOWN;
  }

  /** The same where the message's way does not end with it (PUBREC): nothing is freed. */
  find(client: number, packetId: number): number {
    if (packetId < 1 || packetId > PUBLISH_PACKET_ID_MAX) return PUBACK_UNKNOWN;
    const entry = ((packetId - 1) % this.window) * this.clients + client;
    if (element(this.#ids, entry) === packetId) return entry;
    return this.#locked.has(client, packetId) ? PUBACK_LATE : PUBACK_UNKNOWN;
  }

  /** Ends an entry: acknowledged, or never sent after all. */
  release(entry: number): void {
    this.#unchain(entry);
    this.#free(entry);
  }

  /**
   * Gives up an entry whose acknowledgement did not come in time: the place in the window is free,
   * the packet id stays locked until its late PUBACK or `resetClient` (the peer may still hold it).
   */
  expire(entry: number): void {
    this.#locked.lock(entry % this.clients, element(this.#ids, entry));
    this.release(entry);
  }

  /** The entry in flight that was acquired first, or -1: the only candidate for a time-out. */
  oldest(): number {
    return this.#oldest - 1;
  }

  /** The next younger entry, or -1. */
  after(entry: number): number {
    return element(this.#newer, entry) - 1;
  }

  /** Messages of `client` in flight. */
  countOf(client: number): number {
    return element(this.#count, client);
  }

  /** Messages of all clients in flight. */
  get total(): number {
    return this.#total;
  }

  /** Packet ids locked by `expire`, over all clients. */
  get lockedIds(): number {
    return this.#locked.total;
  }

  /**
   * The first entry of `client` in flight, from `position` up (0 at first, then the position after
   * the last one found: `positionOf(entry) + 1`), or -1. For walking over what a lost connection
   * leaves behind.
   */
  nextOf(client: number, position: number): number {
    const used = element(this.#used, client);
    for (let p = position; p < used; p += 1) {
      const entry = p * this.clients + client;
      if (element(this.#ids, entry) !== 0) return entry;
    }
    return -1;
  }

  positionOf(entry: number): number {
    return Math.floor(entry / this.clients);
  }

  /** Forgets the client's locks: a new clean session knows none of the old ids. */
  resetClient(client: number): void {
    this.#locked.clear(client);
  }

  #takePosition(client: number): number {
    const free = element(this.#firstFree, client);
    if (free !== 0) {
      this.#firstFree[client] = element(this.#nextFree, (free - 1) * this.clients + client);
      return free - 1;
    }
    const used = element(this.#used, client);
    if (used === this.window) return -1;
    this.#used[client] = used + 1;
    return used;
  }

  #nextId(client: number, entry: number): number {
    const position = this.positionOf(entry);
    let generation = element(this.#generation, entry);
    let id = generation * this.window + position + 1;
    // Bounded: with every id of the position locked (hours of lost acknowledgements), the oldest
    // lock gives way rather than the client.
    for (let tried = 1; tried < this.#generations && this.#locked.has(client, id); tried += 1) {
      generation = (generation + 1) % this.#generations;
      id = generation * this.window + position + 1;
    }
    this.#generation[entry] = (generation + 1) % this.#generations;
    return id;
  }

  #free(entry: number): void {
    const client = entry % this.clients;
    this.#ids[entry] = 0;
    this.#nextFree[entry] = element(this.#firstFree, client);
    this.#firstFree[client] = this.positionOf(entry) + 1;
    this.#count[client] = element(this.#count, client) - 1;
    this.#total -= 1;
  }

  #append(entry: number): void {
    this.#older[entry] = this.#newest;
    this.#newer[entry] = 0;
    if (this.#newest === 0) this.#oldest = entry + 1;
    else this.#newer[this.#newest - 1] = entry + 1;
    this.#newest = entry + 1;
  }

  #unchain(entry: number): void {
    const older = element(this.#older, entry);
    const newer = element(this.#newer, entry);
    if (older === 0) this.#oldest = newer;
    else this.#newer[older - 1] = newer;
    if (newer === 0) this.#newest = older;
    else this.#older[newer - 1] = older;
  }
}
