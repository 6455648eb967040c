// Data path
import { locateDue, type Schedule, ticksBefore } from '@squall/core/schedule';
import { type ClientOrder, ownedTicks } from '../clients/client-order.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import type { Meter } from '../measure/meter.ts';
import {
  DROPPED_BACKPRESSURE,
  DROPPED_GENERATOR,
  DROPPED_NOT_CONNECTED,
  DROPPED_WINDOW,
} from '../measure/reasons.ts';
import { LATENESS, PLANNED, SCHEDULED, WAIT_TIME } from '../measure/series.ts';
import type { Feed } from './feed.ts';
import { BACKPRESSURE, GONE, NOT_CONNECTED, OPEN, type Outlet, WINDOW_FULL } from './outlet.ts';
import { PickHistory } from './pick-history.ts';

export interface PacedOptions {
  readonly order: ClientOrder;
  readonly schedule: Schedule;
  /** µs of CLOCK_MONOTONIC at which tick 0 is due. */
  readonly clockUs: number;
  /** Ticks of the whole group that the stream has at most (`count`), or null. */
  readonly count: number | null;
  readonly backlogUs: number;
  readonly moment: Moment;
  readonly meter: Meter;
  readonly outlet: Outlet;
}

/**
 * The open loop of one (stream, stage): picks every message at its due time, whatever became of the
 * ones before. What a client cannot take waits with its due time, up to the backlog.
 *
 * Nothing is stored per message. A client's messages are numbered; the cursor says how many were
 * picked, `#next` which one is to go out next, and the difference waits. The expiry is a second
 * cursor over the same schedule, one backlog behind, that moves only while something waits.
 */
export class PacedSchedule implements Feed {
  readonly #options: PacedOptions;
  readonly #total: number;
  readonly #ranks: Uint32Array;
  readonly #next: Uint32Array;
  readonly #history = new PickHistory();
  /** Ticks from here on do not belong to the stage. */
  #limit: number;
  #round = 0;
  #position = 0;
  #waiting = 0;
  #expiryRound = 0;
  #expiryPosition = 0;
  #planned = false;
  readonly #due = new Float64Array(1);

  constructor(options: PacedOptions) {
    this.#options = options;
    this.#total = options.order.total;
    this.#ranks = options.order.ranks;
    this.#next = new Uint32Array(options.order.count);
    // Without clients there is no tick at all.
    const most = options.order.count === 0 ? 0 : Number.POSITIVE_INFINITY;
    this.#limit = Math.min(most, options.count ?? most);
  }

