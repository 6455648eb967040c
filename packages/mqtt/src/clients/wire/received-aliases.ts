// Data path: a look-up a received message that has an alias.
import { element } from '../../codec/bytes.ts';
import type { ReceivedPublish } from './wire.ts';

/** The topic aliases that brokers have told their clients [MQTT-3.3.2.3.4]. */
export class ReceivedAliases {
  /** Highest alias that each slot's CONNECT allows. */
  readonly #maximum: Uint16Array;
  readonly #topics: (Map<number, Buffer> | undefined)[] = [];

  constructor(slots: number) {
    this.#maximum = new Uint16Array(slots);
  }

  begin(slot: number, maximum: number): void {
    this.#maximum[slot] = maximum;
    this.#topics[slot] = undefined;
  }

  /** Learns the alias of a message or puts its topic in; gives null, or what is wrong. */
  resolve(slot: number, publish: ReceivedPublish): string | null {
    const { topicAlias } = publish;
    if (topicAlias > element(this.#maximum, slot)) return ALIAS_TOO_HIGH;
    if (publish.topicLength > 0) {
      this.#learn(slot, publish);
      return null;
    }
    const topic = this.#topics[slot]?.get(topicAlias);
    if (topic === undefined) return UNKNOWN_ALIAS;
    publish.topicBytes = topic;
    publish.topicAt = 0;
    publish.topicLength = topic.length;
    return null;
  }

  #learn(slot: number, publish: ReceivedPublish): void {
    const topics = (this.#topics[slot] ??= new Map());
    const { bytes, topicAt, topicLength, topicAlias } = publish;
    topics.set(topicAlias, Buffer.from(bytes.subarray(topicAt, topicAt + topicLength)));
  }
}

const ALIAS_TOO_HIGH = 'PUBLISH with a topic alias above the maximum [MQTT-3.1.2-26]';
const UNKNOWN_ALIAS = 'PUBLISH with a topic alias that stands for nothing [MQTT-3.3.4]';
