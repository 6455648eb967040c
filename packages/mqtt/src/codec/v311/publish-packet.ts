// Data path: PUBLISH of MQTT 3.1 and 3.1.1, both ways.
import { byteAt, uint16At } from '../bytes.ts';
import type { PacketView } from '../packet-framer.ts';
import type { PublishMessage } from '../publish-message.ts';
import { PacketType } from '../packet-type.ts';
import { remainingLengthSize, writeRemainingLength } from '../remaining-length.ts';

const PUBLISH_HEADER = PacketType.publish << 4;

/** Size of the whole PUBLISH packet on the wire. */
export function publishSize(message: PublishMessage): number {
  const body = bodySize(message);
  return 1 + remainingLengthSize(body) + body;
}

function bodySize(message: PublishMessage): number {
  const { topics, topic } = message;
  const topicSize = topics.startOf(topic + 1) - topics.startOf(topic);
  return topicSize + (message.qos === 0 ? 0 : 2) + message.payload.length;
}

/** Writes a PUBLISH [MQTT-3.3] at `at`; the caller has reserved `publishSize` bytes. */
export function writePublish(bytes: Buffer, at: number, message: PublishMessage): void {
  const { topics, topic, qos } = message;
  // DUP is 0 at QoS 0 [MQTT-3.3.1-2].
  bytes[at] =
    PUBLISH_HEADER | (message.dup && qos > 0 ? 8 : 0) | (qos << 1) | (message.retain ? 1 : 0);
  let to = writeRemainingLength(bytes, at + 1, bodySize(message));
  const from = topics.bytes;
  const end = topics.startOf(topic + 1);
  // Topics are short: a loop beats the view that a block copy of a part would need.
  for (let i = topics.startOf(topic); i < end; i += 1) {
    bytes[to] = byteAt(from, i);
    to += 1;
  }
  if (qos > 0) {
    bytes[to] = message.packetId >>> 8;
    bytes[to + 1] = message.packetId & 0xff;
    to += 2;
  }
  bytes.set(message.payload, to);
}

/** The fields of a received PUBLISH, over the packet's own bytes. */
export interface PublishFields {
  bytes: Buffer;
  topicAt: number;
  topicLength: number;
  payloadAt: number;
  payloadLength: number;
  qos: number;
  dup: boolean;
  retain: boolean;
  packetId: number;
}

/**
 * Fills `out` from a PUBLISH before MQTT 5 and gives null, or what is wrong with it (from a fixed set).
 */
export function readPublish(packet: PacketView, out: PublishFields): string | null {
  const { bytes, header, at, end } = packet;
  const qos = (header >> 1) & 3;
  if (qos === 3) return 'PUBLISH with QoS 3 [MQTT-3.3.1-4]';
  if (qos === 0 && (header & 8) !== 0) return 'PUBLISH with QoS 0 and DUP [MQTT-3.3.1-2]';
  if (end - at < 2) return 'PUBLISH without a topic [MQTT-3.3.2-1]';
  const topicLength = uint16At(bytes, at);
  if (topicLength === 0) return 'PUBLISH with an empty topic [MQTT-4.7.3-1]';
  const topicAt = at + 2;
  let payloadAt = topicAt + topicLength;
  let packetId = 0;
  if (qos > 0) {
    if (payloadAt + 2 > end) return 'PUBLISH shorter than its topic and packet id';
    packetId = uint16At(bytes, payloadAt);
    if (packetId === 0) return 'PUBLISH with packet id 0 [MQTT-2.3.1-1]';
    payloadAt += 2;
  } else if (payloadAt > end) {
    return 'PUBLISH shorter than its topic';
  }
  out.bytes = bytes;
  out.topicAt = topicAt;
  out.topicLength = topicLength;
  out.payloadAt = payloadAt;
  out.payloadLength = end - payloadAt;
  out.qos = qos;
  out.dup = (header & 8) !== 0;
  out.retain = (header & 1) !== 0;
  out.packetId = packetId;
  return null;
}
