import { decodePacket } from '../codec/decode-packet.ts';
import { encodePacket } from '../codec/encode-packet.ts';
import type { PacketView } from '../codec/packet-framer.ts';
import type { Packet } from '../codec/packet.ts';
import type { ProtocolVersion } from '../codec/protocol-version.ts';
import { remainingLengthSize } from '../codec/remaining-length.ts';
import type { PacketFields, SeenPacket, SeenStamp } from './fault.ts';
import type { Way } from './way.ts';

/** A packet by itself: its bytes, what they say, and what a fault may ask of it. */
export interface GatePacket {
  readonly bytes: Buffer;
  readonly packet: Packet;
  /** Where the payload of a PUBLISH begins, the body of any other packet. */
  readonly bodyAt: number;
  readonly seen: SeenPacket;
}

/** Reads what a payload says of itself; null where it says nothing. */
export type ReadStamp = (payload: Buffer) => SeenStamp | null;

/** DUP of a PUBLISH [MQTT-3.3.1.1]. */
const DUP = 0x08;

/**
 * The whole packet as it came, fixed header included. @throws Error for a remaining length that is
 * longer than it need be: it could not be passed on byte for byte.
 */
export function wholePacket({ bytes, header, at, end }: PacketView): Buffer {
  const start = at - 1 - remainingLengthSize(end - at);
  if (start < 0 || bytes[start] !== header) throw new Error('a remaining length that is padded');
  return bytes.subarray(start, end);
}

interface Seeing {
  readonly way: Way;
  readonly clientId: string;
  readonly version: ProtocolVersion;
  /** Topics by alias, of this direction of the connection. */
  readonly aliases: Map<number, string>;
  readonly readStamp: ReadStamp;
}

/** @throws PacketError for a packet that is not well formed. */
export function readPacket(view: PacketView, seeing: Seeing): GatePacket {
  const { way, clientId, version, aliases, readStamp } = seeing;
  const bytes = Buffer.from(wholePacket(view));
  const packet = decodePacket(view, version);
  const packetId = 'packetId' in packet ? packet.packetId : 0;
  if (packet.type !== 'publish') {
    const seen = { way, clientId, packetId, topic: '', qos: 0, stamp: null };
    return { bytes, packet, bodyAt: bytes.length - (view.end - view.at), seen };
  }
  const payload = Buffer.from(packet.payload);
  const seen = {
    way,
    clientId,
    packetId,
    topic: topicOf(packet, aliases),
    qos: packet.qos,
    stamp: readStamp(payload),
  };
  return { bytes, packet, bodyAt: bytes.length - payload.length, seen };
}

/** Learns an alias, or resolves it [MQTT-3.3.2.3.4]. */
export function topicOf(
  { topic, properties }: Extract<Packet, { type: 'publish' }>,
  aliases: Map<number, string>,
): string {
  const alias = properties?.topicAlias;
  if (alias === undefined) return topic;
  if (topic !== '') aliases.set(alias, topic);
  return aliases.get(alias) ?? '';
}

/** A copy with some bits of one byte of its body flipped; `at` counts from the end where negative. */
export function corrupted({ bytes, bodyAt }: GatePacket, at: number, bits = 0x01): Buffer {
  const place = at < 0 ? bytes.length + at : bodyAt + at;
  if (place < bodyAt || place >= bytes.length) throw new Error(`the packet has no byte ${at}`);
  const copy = Buffer.from(bytes);
  copy[place] = (copy[place] ?? 0) ^ bits;
  return copy;
}

/** The same packet sent again. */
export function repeated({ bytes, seen }: GatePacket): Buffer {
  if (seen.qos === 0) return bytes;
  const copy = Buffer.from(bytes);
  copy[0] = (copy[0] ?? 0) | DUP;
  return copy;
}

/** The packet with other fields. */
export function rewritten({ packet }: GatePacket, to: PacketFields, version: ProtocolVersion) {
  const known = Object.entries(to).filter(([field]) => field in packet || field === 'properties');
  return encodePacket({ ...packet, ...Object.fromEntries(known) }, version);
}

/** The answer that refuses a client's request; null for a packet that has none. */
export function refusalOf(packet: Packet, reasonCode: number): Packet | null {
  if (packet.type === 'connect') return { type: 'connack', sessionPresent: false, reasonCode };
  if (packet.type === 'publish') {
    if (packet.qos === 0) return null;
    const type = packet.qos === 1 ? 'puback' : 'pubrec';
    return { type, packetId: packet.packetId, reasonCode };
  }
  if (packet.type === 'pubrel') {
    return { type: 'pubcomp', packetId: packet.packetId, reasonCode };
  }
  if (packet.type === 'subscribe') {
    const reasonCodes = packet.subscriptions.map(() => reasonCode);
    return { type: 'suback', packetId: packet.packetId, reasonCodes };
  }
  if (packet.type === 'unsubscribe') {
    const reasonCodes = packet.filters.map(() => reasonCode);
    return { type: 'unsuback', packetId: packet.packetId, reasonCodes };
  }
  return null;
}
