import { at } from '../element.ts';
import type { LedgerPlan } from '../ledger-plan.ts';
import { SUBSCRIBER_FIELDS, type SubscribersBody } from '../page.ts';
import { outOfPlan } from './out-of-plan.ts';

/** What all clients of one group were granted, by client × filters + filter. */
export interface SubscriberColumn {
  readonly filters: number;
  /** Bits as in `SubscriberBook`. */
  readonly states: Uint8Array;
  readonly sinceUs: Float64Array;
  /** By client: connections lost. */
  readonly losses: Uint16Array;
  /** By client: 1 where the broker lost its session. */
  readonly sessionLost: Uint8Array;
  /** By client: the longest time without connection, ms. */
  readonly awayMs: Float64Array;
  /** Sessions lost, over all clients. */
  sessionsLost: number;
}

/** The subscriptions of all workers. */
export class SubscriberStore {
  readonly #columns: readonly SubscriberColumn[];

  constructor(plan: LedgerPlan) {
    this.#columns = plan.plan.groups.map(({ clients }, group) => {
      const filters = plan.filters[group]?.length ?? 0;
      return {
        filters,
        states: new Uint8Array(clients * filters),
        sinceUs: new Float64Array(clients * filters),
        losses: new Uint16Array(filters === 0 ? 0 : clients),
        sessionLost: new Uint8Array(filters === 0 ? 0 : clients),
        awayMs: new Float64Array(filters === 0 ? 0 : clients),
        sessionsLost: 0,
      };
    });
  }

  column(group: number): SubscriberColumn {
    const column = this.#columns[group];
    if (column === undefined) throw outOfPlan('group', group);
    return column;
  }

  /** @throws SquallError SQ_FRAME for a group, filter or client that the plan does not have. */
  add({ group, filters, sessionsLost, rows }: SubscribersBody): void {
    const column = this.column(group);
    if (filters !== column.filters) throw outOfPlan('filter', filters);
    column.sessionsLost += sessionsLost;
    for (let place = 0; place < rows.length; place += SUBSCRIBER_FIELDS + 2 * filters) {
      const client = at(rows, place);
      if (client >= column.losses.length) throw outOfPlan('subscriber', client);
      column.losses[client] = at(rows, place + 1);
      column.sessionLost[client] = at(rows, place + 2);
      column.awayMs[client] = at(rows, place + 3);
      for (let filter = 0; filter < filters; filter++) {
        const from = place + SUBSCRIBER_FIELDS + 2 * filter;
        column.states[client * filters + filter] = at(rows, from);
        column.sinceUs[client * filters + filter] = at(rows, from + 1);
      }
    }
  }
}
