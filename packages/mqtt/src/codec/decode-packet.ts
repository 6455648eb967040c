import { ByteReader } from './byte-reader.ts';
import { malformed, violation } from './packet-error.ts';
import type { PacketView } from './packet-framer.ts';
import type { PacketName } from './packet-type.ts';
import type { Packet } from './packet.ts';
import { decodeAck, readReason } from './packets/acks.ts';
import { decodeConnack } from './packets/connack.ts';
import { decodeConnect } from './packets/connect.ts';
import { decodePublish } from './packets/publish.ts';
import { decodeCodes, decodeSubscribe, decodeUnsubscribe } from './packets/subscribe.ts';
import type { ProtocolVersion } from './protocol-version.ts';

/**
 * The packet that a `PacketFramer` found, whoever sent it: everything in it is a copy. A CONNECT
 * says its version itself, whatever `version` is. Throws a `PacketError` for a packet that is not
 * well formed, or that breaks a rule which shows in the packet alone.
 */
export function decodePacket(view: PacketView, version: ProtocolVersion): Packet {
  const kind = KINDS[(view.header >> 4) - 1];
  if (kind === undefined) throw malformed('reserved packet type 0 [MQTT-2.1.2]');
  const flags = view.header & 0x0f;
  checkFlags(kind.name, flags, version);
  const from = new ByteReader(view.bytes, view.at, view.end);
  const packet = kind.decode(from, version, flags);
  if (from.left > 0) throw malformed('packet longer than its fields');
  return packet;
}

type Decode = (from: ByteReader, version: ProtocolVersion, flags: number) => Packet;

/** By the number of the type, from 1 on. */
const KINDS: readonly { readonly name: PacketName; readonly decode: Decode }[] = [
  { name: 'connect', decode: decodeConnect },
  { name: 'connack', decode: decodeConnack },
  { name: 'publish', decode: (from, version, flags) => decodePublish(from, flags, version) },
  { name: 'puback', decode: (from, version) => decodeAck(from, 'puback', version) },
  { name: 'pubrec', decode: (from, version) => decodeAck(from, 'pubrec', version) },
  { name: 'pubrel', decode: (from, version) => decodeAck(from, 'pubrel', version) },
  { name: 'pubcomp', decode: (from, version) => decodeAck(from, 'pubcomp', version) },
  { name: 'subscribe', decode: decodeSubscribe },
  { name: 'suback', decode: (from, version) => decodeCodes(from, 'suback', version) },
  { name: 'unsubscribe', decode: decodeUnsubscribe },
  { name: 'unsuback', decode: (from, version) => decodeCodes(from, 'unsuback', version) },
  { name: 'pingreq', decode: () => ({ type: 'pingreq' }) },
  { name: 'pingresp', decode: () => ({ type: 'pingresp' }) },
  { name: 'disconnect', decode: (from, version) => decodeEnding(from, 'disconnect', version) },
  { name: 'auth', decode: (from, version) => decodeEnding(from, 'auth', version) },
];

function decodeEnding(
  from: ByteReader,
  type: 'disconnect' | 'auth',
  version: ProtocolVersion,
): Packet {
  if (version === '5') return { type, ...readReason(from, type) };
  if (type === 'auth') throw violation('AUTH before MQTT 5 [MQTT-2.2.1]');
  return { type, reasonCode: 0 };
}

/** Bits that must be as they are [MQTT-2.1.3-1]; those of PUBLISH mean something. */
function checkFlags(name: PacketName, flags: number, version: ProtocolVersion): void {
  if (name === 'publish') return;
  const expected = WITH_FLAGS.has(name) ? 2 : 0;
  // MQTT 3.1 sends these packets again with DUP, and gives the bits of others no meaning.
  if (version === '3.1' && (flags & 6) === expected) return;
  if (flags !== expected) throw malformed('packet with reserved flags set [MQTT-2.1.3-1]');
}

const WITH_FLAGS: ReadonlySet<PacketName> = new Set(['pubrel', 'subscribe', 'unsubscribe']);
