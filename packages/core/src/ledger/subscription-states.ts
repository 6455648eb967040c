import { at } from './element.ts';
import { GAP_DISCONNECTED, GAP_EXPIRED, GAP_SESSION_LOST } from './pair-table.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';

/** State of a subscription, as bits. */
export const GRANTED = 1;
/** It was granted once and came to an end since, by the plan or by a refusal; perhaps it began anew. */
export const INTERRUPTED = 2;
/** The lowest QoS that was ever granted stands above the two bits. */
export const QOS_SHIFT = 2;

const MAX_LOSSES = 0xffff;

/** What the subscribers of one group in one worker were granted, and when they had no connection. */
export class SubscriptionStates {
  readonly group: number;
  /** Position → client index in the group. */
  readonly numbers: Uint32Array;
  /** Filters of the group, over all entries. */
  readonly filters: number;
  /** By position × filters + filter. */
  readonly states: Uint8Array;
  /** When the subscription began: its first SUBACK, raw µs; of the last beginning where it was interrupted. */
  readonly sinceUs: Float64Array;
  /** When the client's last SUBACK came, raw µs, by position. */
  readonly grantedUs: Float64Array;
  /** Connections lost so far, by position. */
  readonly losses: Uint16Array;
  /** `losses` when the broker was last found to have lost the session; 0: it never did. */
  readonly sessionLostAt: Uint16Array;
  /** Sessions that should have been kept and were not, over all clients. */
  sessionsLost = 0;
  /** 1 where the connection resumed the client's session. */
  readonly isResumed: Uint8Array;
  /** When it began, raw µs: what was sent before had been queued. */
  readonly resumedUs: Float64Array;

  readonly #ledger: SubscriberLedger;
  /** When the connection went; 0 while there is one. */
  readonly #goneUs: Float64Array;
  /** The last time without connection, and the longest. */
  readonly #lastAwayUs: Float64Array;
  readonly #longestAwayUs: Float64Array;
  /** Whether the client was ever connected. */
  readonly #wasConnected: Uint8Array;
  /** 1 where a filter was granted anew with another QoS: what to expect is open from then on. */
  readonly #requoted: Uint8Array;

  constructor(ledger: SubscriberLedger, group: number, numbers: Uint32Array) {
    const filters = ledger.plan.filters[group] ?? [];
    this.group = group;
    this.numbers = numbers;
    this.filters = filters.length;
    this.states = new Uint8Array(numbers.length * filters.length);
    this.sinceUs = new Float64Array(numbers.length * filters.length);
    const clients = filters.length === 0 ? 0 : numbers.length;
    this.grantedUs = new Float64Array(clients);
    this.losses = new Uint16Array(clients);
    this.sessionLostAt = new Uint16Array(clients);
    this.isResumed = new Uint8Array(clients);
    this.resumedUs = new Float64Array(clients);
    this.#goneUs = new Float64Array(clients);
    this.#lastAwayUs = new Float64Array(clients);
    this.#longestAwayUs = new Float64Array(clients);
    this.#wasConnected = new Uint8Array(clients);
    this.#requoted = new Uint8Array(clients);
    this.#ledger = ledger;
  }

  /** SUBACK granted a filter at the worker's moment; `filter` counts over all entries of the group. */
  granted(position: number, filter: number, qos: number): void {
    const place = position * this.filters + filter;
    const state = at(this.states, place);
    const active = (state & GRANTED) !== 0;
    const before = state >>> QOS_SHIFT;
    if (state !== 0 && before !== qos) this.#requoted[position] = 1;
    const nowUs = this.#nowUs();
    this.grantedUs[position] = nowUs;
    if (!active) this.sinceUs[place] = nowUs;
    const lowest = active ? Math.min(qos, before) : qos;
    this.states[place] = (lowest << QOS_SHIFT) | (state & INTERRUPTED) | GRANTED;
  }

  /** SUBACK refused a filter: a subscription that was granted before is over. */
  refused(position: number, filter: number): void {
    this.#end(position * this.filters + filter);
  }

