import { SUBSCRIBE_PACKET_IDS } from '@squall/mqtt';
import { at } from '../element.ts';

const NONE = 0;
/** SUBSCRIBE is on its way. */
const ASKED = 1;
const GRANTED = 2;
/** Refused or not answered: it is not asked for again before the next connection. */
const REFUSED = 3;
/** UNSUBSCRIBE is on its way. */
const LEAVING = 4;

/** Subscribe entries a group may have: each has a packet id of its own. */
export const MAX_ENTRIES = SUBSCRIBE_PACKET_IDS.last - SUBSCRIBE_PACKET_IDS.first + 1;

/** What was asked for and is not answered. */
export interface Unanswered {
  readonly asked: 'subscribe' | 'unsubscribe';
  readonly why: 'timed_out' | 'connection_lost';
}

interface SubscriptionActions {
  /** Sends the SUBSCRIBE of one entry. */
  subscribe(position: number, entry: number): void;
  /** Sends its UNSUBSCRIBE. */
  unsubscribe(position: number, entry: number): void;
  /** No answer came in time, or the connection went before it. */
  failed(position: number, entry: number, what: Unanswered): void;
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
  /** UNSUBACKs awaited, by entry. */
  readonly #leaving: Float64Array;
  #pending = 0;

  constructor(options: SubscriptionOptions) {
    const places = options.clients * options.entries;
    this.#options = options;
    this.#states = new Uint8Array(places);
    this.#askedUs = new Float64Array(places);
    this.#isReached = new Uint8Array(places);
    this.#wanted = Array<boolean>(options.entries).fill(false);
    this.#reached = new Float64Array(options.entries);
    this.#leaving = new Float64Array(options.entries);
  }

  /** From now on every client is to hold this entry; `connected` tells who can be asked at once. */
  want(entry: number, nowUs: number, connected: (position: number) => boolean): void {
    this.#wanted[entry] = true;
    for (let position = 0; position < this.#options.clients; position++) {
      if (connected(position)) this.#ask(position, entry, nowUs);
    }
  }

  /** From now on no client is to hold this entry: whoever does gives it up. */
  release(entry: number, nowUs: number, connected: (position: number) => boolean): void {
    this.#wanted[entry] = false;
    for (let position = 0; position < this.#options.clients; position++) {
      if (connected(position)) this.#giveUp(position, entry, nowUs);
    }
  }

  /** Whether no UNSUBACK of the entry is awaited. */
  released(entry: number): boolean {
    return at(this.#leaving, entry) === 0;
  }

  /** Whether every client was granted or refused the entry, or finally failed to connect. */
  settled(entry: number): boolean {
    return at(this.#reached, entry) === this.#options.clients;
  }

  /** Answers awaited. */
  get pending(): number {
    return this.#pending;
  }

  onConnected(position: number, sessionPresent: boolean, nowUs: number): void {
    for (let entry = 0; entry < this.#wanted.length; entry++) {
      const place = this.#place(position, entry);
      if (!sessionPresent) this.#states[place] = NONE;
      if (this.#wanted[entry] !== true) this.#giveUp(position, entry, nowUs);
      else if (at(this.#states, place) !== GRANTED) this.#ask(position, entry, nowUs);
    }
  }

  /** Gives the µs since the SUBSCRIBE, or a negative number where nobody waits for this answer. */
  onSuback(position: number, entry: number, answer: { granted: boolean; nowUs: number }): number {
    const place = this.#place(position, entry);
    if (at(this.#states, place) !== ASKED) return -1;
    this.#settle(position, entry, answer.granted ? GRANTED : REFUSED);
    const tookUs = answer.nowUs - at(this.#askedUs, place);
    if (this.#wanted[entry] !== true) this.#giveUp(position, entry, answer.nowUs);
    return tookUs;
  }

  /** Gives the µs since the UNSUBSCRIBE, or a negative number where nobody waits for this answer. */
  onUnsuback(position: number, entry: number, nowUs: number): number {
    const place = this.#place(position, entry);
    if (at(this.#states, place) !== LEAVING) return -1;
    this.#left(place, entry);
    return nowUs - at(this.#askedUs, place);
  }

  onClosed(position: number): void {
    for (let entry = 0; entry < this.#wanted.length; entry++) {
      const place = this.#place(position, entry);
      const state = at(this.#states, place);
      if (state === LEAVING) {
        this.#left(place, entry);
        this.#fail(position, entry, { asked: 'unsubscribe', why: 'connection_lost' });
      }
      if (state !== ASKED) continue;
      this.#pending -= 1;
      this.#states[place] = NONE;
      this.#fail(position, entry, { asked: 'subscribe', why: 'connection_lost' });
    }
  }

  /** Whether the client waits for no SUBACK. */
  isReady(position: number): boolean {
    for (let entry = 0; entry < this.#wanted.length; entry++) {
      if (at(this.#states, this.#place(position, entry)) === ASKED) return false;
    }
    return true;
  }

  /** The plan ended the client's connection: what it holds is gone, and asked for when it is back. */
  onLeft(position: number): void {
    this.onClosed(position);
    for (let entry = 0; entry < this.#wanted.length; entry++) {
      this.#states[this.#place(position, entry)] = NONE;
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
    this.#leaving.fill(0);
    this.#pending = 0;
  }

  /** Gives up answers that did not come in time. */
  scan(nowUs: number): void {
    if (this.#pending === 0) return;
    const { clients, timeoutUs } = this.#options;
    for (let place = 0; place < this.#states.length; place++) {
      const state = at(this.#states, place);
      if (state !== ASKED && state !== LEAVING) continue;
      if (nowUs - at(this.#askedUs, place) < timeoutUs) continue;
      const position = place % clients;
      const entry = (place - position) / clients;
      if (state === ASKED) this.#settle(position, entry, REFUSED);
      else this.#left(place, entry);
      const asked = state === ASKED ? 'subscribe' : 'unsubscribe';
      this.#fail(position, entry, { asked, why: 'timed_out' });
    }
  }

  #fail(position: number, entry: number, what: Unanswered): void {
    this.#options.actions.failed(position, entry, what);
  }

  #giveUp(position: number, entry: number, nowUs: number): void {
    const place = this.#place(position, entry);
    if (at(this.#states, place) !== GRANTED) return;
    this.#states[place] = LEAVING;
    this.#askedUs[place] = nowUs;
    this.#pending += 1;
    this.#leaving[entry] = at(this.#leaving, entry) + 1;
    this.#isReached[place] = 0;
    this.#reached[entry] = at(this.#reached, entry) - 1;
    this.#options.actions.unsubscribe(position, entry);
  }

  #left(place: number, entry: number): void {
    this.#states[place] = NONE;
    this.#pending -= 1;
    this.#leaving[entry] = at(this.#leaving, entry) - 1;
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