  /**
   * The stage's end is known: its messages are those due in `lengthUs` from the schedule's clock,
   * that moment itself not included.
   */
  endAfter(lengthUs: number): void {
    const owned = ticksBefore(this.#options.schedule, Math.max(0, lengthUs));
    // Word of the end can come late: what was picked up by then stays the stage's.
    this.#limit = Math.min(this.#limit, Math.max(owned, this.#tick()));
    this.#bookPlanned();
  }

  /** Due messages that wait for their client. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether every message of the stage was picked up. */
  get exhausted(): boolean {
    return this.#tick() >= this.#limit;
  }

  /** When there is something to do next, µs; Infinity where nothing is left. */
  nextUs(): number {
    let pickUs = Number.POSITIVE_INFINITY;
    if (!this.exhausted) {
      this.#locate(this.#tick());
      pickUs = at(this.#due, 0);
    }
    return this.#waiting === 0 ? pickUs : Math.min(pickUs, this.#expiryUs());
  }

  /** Picks up everything that is due before `beforeUs`, which is not after the moment. */
  pick(beforeUs: number): void {
    // The stage's end, where it is known, was told before the first pick.
    if (!this.#planned && this.#options.count !== null) this.#bookPlanned();
    let tick = this.#tick();
    if (tick >= this.#limit) return;
    this.#locate(tick);
    if ((this.#due[0] ?? 0) >= beforeUs) return;
    const { meter, moment } = this.#options;
    this.#history.note(tick, momentOf(moment));
    while (tick < this.#limit) {
      this.#locate(tick);
      if ((this.#due[0] ?? 0) >= beforeUs) break;
      meter.add(SCHEDULED, 1);
      meter.elapsed(LATENESS, this.#due, 0);
      this.#pickOne();
      this.#position += 1;
      if (this.#position === this.#next.length) {
        this.#position = 0;
        this.#round += 1;
      }
      tick = this.#tick();
    }
  }

  /** Drops what has waited longer than the backlog. */
  expire(): void {
    while (this.#waiting > 0 && this.#expiryUs() < momentOf(this.#options.moment)) {
      const position = this.#expiryPosition;
      if (at(this.#next, position) === this.#expiryRound) {
        this.#next[position] = this.#expiryRound + 1;
        this.#waiting -= 1;
        this.#drop(position, this.#options.outlet.refusal(position), 1);
      }
      this.#expiryPosition += 1;
      if (this.#expiryPosition === this.#next.length) {
        this.#expiryPosition = 0;
        this.#expiryRound += 1;
      }
    }
  }

  /** Sends what waits for this client, as far as it takes it. */
  pump(position: number): void {
    if (this.#waiting === 0) return;
    const { meter, outlet } = this.#options;
    const picked = this.#pickedOf(position);
    let index = at(this.#next, position);
    while (index < picked && outlet.refusal(position) === OPEN) {
      this.#waiting -= 1;
      this.#next[position] = index + 1;
      const tick = index * this.#total + at(this.#ranks, position);
      this.#locate(tick);
      const due = at(this.#due, 0);
      if (outlet.hand(position, this.#due)) {
        this.#due[0] = this.#history.pickedUs(tick, due);
        meter.elapsed(WAIT_TIME, this.#due, 0);
      }
      index += 1;
    }
  }

  /** The client finally failed: what waits for it is dropped at once. */
  giveUp(position: number): void {
    this.#drop(position, GONE, this.#forget(position));
  }

  /** The drain is over: what still waits is dropped for the reason that keeps it. */
  dropWaiting(): void {
    for (let position = 0; this.#waiting > 0 && position < this.#next.length; position++) {
      const waited = this.#forget(position);
      this.#drop(position, this.#options.outlet.refusal(position), waited);
    }
  }

  /** The load was cut off: forgets what waits and gives its number. */
  abandon(): number {
    const left = this.#waiting;
    for (let position = 0; position < this.#next.length; position++) this.#forget(position);
    return left;
  }

  #pickOne(): void {
    const position = this.#position;
    const { outlet, backlogUs, meter, moment } = this.#options;
    // Earlier ones of the client wait: this one stands behind them.
    if (at(this.#next, position) !== this.#round) {
      this.#waiting += 1;
      return;
    }
    // Read here, not by a call: where V8 has no room left to inline one, it boxes what is given back.
    if ((moment[0] ?? 0) - (this.#due[0] ?? 0) > backlogUs) {
      this.#next[position] = this.#round + 1;
      outlet.drop(position, DROPPED_GENERATOR, 1);
      return;
    }
    const refusal = outlet.refusal(position);
    if (refusal === OPEN) {
      this.#next[position] = this.#round + 1;
      if (outlet.hand(position, this.#due)) meter.elapsed(WAIT_TIME, moment, 0);
    } else if (refusal === GONE) {
      this.#next[position] = this.#round + 1;
      this.#drop(position, GONE, 1);
    } else {
      if (this.#waiting === 0) {
        this.#expiryRound = this.#round;
        this.#expiryPosition = position;
      }
      this.#waiting += 1;
    }
  }

  #drop(position: number, refusal: number, n: number): void {
    if (n > 0) this.#options.outlet.drop(position, dropReason(refusal), n);
  }

  /** Takes a client's waiting messages out and gives their number. */
  #forget(position: number): number {
    const picked = this.#pickedOf(position);
    const waited = picked - at(this.#next, position);
    this.#next[position] = picked;
    this.#waiting -= waited;
    return waited;
  }

  /** Messages of a client that were picked up. */
  #pickedOf(position: number): number {
    return position < this.#position ? this.#round + 1 : this.#round;
  }

  #tick(): number {
    return this.#round * this.#total + at(this.#ranks, this.#position);
  }

  /** Puts the due time of a tick into `#due`. */
  #locate(tick: number): void {
    const due = this.#due;
    locateDue(this.#options.schedule, tick, due);
    due[0] = this.#options.clockUs + (due[0] ?? 0);
  }

  #expiryUs(): number {
    const tick = this.#expiryRound * this.#total + at(this.#ranks, this.#expiryPosition);
    this.#locate(tick);
    return at(this.#due, 0) + this.#options.backlogUs;
  }

  #bookPlanned(): void {
    if (this.#planned) return;
    this.#planned = true;
    this.#options.meter.add(PLANNED, ownedTicks(this.#options.order, this.#limit));
  }
}

/** Why a due message is dropped that its client cannot take. */
export function dropReason(refusal: number): string {
  switch (refusal) {
    case WINDOW_FULL:
      return DROPPED_WINDOW;
    case BACKPRESSURE:
      return DROPPED_BACKPRESSURE;
    case NOT_CONNECTED:
    case GONE:
      return DROPPED_NOT_CONNECTED;
    default:
      return DROPPED_GENERATOR;
  }
}
