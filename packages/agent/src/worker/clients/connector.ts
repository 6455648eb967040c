import type { ConnectSpec } from '@squall/core/plan';
import { connectSchedule, dueUs, type Schedule } from '@squall/core/schedule';
import { at } from '../element.ts';
import { MAX_CONNECTING } from '../limits.ts';
import type { ClientOrder } from './client-order.ts';
import { BACKING_OFF, CONNECTED, CONNECTING, FAILED, IDLE } from './connection-state.ts';
import { RetryQueue } from './retry-queue.ts';

/** What the connector makes happen. */
interface ConnectorActions {
  attempt(position: number, nowUs: number): void;
  /** Ends a connection or an attempt on the plan's demand. */
  disconnect(position: number): void;
  /** The client finally failed. */
  gaveUp(position: number): void;
}

export interface ConnectorOptions {
  readonly order: ClientOrder;
  readonly connect: ConnectSpec;
  /** One of `connection-state.ts` a client; the connector is the only one that writes it. */
  readonly states: Uint8Array;
  readonly actions: ConnectorActions;
}

/**
 * Decides when the clients of one group connect. First attempts and disconnects on demand follow
 * the group's connect schedule exactly. Repeated ones wait for their back-off and then pass a gate of
 * the same rate, so that a broker that comes back is not met by all clients at once.
 *
 * A client that was never connected is given up after `retries` further attempts. One that was
 * connected is tried again for as long as the load lasts: the broker's absence is the result then.
 */
export class Connector {
  /** When a client's last attempt began, µs. */
  readonly startedUs: Float64Array;
  readonly #options: ConnectorOptions;
  readonly #schedule: Schedule;
  /** µs between two repeated attempts of this worker. */
  readonly #gateStepUs: number;
  readonly #retries = new RetryQueue();
  readonly #retryAtUs: Float64Array;
  /** Failed attempts in a row. */
  readonly #tries: Uint8Array;
  readonly #wasConnected: Uint8Array;
  /** 1 once connected or given up since the last `connectAll`. */
  readonly #isReached: Uint8Array;
  #walk: 'connect' | 'disconnect' | null = null;
  #walkStartUs = 0;
  #walkPosition = 0;
  #gateUs = 0;
  #connecting = 0;
  #connected = 0;
  #reached = 0;
  #failed = 0;

  constructor(options: ConnectorOptions) {
    const { count, total } = options.order;
    this.#options = options;
    this.#schedule = connectSchedule(options.connect.ratePerS, total);
    this.#gateStepUs = this.#schedule.periodUs / Math.max(1, count);
    this.#retryAtUs = new Float64Array(count);
    this.startedUs = new Float64Array(count);
    this.#tries = new Uint8Array(count);
    this.#wasConnected = new Uint8Array(count);
    this.#isReached = new Uint8Array(count);
  }

  /** Connects every client, by its turn from `startUs` on. */
  connectAll(startUs: number): void {
    this.#begin('connect', startUs);
    this.#isReached.fill(0);
    this.#reached = 0;
  }

  /** Disconnects every client, by its turn from `startUs` on. */
  disconnectAll(startUs: number): void {
    this.#begin('disconnect', startUs);
  }

  /** The load is over: clients that had no turn yet get none. */
  stopWalking(): void {
    this.#walk = null;
  }

  /** Everything was closed at the end of the load: nothing is connected or tried any more. */
  forgetAll(): void {
    this.#walk = null;
    this.#options.states.fill(IDLE);
    this.#connected = 0;
    this.#connecting = 0;
  }

  /** Clients connected now. */
  get connected(): number {
    return this.#connected;
  }

  /** Clients that finally failed. */
  get failed(): number {
    return this.#failed;
  }

  /** Whether every client was connected or finally failed since `connectAll`. */
  get settled(): boolean {
    return this.#reached === this.#options.order.count;
  }

  /** Whether `disconnectAll` has come to its end. */
  get allDisconnected(): boolean {
    return this.#walk !== 'disconnect';
  }

