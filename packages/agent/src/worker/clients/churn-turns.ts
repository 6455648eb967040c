import { connectSchedule, dueUs, type Schedule, ticksBefore } from '@squall/core/schedule';
import { at } from '../element.ts';
import type { ClientOrder } from './client-order.ts';
import { RetryQueue } from './retry-queue.ts';

export interface ChurnOptions {
  readonly order: ClientOrder;
  /** µs of CLOCK_MONOTONIC at which tick 0 is due. */
  readonly clockUs: number;
  readonly ratePerS: number;
  readonly stayUs: number;
}

/**
 * Clients that come and go: turn i is due at i / rate and belongs to the client of rank i mod N, so
 * clients take their turns round after round. Who has come leaves after its stay.
 */
export class ChurnTurns {
  readonly #options: ChurnOptions;
  readonly #schedule: Schedule;
  readonly #leaving = new RetryQueue();
  /** When each client leaves, µs: an entry of the queue with another time is out of date. */
  readonly #leaveUs: Float64Array;
  #round = 0;
  #position = 0;
  #limit: number;

  constructor(options: ChurnOptions) {
    const { order } = options;
    this.#options = options;
    this.#schedule = connectSchedule(options.ratePerS, order.total);
    this.#leaveUs = new Float64Array(order.count);
    this.#limit = order.count === 0 ? 0 : Number.POSITIVE_INFINITY;
  }

  nextUs(): number {
    return Math.min(this.#turnUs(), this.#leaving.firstUs());
  }

  /** The client that comes next, if its turn is due; -1 where none is. */
  comes(nowUs: number): number {
    if (this.#turnUs() > nowUs) return -1;
    const position = this.#position;
    this.#position += 1;
    if (this.#position === this.#options.order.count) {
      this.#position = 0;
      this.#round += 1;
    }
    return position;
  }

  /** The client that leaves next, if its stay is over; -1 where none is. */
  leaves(nowUs: number): number {
    while (this.#leaving.firstUs() <= nowUs) {
      const position = this.#leaving.firstPosition();
      const isMeant = at(this.#leaveUs, position) === this.#leaving.firstUs();
      this.#leaving.pop();
      if (isMeant) return position;
    }
    return -1;
  }

  /** A client has come. */
  onConnected(position: number, nowUs: number): void {
    const us = nowUs + this.#options.stayUs;
    this.#leaveUs[position] = us;
    this.#leaving.push(position, us);
  }

  /** The stage owns the turns that are due in `lengthUs`; who has come by then still leaves. */
  endAfter(lengthUs: number): void {
    this.#limit = Math.min(this.#limit, ticksBefore(this.#schedule, Math.max(0, lengthUs)));
  }

  #turnUs(): number {
    const { order, clockUs } = this.#options;
    const tick = this.#round * order.total + at(order.ranks, this.#position);
    if (tick >= this.#limit) return Number.POSITIVE_INFINITY;
    return clockUs + dueUs(this.#schedule, tick);
  }
}
