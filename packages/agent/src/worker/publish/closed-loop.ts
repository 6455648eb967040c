// Data path
import { type ClientOrder, ownedTicks, ticksOf } from '../clients/client-order.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import { CLOSED_LOOP_BURST } from '../limits.ts';
import type { Meter } from '../measure/meter.ts';
import { DROPPED_NOT_CONNECTED } from '../measure/reasons.ts';
import { PLANNED, SCHEDULED } from '../measure/series.ts';
import type { Feed } from './feed.ts';
import { GONE, OPEN, type Outlet } from './outlet.ts';

export interface ClosedLoopOptions {
  readonly order: ClientOrder;
  readonly clockUs: number;
  /** Messages of the whole group, or null for as many as the time allows. */
  readonly count: number | null;
  readonly meter: Meter;
  readonly moment: Moment;
  readonly outlet: Outlet;
  /** True where no event says that there is room again (QoS 0): clients are asked each tick. */
  readonly polled: boolean;
}

/**
 * `rate: max`: every client keeps its window full. A message is due when there is room for it, so
 * nothing ever waits, and the only time worth reporting is the service time.
 */
export class ClosedLoop implements Feed {
  readonly #options: ClosedLoopOptions;
  readonly #sentOf: Uint32Array;
  #left: number;
  #endUs = Number.POSITIVE_INFINITY;
  /** Clients still to be asked in this pass. */
  #pass: number;
  #position = 0;

  constructor(options: ClosedLoopOptions) {
    this.#options = options;
    this.#sentOf = new Uint32Array(options.order.count);
    this.#pass = options.order.count;
    this.#left =
      options.count === null ? Number.POSITIVE_INFINITY : ownedTicks(options.order, options.count);
    if (options.count !== null) options.meter.add(PLANNED, this.#left);
  }

  get waiting(): number {
    return 0;
  }

  get exhausted(): boolean {
    return this.#left === 0 || momentOf(this.#options.moment) >= this.#endUs;
  }

  nextUs(): number {
    return this.exhausted || this.#pass === 0 ? Number.POSITIVE_INFINITY : this.#options.clockUs;
  }

  /** Asks clients for room, a burst at most; the next tick goes on where this one stopped. */
  pick(beforeUs: number): void {
    if (this.exhausted || beforeUs <= this.#options.clockUs) return;
    let budget = CLOSED_LOOP_BURST;
    let asked = 0;
    while (budget > 0 && asked < this.#sentOf.length && this.#pass > 0) {
      budget -= this.#fill(this.#position, budget);
      this.#position = (this.#position + 1) % this.#sentOf.length;
      asked += 1;
      if (!this.#options.polled && budget > 0) this.#pass -= 1;
    }
  }

  /** There is room again: an acknowledgement, a connection, a drained socket. */
  pump(position: number): void {
    if (this.exhausted || momentOf(this.#options.moment) < this.#options.clockUs) return;
    this.#fill(position, CLOSED_LOOP_BURST);
  }

  /** The client finally failed: its share of a `count` can no longer be sent. */
  giveUp(position: number): void {
    const { count, meter, order, outlet } = this.#options;
    if (count === null || this.exhausted) return;
    const lost = ticksOf(order, position, count) - at(this.#sentOf, position);
    this.#sentOf[position] = at(this.#sentOf, position) + lost;
    this.#left -= lost;
    meter.add(SCHEDULED, lost);
    if (lost > 0) outlet.drop(position, DROPPED_NOT_CONNECTED, lost);
  }

  endAfter(lengthUs: number): void {
    this.#endUs = Math.min(this.#endUs, this.#options.clockUs + lengthUs);
  }

  /** Nothing waits in a closed loop: the three below have nothing to do. */
  expire(): void {}

  dropWaiting(): void {}

  abandon(): number {
    return 0;
  }

  #fill(position: number, budget: number): number {
    const { outlet, meter, moment, count, order } = this.#options;
    const share = count === null ? Number.POSITIVE_INFINITY : ticksOf(order, position, count);
    let sent = 0;
    while (sent < budget && at(this.#sentOf, position) < share) {
      const refusal = outlet.refusal(position);
      if (refusal === GONE) this.giveUp(position);
      if (refusal !== OPEN) break;
      this.#sentOf[position] = at(this.#sentOf, position) + 1;
      this.#left -= 1;
      meter.add(SCHEDULED, 1);
      if (count === null) meter.add(PLANNED, 1);
      outlet.hand(position, moment);
      sent += 1;
    }
    return sent;
  }
}
