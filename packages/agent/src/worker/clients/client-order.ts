import type { ClientRange } from '@squall/core/partition';
import { rankMultiplier, rankOf } from '@squall/core/schedule';
import { at } from '../element.ts';

/**
 * The clients of one group in one worker, in the order in which they take their turns. Everything
 * the worker keeps about a client is indexed by its *position* in this order, 0 … count − 1, so that
 * one turn after the other walks through memory from front to back.
 */
export interface ClientOrder {
  /** Clients of the whole group, N. */
  readonly total: number;
  /** Clients of this worker. */
  readonly count: number;
  /** Position → client index in the group, from 0. */
  readonly numbers: Uint32Array;
  /** Position → rank; rising. */
  readonly ranks: Uint32Array;
}

export function clientOrder(range: ClientRange, total: number): ClientOrder {
  const count = range.clients;
  const numbers = new Uint32Array(count);
  const ranks = new Uint32Array(count);
  const multiplier = rankMultiplier(total);
  // One sortable number a client: the rank above, the place in the range below.
  const keys = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    keys[k] = rankOf(range.first + k, total, multiplier) * count + k;
  }
  keys.sort();
  for (let position = 0; position < count; position++) {
    const key = at(keys, position);
    const k = key % count;
    numbers[position] = range.first + k;
    ranks[position] = (key - k) / count;
  }
  return { total, count, numbers, ranks };
}

/** How many of the ticks 0 … limit − 1 belong to the clients of this order. */
export function ownedTicks(order: ClientOrder, limit: number): number {
  let owned = 0;
  for (let position = 0; position < order.count; position++)
    owned += ticksOf(order, position, limit);
  return owned;
}

/** How many of the ticks 0 … limit − 1 belong to the client at `position`. */
export function ticksOf(order: ClientOrder, position: number, limit: number): number {
  const rank = at(order.ranks, position);
  return limit <= rank ? 0 : Math.floor((limit - 1 - rank) / order.total) + 1;
}
