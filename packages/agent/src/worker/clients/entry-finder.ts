import type { InboundPublish } from '@squall/mqtt';
import { at } from '../element.ts';
import { topicMatches } from './topic-filter.ts';

/** Clients whose filters are kept rendered: beyond it they are rendered for each message. */
const CLIENTS_KEPT = 100_000;

/**
 * Tells which subscription of a client a message is for: by its Subscription Identifier where the
 * broker says one (MQTT 5), else by its topic.
 */
export class EntryFinder {
  readonly #entries: number;
  readonly #filtersOf: (position: number, entry: number) => readonly string[];
  readonly #kept: (readonly (readonly string[])[] | undefined)[] = [];

  /** Entries by identifiers that one entry alone has. */
  readonly #byIdentifier = new Map<number, number>();

  /** @param identifiers of the entries; null where one has none. */
  constructor(
    identifiers: readonly (number | null)[],
    filtersOf: (position: number, entry: number) => readonly string[],
  ) {
    this.#entries = identifiers.length;
    this.#filtersOf = filtersOf;
    for (const [entry, identifier] of identifiers.entries()) {
      if (identifier === null || identifiers.lastIndexOf(identifier) !== entry) continue;
      if (identifiers.indexOf(identifier) === entry) this.#byIdentifier.set(identifier, entry);
    }
  }

  /** The first entry of the client with a filter that matches; -1 where it has no entries. */
  find(position: number, publish: InboundPublish): number {
    // With one entry there is no question.
    if (this.#entries <= 1) return this.#entries - 1;
    for (let k = 0; k < publish.identifierCount; k++) {
      const entry = this.#byIdentifier.get(at(publish.identifiers, k));
      if (entry !== undefined) return entry;
    }
    const { topicBytes, topicAt, topicLength } = publish;
    const topic = topicBytes.toString('utf8', topicAt, topicAt + topicLength);
    const filters = this.#filters(position);
    const found = filters.findIndex((each) => each.some((filter) => topicMatches(filter, topic)));
    return Math.max(0, found);
  }

  /** The entry with this identifier; -1 where none has it, or several do. */
  byIdentifier(identifier: number): number {
    return this.#byIdentifier.get(identifier) ?? -1;
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
