import type { ConnectSpec, DropSpec } from '@squall/core/plan';
import { connectSchedule } from '@squall/core/schedule';
import { at } from '../element.ts';
import { MAX_CONNECTING } from '../limits.ts';
import { ChurnTurns } from './churn-turns.ts';
import type { ClientOrder } from './client-order.ts';
import { BACKING_OFF, CONNECTED, CONNECTING, FAILED, IDLE } from './connection-state.ts';
import { RetryQueue } from './retry-queue.ts';
import { ranksOf, TurnWalk } from './turn-walk.ts';

/** How a client goes on the plan's demand. */
export interface Leaving {
  /** The connection is reset, without DISCONNECT. */
  readonly abrupt: boolean;
  /** Its session is kept for the way back. */
  readonly keep: boolean;
  /** It comes back by itself, in the same stage. */
  readonly returns: boolean;
}

/** What the connector makes happen. */
interface ConnectorActions {
  attempt(position: number, nowUs: number): void;
  /** Ends a connection or an attempt on the plan's demand. */
  disconnect(position: number, leaving: Leaving): void;
  /** The client finally failed. */
  gaveUp(position: number): void;
  /** Connects a connected client by its id once more. */
  takeOver(position: number): void;
  /** A client's turn to connect came while its connection before was still there. */
  missed(position: number): void;
}

export interface ConnectorOptions {
  readonly order: ClientOrder;
  readonly connect: ConnectSpec;
  /** One of `connection-state.ts` a client; the connector is the only one that writes it. */
  readonly states: Uint8Array;
  readonly actions: ConnectorActions;
}

const FOR_GOOD: Leaving = { abrupt: false, keep: false, returns: false };

/**
 * Decides when the clients of one group connect, and when they go on the plan's demand. First
 * attempts and whatever the plan asks for follow their schedules exactly. Repeated attempts wait for
 * their back-off and then pass a gate of the connect rate, so that a broker that comes back is not
 * met by all clients at once.
 *
 * A client that was never connected is given up after `retries` further attempts. One that was
 * connected is tried again for as long as the load lasts: the broker's absence is the result then.
 */
export class Connector {
  /** When a client's last attempt began, µs. */
  readonly startedUs: Float64Array;
  readonly #options: ConnectorOptions;
  /** µs between two repeated attempts of this worker. */
  #gateStepUs: number;
  readonly #retries = new RetryQueue();
  readonly #retryAtUs: Float64Array;
  /** Failed attempts in a row. */
  readonly #tries: Uint8Array;
  readonly #wasConnected: Uint8Array;
  /** 1 once connected or given up since it was last asked to be. */
  readonly #isReached: Uint8Array;
  #coming: TurnWalk | null = null;
  #going: TurnWalk | null = null;
  #leaving: Leaving = FOR_GOOD;
  #returning: TurnWalk | null = null;
  #takingOver: TurnWalk | null = null;
  #churn: ChurnTurns | null = null;
  #gateUs = 0;
  #connecting = 0;
  #connected = 0;
  #reached = 0;
  #failed = 0;
  #takeovers = 0;

  constructor(options: ConnectorOptions) {
    const { count } = options.order;
    this.#options = options;
    this.#gateStepUs = this.#gateStep(options.connect.ratePerS);
    this.#retryAtUs = new Float64Array(count);
    this.startedUs = new Float64Array(count);
    this.#tries = new Uint8Array(count);
    this.#wasConnected = new Uint8Array(count);
    this.#isReached = new Uint8Array(count);
  }

  /** Connects every client, by its turn from `startUs` on. */
  connectAll(startUs: number, ratePerS = this.#options.connect.ratePerS): void {
    const { order } = this.#options;
    this.#begin();
    this.#gateStepUs = this.#gateStep(ratePerS);
    const schedule = connectSchedule(ratePerS, order.total);
    this.#coming = new TurnWalk({ order, startUs, schedule });
    this.#isReached.fill(0);
    this.#reached = 0;
  }

