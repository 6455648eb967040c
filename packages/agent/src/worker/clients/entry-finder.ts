import type { InboundPublish } from '@squall/mqtt';
import { topicMatches } from './topic-filter.ts';

/** Clients whose filters are kept rendered: beyond it they are rendered for each message. */
const CLIENTS_KEPT = 100_000;

/** Tells which subscription of a client a message is for. */
export class EntryFinder {
  readonly #entries: number;
  readonly #filtersOf: (position: number, entry: number) => readonly string[];
  readonly #kept: (readonly (readonly string[])[] | undefined)[] = [];

  constructor(entries: number, filtersOf: (position: number, entry: number) => readonly string[]) {
    this.#entries = entries;
    this.#filtersOf = filtersOf;
  }

  /** The first entry of the client with a filter that matches; -1 where it has no entries. */
  find(position: number, publish: InboundPublish): number {
    // With one entry there is no question.
    if (this.#entries <= 1) return this.#entries - 1;
    const { topicBytes, topicAt, topicLength } = publish;
    const topic = topicBytes.toString('utf8', topicAt, topicAt + topicLength);
    const filters = this.#filters(position);
    const found = filters.findIndex((each) => each.some((filter) => topicMatches(filter, topic)));
    return Math.max(0, found);
  }

  #filters(position: number): readonly (readonly string[])[] {
    const known = this.#kept[position];
    if (known !== undefined) return known;
    const filters = Array.from({ length: this.#entries }, (_, entry) =>
      this.#filtersOf(position, entry),
    );
    if (position < CLIENTS_KEPT) this.#kept[position] = filters;
    return filters;
  }
}
