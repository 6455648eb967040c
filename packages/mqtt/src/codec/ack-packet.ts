// Data path: PUBACK, PUBREC, PUBREL and PUBCOMP, both ways.
import { byteAt, uint16At } from './bytes.ts';
import type { PacketView } from './packet-framer.ts';
import { PacketType } from './packet-type.ts';
import { isReasonCodeOf, type ReasonCarrier } from './reason-code.ts';

/** First bytes; flags 0010 of PUBREL [MQTT-3.6.1-1]. */
export const PUBACK = PacketType.puback << 4;
export const PUBREC = PacketType.pubrec << 4;
export const PUBREL = (PacketType.pubrel << 4) | 2;
export const PUBCOMP = PacketType.pubcomp << 4;

/** An acknowledgement without reason code, the same in all versions. */
export const ACK_BYTES = 4;
/** One with a reason code, MQTT 5 only. */
export const ACK_WITH_REASON_BYTES = 5;

/** Writes an acknowledgement of `ACK_BYTES` that says success. */
export function writeAck(bytes: Buffer, at: number, ack: { header: number; packetId: number }) {
  bytes[at] = ack.header;
  bytes[at + 1] = 2;
  bytes[at + 2] = ack.packetId >>> 8;
  bytes[at + 3] = ack.packetId & 0xff;
}

/** Writes one of `ACK_WITH_REASON_BYTES`. */
export function writeAckWithReason(
  bytes: Buffer,
  at: number,
  ack: { header: number; packetId: number; reasonCode: number },
): void {
  writeAck(bytes, at, ack);
  bytes[at + 1] = 3;
  bytes[at + 4] = ack.reasonCode;
}

export interface AckFields {
  packetId: number;
  /** 0 before MQTT 5. */
  reasonCode: number;
}

/** Fills `out` from an acknowledgement before MQTT 5 and gives null, or what is wrong with it. */
export function readAck311(packet: PacketView, out: AckFields): string | null {
  if (packet.end - packet.at !== 2 || !hasRightFlags(packet.header)) return NOT_WELL_FORMED;
  out.packetId = uint16At(packet.bytes, packet.at);
  out.reasonCode = 0;
  return out.packetId === 0 ? NOT_WELL_FORMED : null;
}

/** The same for MQTT 5, where a reason code and properties may follow [MQTT-3.4.2]. */
export function readAck5(packet: PacketView, out: AckFields): string | null {
  const length = packet.end - packet.at;
  if (length < 2 || !hasRightFlags(packet.header)) return NOT_WELL_FORMED;
  out.packetId = uint16At(packet.bytes, packet.at);
  if (out.packetId === 0) return NOT_WELL_FORMED;
  if (length === 2) {
    out.reasonCode = 0;
    return null;
  }
  out.reasonCode = byteAt(packet.bytes, packet.at + 2);
  // Reason string and user properties are for people: they are not looked at.
  return out.reasonCode === 0 || isReasonCodeOf(carrierOf(packet.header), out.reasonCode)
    ? null
    : UNKNOWN_REASON;
}

function hasRightFlags(header: number): boolean {
  return (header & 0x0f) === (header >> 4 === PacketType.pubrel ? 2 : 0);
}

function carrierOf(header: number): ReasonCarrier {
  switch (header >> 4) {
    case PacketType.puback:
      return 'puback';
    case PacketType.pubrec:
      return 'pubrec';
    case PacketType.pubrel:
      return 'pubrel';
    default:
      return 'pubcomp';
  }
}

const NOT_WELL_FORMED =
  'PUBACK, PUBREC, PUBREL or PUBCOMP that is not well formed [MQTT-3.4 – 3.7]';
const UNKNOWN_REASON = 'PUBACK, PUBREC, PUBREL or PUBCOMP with a reserved reason code [MQTT-2.4]';