  /** The client unsubscribes a filter. */
  unsubscribed(position: number, filter: number): void {
    this.#end(position * this.filters + filter);
    // What it misses until it subscribes again lies in a gap that is not its own.
    this.#lose(position);
  }

  /** The plan ends the client's subscriptions: it disconnects for good, and its session with it. */
  ended(position: number): void {
    for (let filter = 0; filter < this.filters; filter++) {
      this.#end(position * this.filters + filter);
    }
    this.disconnected(position);
  }

  /** The client has no connection any more. Its subscriptions go on: what it misses is lost all the same. */
  disconnected(position: number): void {
    if (this.filters === 0) return;
    this.#lose(position);
    this.isResumed[position] = 0;
    if (at(this.#goneUs, position) === 0) this.#goneUs[position] = this.#nowUs();
  }

  /**
   * The client is connected at the worker's moment, to its session or not. A broker that does not
   * have it `keepsUs` after the connection went, or earlier, has lost it.
   */
  connected(position: number, sessionPresent: boolean, keepsUs: number): void {
    if (this.filters === 0) return;
    const awayUs = this.#back(position);
    const before = at(this.#wasConnected, position) === 1;
    this.#wasConnected[position] = 1;
    this.isResumed[position] = sessionPresent ? 1 : 0;
    this.resumedUs[position] = this.#nowUs();
    if (sessionPresent || !before || awayUs >= keepsUs || !this.#holds(position)) return;
    this.sessionLostAt[position] = at(this.losses, position);
    this.sessionsLost += 1;
  }

  /** Whether the QoS that was granted is the one that will be delivered. */
  isQuoted(position: number): boolean {
    return at(this.#requoted, position) === 0;
  }

  /**
   * Why a subscriber may have missed what came between a message then, when it had lost `before`
   * connections, and now: flags of a gap. `stream` says after how long a message may expire.
   */
  absence(position: number, before: number, stream: number): number {
    if (at(this.losses, position) === before) return 0;
    const session = at(this.sessionLostAt, position) > before ? GAP_SESSION_LOST : 0;
    const expiryUs = at(this.#ledger.expiryUs, stream);
    const once = at(this.losses, position) - before === 1;
    const awayUs = once ? this.#awayNowUs(position) : this.longestAwayUs(position);
    const expired = expiryUs > 0 && awayUs >= expiryUs ? GAP_EXPIRED : 0;
    return GAP_DISCONNECTED | session | expired;
  }

  /** The longest time without connection, one that goes on included, µs. */
  longestAwayUs(position: number): number {
    return Math.max(at(this.#longestAwayUs, position), this.#awayNowUs(position));
  }

  /** The time without connection that goes on, or the last one, µs. */
  #awayNowUs(position: number): number {
    const goneUs = at(this.#goneUs, position);
    return goneUs === 0 ? at(this.#lastAwayUs, position) : this.#nowUs() - goneUs;
  }

  /** Gives how long the client had no connection, µs; 0 where this is its first. */
  #back(position: number): number {
    if (at(this.#goneUs, position) === 0) return 0;
    const awayUs = this.#awayNowUs(position);
    this.#goneUs[position] = 0;
    this.#lastAwayUs[position] = awayUs;
    this.#longestAwayUs[position] = Math.max(at(this.#longestAwayUs, position), awayUs);
    return awayUs;
  }

  #holds(position: number): boolean {
    for (let filter = 0; filter < this.filters; filter++) {
      if ((at(this.states, position * this.filters + filter) & GRANTED) !== 0) return true;
    }
    return false;
  }

  #lose(position: number): void {
    this.losses[position] = Math.min(at(this.losses, position) + 1, MAX_LOSSES);
  }

  #end(place: number): void {
    const state = at(this.states, place);
    if ((state & GRANTED) === 0) return;
    this.states[place] = (state & ~GRANTED) | INTERRUPTED;
  }

  #nowUs(): number {
    return at(this.#ledger.moment, 0);
  }
}
