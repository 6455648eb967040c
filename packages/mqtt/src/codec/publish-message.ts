import type { Qos } from './packet.ts';
import type { TopicTable } from './topic-table.ts';

/**
 * One message to publish. A stream owns one such object and changes its fields between calls of
 * `publish`, which copies everything: nothing is kept afterwards.
 */
export interface PublishMessage {
  /** Preserialised topics; `topic` is an index into it. */
  topics: TopicTable;
  topic: number;
  /** The whole array is the payload. Patch stamps in place before each call. */
  payload: Uint8Array;
  qos: Qos;
  retain: boolean;
  dup: boolean;
  /** 1–65,535 at QoS 1 and 2 [MQTT-2.3.1-1]; ignored at QoS 0. */
  packetId: number;
  /** As `encodePublishProperties` gives them; empty: none. Of no meaning before MQTT 5. */
  properties: Uint8Array;
  /**
   * Topic aliases that the client may use for messages of this kind, as far as its broker lets it;
   * 0: none. Of no meaning before MQTT 5.
   */
  aliases: number;
}

/** No properties at all, for all messages that have none. */
export const NO_PROPERTIES = new Uint8Array(0);
