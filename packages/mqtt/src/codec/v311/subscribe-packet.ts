import { byteAt, uint16At } from '../bytes.ts';
import type { PacketView } from '../packet-framer.ts';
import { PacketType } from '../packet-type.ts';
import {
  REMAINING_LENGTH_MAX,
  remainingLengthSize,
  writeRemainingLength,
} from '../remaining-length.ts';
import { fieldSize, writeField } from './text-field.ts';

/** One SUBSCRIBE: all filters at one QoS. */
export interface SubscribeRequest {
  /** 1–65,535; of `SUBSCRIBE_PACKET_IDS` where the client publishes at QoS 1, too. */
  readonly packetId: number;
  readonly filters: readonly string[];
  readonly qos: 0 | 1 | 2;
}

/**
 * A SUBSCRIBE packet [MQTT-3.8]. Throws a RangeError without filters [MQTT-3.8.3-3], for an empty
 * or too long filter, a packet id out of 1–65,535, or filters that fit in no packet.
 */
export function encodeSubscribe(request: SubscribeRequest): Buffer {
  const { packetId, filters, qos } = request;
  if (!Number.isInteger(packetId) || packetId < 1 || packetId > 65_535) {
    throw new RangeError(`a packet id is 1 to 65,535, not ${packetId} [MQTT-2.3.1-1]`);
  }
  if (filters.length === 0) throw new RangeError('SUBSCRIBE has a filter [MQTT-3.8.3-3]');
  let body = 2;
  for (const filter of filters) {
    if (filter === '') throw new RangeError('a topic filter is not empty [MQTT-4.7.3-1]');
    body += fieldSize('topic filter', filter) + 1;
  }
  if (body > REMAINING_LENGTH_MAX) throw new RangeError('too many filters for one SUBSCRIBE');
  const bytes = Buffer.alloc(1 + remainingLengthSize(body) + body);
  // Flags 0010 [MQTT-3.8.1-1].
  bytes[0] = (PacketType.subscribe << 4) | 2;
  let at = writeRemainingLength(bytes, 1, body);
  at = bytes.writeUInt16BE(packetId, at);
  for (const filter of filters) {
    at = writeField(bytes, at, filter);
    bytes[at] = qos;
    at += 1;
  }
  return bytes;
}

/** The fields of a received SUBACK, over the packet's own bytes. */
export interface SubackFields {
  packetId: number;
  bytes: Buffer;
  codesAt: number;
  codesLength: number;
}

/** Fills `out` from a SUBACK [MQTT-3.9] and gives null, or what is wrong with it. */
export function readSuback(packet: PacketView, out: SubackFields): string | null {
  const { bytes, header, at, end } = packet;
  if ((header & 0x0f) !== 0) return 'SUBACK with reserved flags set [MQTT-2.2.2-2]';
  if (end - at < 3) return 'SUBACK without a return code [MQTT-3.9.3]';
  const packetId = uint16At(bytes, at);
  if (packetId === 0) return 'SUBACK with packet id 0 [MQTT-2.3.1-1]';
  for (let i = at + 2; i < end; i += 1) {
    const code = byteAt(bytes, i);
    if (code > 2 && code !== 0x80) return 'SUBACK with a reserved return code [MQTT-3.9.3-2]';
  }
  out.packetId = packetId;
  out.bytes = bytes;
  out.codesAt = at + 2;
  out.codesLength = end - at - 2;
  return null;
}