  nextUs(): number {
    const walkUs = this.#walk === null ? Number.POSITIVE_INFINITY : this.#turnUs();
    if (this.#connecting >= MAX_CONNECTING) return walkUs;
    return Math.min(walkUs, Math.max(this.#retries.firstUs(), this.#gateUs));
  }

  work(nowUs: number): void {
    while (this.#walk !== null && this.#turnUs() <= nowUs) this.#takeTurn(nowUs);
    this.#retry(nowUs);
  }

  onConnected(position: number): void {
    this.#options.states[position] = CONNECTED;
    this.#connecting -= 1;
    this.#connected += 1;
    this.#tries[position] = 0;
    this.#wasConnected[position] = 1;
    this.#reach(position);
  }

  onAttemptFailed(position: number, nowUs: number): void {
    this.#connecting -= 1;
    const tries = Math.min(255, at(this.#tries, position) + 1);
    this.#tries[position] = tries;
    if (at(this.#wasConnected, position) === 0 && tries > this.#options.connect.retries) {
      this.#options.states[position] = FAILED;
      this.#failed += 1;
      this.#reach(position);
      this.#options.actions.gaveUp(position);
      return;
    }
    this.#backOff(position, nowUs);
  }

  onClosed(position: number, nowUs: number): void {
    this.#connected -= 1;
    this.#backOff(position, nowUs);
  }

  #begin(walk: 'connect' | 'disconnect', startUs: number): void {
    this.#walk = this.#options.order.count === 0 ? null : walk;
    this.#walkStartUs = startUs;
    this.#walkPosition = 0;
  }

  #turnUs(): number {
    const rank = at(this.#options.order.ranks, this.#walkPosition);
    return this.#walkStartUs + dueUs(this.#schedule, rank);
  }

  #takeTurn(nowUs: number): void {
    const position = this.#walkPosition;
    const walk = this.#walk;
    this.#walkPosition += 1;
    if (this.#walkPosition === this.#options.order.count) this.#walk = null;
    if (walk === 'disconnect') {
      this.#release(position);
    } else if (at(this.#options.states, position) === IDLE) {
      this.#attempt(position, nowUs);
    } else {
      // Connected in an earlier stage already, or on its way.
      const state = at(this.#options.states, position);
      if (state === CONNECTED || state === FAILED) this.#reach(position);
    }
  }

  #release(position: number): void {
    const { states, actions } = this.#options;
    const state = at(states, position);
    if (state === CONNECTED) this.#connected -= 1;
    if (state === CONNECTING) this.#connecting -= 1;
    if (state === FAILED) this.#failed -= 1;
    this.#tries[position] = 0;
    this.#wasConnected[position] = 0;
    states[position] = IDLE;
    if (state === CONNECTED || state === CONNECTING) actions.disconnect(position);
  }

  #retry(nowUs: number): void {
    const queue = this.#retries;
    while (queue.firstUs() <= nowUs) {
      const position = queue.firstPosition();
      const counts =
        at(this.#options.states, position) === BACKING_OFF &&
        at(this.#retryAtUs, position) === queue.firstUs();
      if (counts && (this.#gateUs > nowUs || this.#connecting >= MAX_CONNECTING)) return;
      queue.pop();
      if (!counts) continue;
      // Ticks are a millisecond apart: the gate may lag behind by one, but gathers no more credit.
      this.#gateUs = Math.max(this.#gateUs, nowUs - 1_000) + this.#gateStepUs;
      this.#attempt(position, nowUs);
    }
  }

  #attempt(position: number, nowUs: number): void {
    this.#options.states[position] = CONNECTING;
    this.#connecting += 1;
    this.startedUs[position] = nowUs;
    this.#options.actions.attempt(position, nowUs);
  }

  #backOff(position: number, nowUs: number): void {
    const { backoffMinUs, backoffMaxUs } = this.#options.connect;
    const tries = Math.max(0, at(this.#tries, position) - 1);
    // Spread by a quarter, so that clients lost together do not come back together. Which client
    // waits how long is the same in every run.
    const number = at(this.#options.order.numbers, position);
    const spread = 1 + jitter(number, tries) / 4;
    const delayUs = Math.min(backoffMaxUs, backoffMinUs * 2 ** Math.min(tries, 30) * spread);
    this.#options.states[position] = BACKING_OFF;
    this.#retryAtUs[position] = nowUs + delayUs;
    this.#retries.push(position, nowUs + delayUs);
  }

  #reach(position: number): void {
    if (at(this.#isReached, position) === 1) return;
    this.#isReached[position] = 1;
    this.#reached += 1;
  }
}

/** A number from 0 to below 1 that looks random but depends on its arguments alone. */
function jitter(number: number, tries: number): number {
  let mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(tries + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 4_294_967_296;
}
