import { SUBSCRIBE_PACKET_IDS } from '@squall/mqtt';
import { at } from '../element.ts';

const NONE = 0;
/** SUBSCRIBE is on its way. */
const ASKED = 1;
const GRANTED = 2;
/** Refused or not answered: it is not asked for again before the next connection. */
const REFUSED = 3;

/** Subscribe entries a group may have: each has a packet id of its own. */
export const MAX_ENTRIES = SUBSCRIBE_PACKET_IDS.last - SUBSCRIBE_PACKET_IDS.first + 1;

interface SubscriptionActions {
  /** Sends the SUBSCRIBE of one entry. */
  subscribe(position: number, entry: number): void;
  /** No SUBACK came in time, or the connection went before it. */
  failed(position: number, entry: number, reason: 'timed_out' | 'connection_lost'): void;
}

export interface SubscriptionOptions {
  readonly clients: number;
  readonly entries: number;
  readonly timeoutUs: number;
  readonly actions: SubscriptionActions;
}

/** Which client holds which subscription of its group, and whose answers are awaited. */
export class Subscriptions {
  readonly #options: SubscriptionOptions;
  readonly #states: Uint8Array;
  readonly #askedUs: Float64Array;
  readonly #isReached: Uint8Array;
  readonly #wanted: boolean[];
  readonly #reached: Float64Array;
  #pending = 0;

  constructor(options: SubscriptionOptions) {
    const places = options.clients * options.entries;
    this.#options = options;
    this.#states = new Uint8Array(places);
    this.#askedUs = new Float64Array(places);
    this.#isReached = new Uint8Array(places);
    this.#wanted = Array<boolean>(options.entries).fill(false);
    this.#reached = new Float64Array(options.entries);
  }

  /** From now on every client is to hold this entry; `connected` tells who can be asked at once. */
  want(entry: number, nowUs: number, connected: (position: number) => boolean): void {
    this.#wanted[entry] = true;
    for (let position = 0; position < this.#options.clients; position++) {
      if (connected(position)) this.#ask(position, entry, nowUs);
    }
  }

  /** Whether every client was granted or refused the entry, or finally failed to connect. */
  settled(entry: number): boolean {
    return at(this.#reached, entry) === this.#options.clients;
  }

  /** SUBACKs awaited. */
  get pending(): number {
    return this.#pending;
  }

  onConnected(position: number, sessionPresent: boolean, nowUs: number): void {
    for (let entry = 0; entry < this.#wanted.length; entry++) {
      if (this.#wanted[entry] !== true) continue;
      const state = at(this.#states, this.#place(position, entry));
      if (!sessionPresent || state !== GRANTED) this.#ask(position, entry, nowUs);
    }
  }

  /** Gives the µs since the SUBSCRIBE, or a negative number where nobody waits for this answer. */
  onSuback(position: number, entry: number, answer: { granted: boolean; nowUs: number }): number {
    const place = this.#place(position, entry);
    if (at(this.#states, place) !== ASKED) return -1;
    this.#settle(position, entry, answer.granted ? GRANTED : REFUSED);
    return answer.nowUs - at(this.#askedUs, place);
  }

  onClosed(position: number): void {
    for (let entry = 0; entry < this.#wanted.length; entry++) {
      const place = this.#place(position, entry);
      if (at(this.#states, place) !== ASKED) continue;
      this.#pending -= 1;
      this.#states[place] = NONE;
      this.#options.actions.failed(position, entry, 'connection_lost');
    }
  }

  /** The client finally failed: nobody waits for its subscriptions any more. */
  onGaveUp(position: number): void {
    for (let entry = 0; entry < this.#wanted.length; entry++) this.#reach(position, entry);
  }

  /** The plan disconnected the clients: their subscriptions are gone and wanted no more. */
  reset(): void {
    this.#states.fill(NONE);
    this.#isReached.fill(0);
    this.#reached.fill(0);
    this.#wanted.fill(false);
    this.#pending = 0;
  }

  /** Gives up SUBACKs that did not come in time. */
  scan(nowUs: number): void {
    if (this.#pending === 0) return;
    const { clients, timeoutUs, actions } = this.#options;
    for (let place = 0; place < this.#states.length; place++) {
      if (at(this.#states, place) !== ASKED) continue;
      if (nowUs - at(this.#askedUs, place) < timeoutUs) continue;
      const position = place % clients;
      const entry = (place - position) / clients;
      this.#settle(position, entry, REFUSED);
      actions.failed(position, entry, 'timed_out');
    }
  }

  #ask(position: number, entry: number, nowUs: number): void {
    const place = this.#place(position, entry);
    if (at(this.#states, place) !== ASKED) this.#pending += 1;
    this.#states[place] = ASKED;
    this.#askedUs[place] = nowUs;
    this.#options.actions.subscribe(position, entry);
  }

  #settle(position: number, entry: number, state: number): void {
    this.#pending -= 1;
    this.#states[this.#place(position, entry)] = state;
    this.#reach(position, entry);
  }

  #reach(position: number, entry: number): void {
    const place = this.#place(position, entry);
    if (at(this.#isReached, place) === 1) return;
    this.#isReached[place] = 1;
    this.#reached[entry] = at(this.#reached, entry) + 1;
  }

  #place(position: number, entry: number): number {
    return entry * this.#options.clients + position;
  }
}
