import { dueUs, type Schedule } from '@squall/core/schedule';
import { at } from '../element.ts';
import type { ClientOrder } from './client-order.ts';

export interface TurnWalkOptions {
  readonly order: ClientOrder;
  /** µs of CLOCK_MONOTONIC at which rank 0 has its turn. */
  readonly startUs: number;
  /** Null: all at once. */
  readonly schedule: Schedule | null;
  /** Clients with a lower rank take part; all where it is left out. */
  readonly ranks?: number;
  /** No client has its turn here before it has it there. */
  readonly behind?: TurnWalk;
}

/** Takes the clients of a group through one thing, each once, in the order of their ranks. */
export class TurnWalk {
  readonly #options: TurnWalkOptions;
  #position = 0;
  /** Turns from here on are not taken, µs. */
  #endUs = Number.POSITIVE_INFINITY;

  constructor(options: TurnWalkOptions) {
    this.#options = options;
  }

  /** When the next client has its turn, µs; Infinity where all have had it. */
  nextUs(): number {
    const { order, ranks = order.total } = this.#options;
    if (this.#position >= order.count || at(order.ranks, this.#position) >= ranks) {
      return Number.POSITIVE_INFINITY;
    }
    const us = this.turnUs(this.#position);
    return us < this.#endUs ? us : Number.POSITIVE_INFINITY;
  }

  /** The client whose turn is next. */
  take(): number {
    this.#position += 1;
    return this.#position - 1;
  }

  turnUs(position: number): number {
    const { order, startUs, schedule, behind } = this.#options;
    const us = schedule === null ? startUs : startUs + dueUs(schedule, at(order.ranks, position));
    return behind === undefined ? us : Math.max(us, behind.turnUs(position));
  }

  get isOver(): boolean {
    return this.nextUs() === Number.POSITIVE_INFINITY;
  }

  /** The stage ends: later turns are not its own. */
  endBefore(us: number): void {
    this.#endUs = us;
  }
}

/** Clients of the whole group that a share takes, at least one: those with the lowest ranks. */
export function ranksOf(share: number, clients: number): number {
  return Math.max(1, Math.round(share * clients));
}
