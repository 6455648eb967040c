// Data path: a look-up a message that may have an alias.
import { element } from '../../codec/bytes.ts';
import type { PublishMessage } from '../../codec/publish-message.ts';
import type { TopicTable } from '../../codec/topic-table.ts';
import type { TopicNaming } from '../../codec/v5/publish-packet.ts';

/** Aliases of one connection: by index where a topic's index stays, by its text where it does not. */
interface Known {
  readonly byIndex: Map<TopicTable, Map<number, number>>;
  readonly byText: Map<string, number>;
}

/**
 * The topic aliases that clients have told their brokers [MQTT-3.3.2.3.4]: the first topics of a
 * connection get one each, as many as broker and message allow; topics beyond them travel whole.
 */
export class SentAliases {
  /** Highest alias that each slot's broker takes; 0 until CONNACK says otherwise. */
  readonly maximum: Uint16Array;
  readonly #known: (Known | undefined)[] = [];
  readonly #used: Uint16Array;

  constructor(slots: number) {
    this.maximum = new Uint16Array(slots);
    this.#used = new Uint16Array(slots);
  }

  /** A connection begins, and knows no alias yet. */
  begin(slot: number): void {
    this.maximum[slot] = 0;
    this.#used[slot] = 0;
    this.#known[slot] = undefined;
  }

  /** Says how the slot's next PUBLISH names its topic. */
  choose(slot: number, message: PublishMessage, out: TopicNaming): void {
    out.alias = 0;
    out.isKnown = false;
    const most = Math.min(message.aliases, element(this.maximum, slot));
    if (most === 0) return;
    const alias = this.#find(slot, message);
    if (alias !== 0) {
      out.alias = alias;
      out.isKnown = true;
      return;
    }
    const used = element(this.#used, slot);
    if (used < most) out.alias = used + 1;
  }

  /** A PUBLISH with a new alias was written. */
  told(slot: number, message: PublishMessage, alias: number): void {
    const known = (this.#known[slot] ??= { byIndex: new Map(), byText: new Map() });
    const { topics, topic } = message;
    this.#used[slot] = alias;
    if (topics.isVolatile) {
      known.byText.set(topics.text(topic), alias);
      return;
    }
    let indexes = known.byIndex.get(topics);
    if (indexes === undefined) {
      indexes = new Map();
      known.byIndex.set(topics, indexes);
    }
    indexes.set(topic, alias);
  }

  #find(slot: number, { topics, topic }: PublishMessage): number {
    const known = this.#known[slot];
    if (known === undefined) return 0;
    if (topics.isVolatile) return known.byText.get(topics.text(topic)) ?? 0;
    return known.byIndex.get(topics)?.get(topic) ?? 0;
  }
}
