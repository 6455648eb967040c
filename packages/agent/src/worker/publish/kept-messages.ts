import { NO_PROPERTIES, type PublishMessage, TopicTable } from '@squall/mqtt';

/**
 * Copies of what is in flight, for clients whose session outlives the connection: after a reconnect
 * the same bytes go out again with DUP [MQTT-3.3.1-1, 4.4.0-1]. By entry of the in-flight table;
 * the memory of an entry is used again by the next message in it.
 */
export class KeptMessages {
  readonly #messages: (PublishMessage | undefined)[] = [];
  readonly #order: number[] = [];
  #kept = 0;

  keep(entry: number, message: PublishMessage, ownTopics: boolean): void {
    let copy = this.#messages[entry];
    if (copy === undefined || copy.payload.length !== message.payload.length) {
      copy = { ...message, payload: new Uint8Array(message.payload.length) };
      this.#messages[entry] = copy;
    }
    copy.payload.set(message.payload);
    copy.qos = message.qos;
    copy.retain = message.retain;
    copy.aliases = message.aliases;
    copy.properties = message.properties.length === 0 ? NO_PROPERTIES : message.properties.slice();
    copy.packetId = message.packetId;
    copy.dup = true;
    if (ownTopics) {
      copy.topics = new TopicTable();
      copy.topics.add(message.topics.text(message.topic));
      copy.topic = 0;
    } else {
      copy.topics = message.topics;
      copy.topic = message.topic;
    }
    this.#order[entry] = this.#kept;
    this.#kept += 1;
  }

  /** The copy of an entry in flight, ready to be sent again. */
  message(entry: number): PublishMessage | undefined {
    return this.#messages[entry];
  }

  /** Puts entries into the order in which their messages were first handed over [MQTT-4.6.0-1]. */
  inOrder(entries: readonly number[]): number[] {
    return entries.toSorted((a, b) => (this.#order[a] ?? 0) - (this.#order[b] ?? 0));
  }
}
