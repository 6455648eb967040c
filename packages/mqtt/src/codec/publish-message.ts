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
  qos: 0 | 1 | 2;
  retain: boolean;
  dup: boolean;
  /** 1–65,535 at QoS 1 [MQTT-2.3.1-1]; ignored at QoS 0. */
  packetId: number;
}
