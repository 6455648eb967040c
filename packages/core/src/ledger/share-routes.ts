// Data path: one look-up for each message of a group with shared subscriptions.
import { at } from './element.ts';
import type { FilterRules } from './filter-rules.ts';
import type { LedgerFilter } from './ledger-plan.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';

/** Where a message counts: in the pair of its subscriber, or nowhere since two could be meant. */
export const ROUTE_PAIR = -1;
export const ROUTE_OPEN = -2;

/** Not known yet: `find` says. */
export const ROUTE_UNKNOWN = -3;

/** Routes are kept as numbers this much higher, so that 0 is not known yet. */
const KEPT = 3;

/**
 * Whether what comes to a client comes through one of its shared subscriptions. Nothing in a message
 * says so, thus its topic must: where a shared filter and another one of the client match the same
 * topic, nobody can tell.
 */
export class ShareRoutes {
  readonly #ledger: SubscriberLedger;
  readonly #rules: FilterRules;
  readonly #shared: readonly boolean[];
  /** Filters are the same for all clients: each publisher has one route, by stream. */
  readonly #byPublisher: (Int32Array | undefined)[] | null;
  /** There is one filter: each client has one route. */
  readonly #byClient: Int32Array | null;

  constructor(ledger: SubscriberLedger, filters: readonly LedgerFilter[], scene: RouteScene) {
    const isStatic = filters.every(({ template }) => template.isStatic);
    this.#ledger = ledger;
    this.#rules = scene.rules;
    this.#shared = Array.from(filters, ({ shared }) => shared);
    this.#byClient = filters.length === 1 ? new Int32Array(scene.clients) : null;
    this.#byPublisher = isStatic && filters.length > 1 ? [] : null;
  }

  /** The share that a message counts for, or one of the constants above. */
  of(position: number, stream: number, publisher: number): number {
    if (this.#byClient !== null) {
      const known = at(this.#byClient, position);
      return known === 0 ? this.#single(position, this.#byClient) : known - KEPT;
    }
    const routes = this.#byPublisher?.[stream];
    return routes === undefined ? ROUTE_UNKNOWN : at(routes, publisher) - KEPT;
  }

  /** The same, from the topic of the message; remembered where it holds for the next one. */
  find(position: number, from: Sender, topic: string): number {
    const route = this.#find(position, topic);
    if (this.#byPublisher === null) return route;
    const routes =
      this.#byPublisher[from.stream] ?? new Int32Array(at(this.#ledger.publishers, from.stream));
    this.#byPublisher[from.stream] = routes;
    routes[from.publisher] = route + KEPT;
    return route;
  }

  #single(position: number, routes: Int32Array): number {
    const route = this.#ledger.share(this.#rules.textsFor(position)[0] ?? '');
    routes[position] = route + KEPT;
    return route;
  }

  /** Where messages say which entry they are for, that one alone is looked at. */
  findIn(entry: number, position: number, topic: string): number {
    return this.#find(position, topic, entry);
  }

  #find(position: number, topic: string, entry = -1): number {
    const rules = this.#rules;
    rules.match(position, topic, entry);
    const [first] = rules.matched;
    if (first === undefined) return ROUTE_PAIR;
    if (rules.matched.length > 1) {
      const some = rules.matched.some((filter) => this.#shared[filter] === true);
      return some ? ROUTE_OPEN : ROUTE_PAIR;
    }
    if (this.#shared[first] !== true) return ROUTE_PAIR;
    return this.#ledger.share(rules.textsFor(position)[first] ?? '');
  }
}

interface RouteScene {
  readonly rules: FilterRules;
  /** Of the group in this worker. */
  readonly clients: number;
}

interface Sender {
  readonly stream: number;
  readonly publisher: number;
}
