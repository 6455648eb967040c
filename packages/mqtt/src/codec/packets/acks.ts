import type { ByteReader } from '../byte-reader.ts';
import { ByteWriter } from '../byte-writer.ts';
import { violation } from '../packet-error.ts';
import type { AckPacket } from '../packet.ts';
import type { Properties } from '../properties/properties.ts';
import { readProperties } from '../properties/read-properties.ts';
import { writeProperties } from '../properties/write-properties.ts';
import type { ProtocolVersion } from '../protocol-version.ts';
import { isReasonCodeOf } from '../reason-code.ts';
import { readPacketId, writePacketId } from './packet-id.ts';

/** PUBACK, PUBREC, PUBREL, PUBCOMP; as short as MQTT 5 allows [MQTT-3.4.2.1]. */
export function encodeAck(packet: AckPacket, version: ProtocolVersion): Buffer {
  const { type, packetId, reasonCode, properties } = packet;
  const to = new ByteWriter();
  writePacketId(to, packetId);
  if (version === '5') writeReason(to, type, { reasonCode, properties });
  // Flags 0010 [MQTT-3.6.1-1].
  return to.packet(type, type === 'pubrel' ? 2 : 0);
}

export function decodeAck(
  from: ByteReader,
  type: AckPacket['type'],
  version: ProtocolVersion,
): AckPacket {
  const packetId = readPacketId(from);
  if (version !== '5') return { type, packetId, reasonCode: 0 };
  return { type, packetId, ...readReason(from, type) };
}

interface Reason {
  readonly reasonCode: number;
  readonly properties?: Properties | undefined;
}

type ShortCarrier = AckPacket['type'] | 'disconnect' | 'auth';

/** A reason code of 0 without properties is left out, properties alone are, too. */
export function writeReason(to: ByteWriter, carrier: ShortCarrier, reason: Reason): void {
  const { reasonCode, properties } = reason;
  const isBare = Object.values(properties ?? {}).every((value) => value === undefined);
  if (reasonCode === 0 && isBare) return;
  to.uint8('reason code', reasonCode);
  if (!isBare) writeProperties(to, carrier, properties ?? {});
}

export function readReason(from: ByteReader, carrier: ShortCarrier): Required<Reason> {
  const reasonCode = from.left === 0 ? 0 : from.uint8();
  const properties = from.left === 0 ? {} : readProperties(from, carrier);
  if (!isReasonCodeOf(carrier, reasonCode)) {
    throw violation('reason code that its packet cannot carry [MQTT-2.4]');
  }
  return { reasonCode, properties };
}