  /** Disconnects every client for good, by its turn from `startUs` on. */
  disconnectAll(startUs: number): void {
    const { order, connect } = this.#options;
    this.#begin();
    const schedule = connectSchedule(connect.ratePerS, order.total);
    this.#leaving = FOR_GOOD;
    this.#going = new TurnWalk({ order, startUs, schedule });
  }

  /** Drops clients as the plan says, and has them back where it says so. */
  drop(spec: DropSpec, startUs: number): void {
    const { order } = this.#options;
    const { share, ratePerS, back, abrupt, keep } = spec;
    const ranks = ranksOf(share, order.total);
    const scheduleOf = (perS: number | null) =>
      perS === null ? null : connectSchedule(perS, order.total);
    this.#begin();
    this.#leaving = { abrupt, keep, returns: back !== null };
    const going = new TurnWalk({ order, startUs, schedule: scheduleOf(ratePerS), ranks });
    this.#going = going;
    if (back === null) return;
    this.#gateStepUs = this.#gateStep(back.ratePerS);
    this.#returning = new TurnWalk({
      order,
      startUs: startUs + back.afterUs,
      schedule: scheduleOf(back.ratePerS),
      ranks,
      behind: going,
    });
    for (let position = 0; position < order.count; position++) {
      const isMeant = at(order.ranks, position) < ranks;
      const reached = isMeant && at(this.#options.states, position) !== FAILED ? 0 : 1;
      this.#reached += reached - at(this.#isReached, position);
      this.#isReached[position] = reached;
    }
  }

  /** Connects clients by their id once more while they are connected. */
  takeOver(spec: { readonly share: number; readonly ratePerS: number }, startUs: number): void {
    const { order } = this.#options;
    const schedule = connectSchedule(spec.ratePerS, order.total);
    const ranks = ranksOf(spec.share, order.total);
    this.#takingOver = new TurnWalk({ order, startUs, schedule, ranks });
  }

  /** Clients come at a rate, stay and go, until `endTurns`. */
  churn(spec: { readonly ratePerS: number; readonly stayUs: number }, clockUs: number): void {
    this.#begin();
    this.#churn = new ChurnTurns({ ...spec, order: this.#options.order, clockUs });
  }

  /** The stage ends `lengthUs` after `clockUs`: later turns of what it asked for are not its own. */
  endTurns(clockUs: number, lengthUs: number): void {
    this.#churn?.endAfter(lengthUs);
    this.#takingOver?.endBefore(clockUs + lengthUs);
    if (this.#leaving !== FOR_GOOD) this.#going?.endBefore(clockUs + lengthUs);
  }

  /** The load is over: clients that had no turn yet get none. */
  stopWalking(): void {
    this.#begin();
    this.#takingOver = null;
  }

  /** Everything was closed at the end of the load: nothing is connected or tried any more. */
  forgetAll(): void {
    this.stopWalking();
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

  /** Whether clients come and go, so that none is waited for. */
  get isChurning(): boolean {
    return this.#churn !== null;
  }

  /** Whether every client was connected or finally failed since `connectAll` or `drop`. */
  get settled(): boolean {
    return this.#reached === this.#options.order.count;
  }

  /** Whether everybody who was to go has gone, and is back if that was asked for. */
  get isDoneMoving(): boolean {
    const walks = [this.#going, this.#returning, this.#takingOver];
    if (walks.some((walk) => walk !== null && !walk.isOver)) return false;
    return this.#takeovers === 0 && (this.#returning === null || this.settled);
  }

  nextUs(): number {
    let next = this.#churn === null ? Number.POSITIVE_INFINITY : this.#churn.nextUs();
    for (const walk of [this.#coming, this.#going, this.#returning, this.#takingOver]) {
      if (walk !== null) next = Math.min(next, walk.nextUs());
    }
    if (this.#connecting >= MAX_CONNECTING) return next;
    return Math.min(next, Math.max(this.#retries.firstUs(), this.#gateUs));
  }

  work(nowUs: number): void {
    const { states, actions } = this.#options;
    while (isDue(this.#going, nowUs)) this.#release(this.#going.take());
    while (isDue(this.#coming, nowUs)) this.#come(this.#coming.take(), nowUs);
    while (isDue(this.#returning, nowUs)) this.#come(this.#returning.take(), nowUs);
    while (isDue(this.#takingOver, nowUs)) {
      const position = this.#takingOver.take();
      if (at(states, position) !== CONNECTED) continue;
      this.#takeovers += 1;
      this.startedUs[position] = nowUs;
      actions.takeOver(position);
    }
    if (this.#churn !== null) this.#workChurn(this.#churn, nowUs);
    this.#retry(nowUs);
  }

  onConnected(position: number, nowUs: number): void {
    this.#options.states[position] = CONNECTED;
    this.#connecting -= 1;
    this.#connected += 1;
    this.#tries[position] = 0;
    this.#wasConnected[position] = 1;
    this.#churn?.onConnected(position, nowUs);
    this.#reach(position);
  }

  onAttemptFailed(position: number, nowUs: number): void {
    this.#connecting -= 1;
    if (this.#churn !== null) {
      // Its next turn is its next attempt.
      this.#options.states[position] = IDLE;
      return;
    }
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
    if (this.#churn === null) this.#backOff(position, nowUs);
    else this.#options.states[position] = IDLE;
  }

  /** The broker has ended a connection that is being taken over: the new one is on its way. */
  onSuperseded(position: number): void {
    this.#options.states[position] = CONNECTING;
    this.#connected -= 1;
    this.#connecting += 1;
  }

  /** A takeover has come to its end, well or not. */
  onTakeoverOver(): void {
    this.#takeovers = Math.max(0, this.#takeovers - 1);
  }

  #begin(): void {
    this.#coming = null;
    this.#going = null;
    this.#returning = null;
    this.#churn = null;
    // Who goes leaves its takeover behind.
    this.#takeovers = 0;
  }

  #gateStep(ratePerS: number): number {
    const { count, total } = this.#options.order;
    return connectSchedule(ratePerS, total).periodUs / Math.max(1, count);
  }

  #come(position: number, nowUs: number): void {
    const state = at(this.#options.states, position);
    if (state === IDLE) this.#attempt(position, nowUs);
    // Connected in an earlier stage already, or on its way.
    else if (state === CONNECTED || state === FAILED) this.#reach(position);
  }

  #workChurn(churn: ChurnTurns, nowUs: number): void {
    const { states, actions } = this.#options;
    for (let position = churn.leaves(nowUs); position >= 0; position = churn.leaves(nowUs)) {
      if (at(states, position) === CONNECTED) this.#release(position);
    }
    for (let position = churn.comes(nowUs); position >= 0; position = churn.comes(nowUs)) {
      if (at(states, position) === IDLE) this.#attempt(position, nowUs);
      else actions.missed(position);
    }
  }

  #release(position: number): void {
    const { states, actions } = this.#options;
    const state = at(states, position);
    const leaving = this.#churn === null ? this.#leaving : this.#churnLeaving;
    // Who is not there comes back by itself.
    if (leaving.returns && state !== CONNECTED) return;
    if (state === CONNECTED) this.#connected -= 1;
    if (state === CONNECTING) this.#connecting -= 1;
    if (state === FAILED) this.#failed -= 1;
    this.#tries[position] = 0;
    if (!leaving.returns) this.#wasConnected[position] = 0;
    states[position] = IDLE;
    if (state === CONNECTED || state === CONNECTING) actions.disconnect(position, leaving);
  }

  get #churnLeaving(): Leaving {
    const { cleanStart, sessionExpiryS } = this.#options.connect;
    return cleanStart || sessionExpiryS === 0 ? CHURN : CHURN_KEPT;
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

const CHURN: Leaving = { abrupt: false, keep: false, returns: true };
const CHURN_KEPT: Leaving = { ...CHURN, keep: true };

function isDue(walk: TurnWalk | null, nowUs: number): walk is TurnWalk {
  return walk !== null && walk.nextUs() <= nowUs;
}

/** A number from 0 to below 1 that looks random but depends on its arguments alone. */
function jitter(number: number, tries: number): number {
  let mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(tries + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 13)) >>> 0) / 4_294_967_296;
}
