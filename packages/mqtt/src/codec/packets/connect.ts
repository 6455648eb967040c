import type { ByteReader } from '../byte-reader.ts';
import { ByteWriter } from '../byte-writer.ts';
import type { ConnectPacket, Will } from '../packet.ts';
import { malformed, PacketError, violation } from '../packet-error.ts';
import { readProperties } from '../properties/read-properties.ts';
import { writeProperties } from '../properties/write-properties.ts';
import { PROTOCOL_MARKS, type ProtocolVersion } from '../protocol-version.ts';
import { qosOf } from './qos.ts';
import { checkTopic } from './topic.ts';

const CLEAN_START = 0x02;
const WILL = 0x04;
const WILL_RETAIN = 0x20;
const PASSWORD = 0x40;
const USERNAME = 0x80;

/**
 * A CONNECT packet [MQTT-3.1], of the version that it says. Throws a RangeError for fields that no
 * CONNECT can carry: text of more than 65,535 bytes or with NUL, a password without user name
 * (before MQTT 5), an empty client id without clean start (before MQTT 5, and in 3.1 altogether),
 * a keep-alive that is no whole number of 0–65,535 s, a will topic with wildcards.
 */
export function encodeConnect(packet: ConnectPacket): Buffer {
  const { version, clientId, username, password, keepAliveS, will } = packet;
  checkConnect(packet);
  const mark = PROTOCOL_MARKS[version];
  const to = new ByteWriter();
  to.text('protocol name', mark.name);
  to.uint8('protocol level', mark.level);
  to.uint8('connect flags', connectFlags(packet));
  to.uint16('keep-alive', keepAliveS);
  if (version === '5') writeProperties(to, 'connect', packet.properties ?? {});
  to.text('client id', clientId);
  if (will !== undefined) writeWill(to, will, version);
  if (username !== undefined) to.text('user name', username);
  if (password !== undefined) to.binary('password', password);
  return to.packet('connect', 0);
}

function connectFlags({ cleanStart, username, password, will }: ConnectPacket): number {
  let flags = cleanStart ? CLEAN_START : 0;
  if (username !== undefined) flags |= USERNAME;
  if (password !== undefined) flags |= PASSWORD;
  if (will !== undefined) flags |= WILL | (will.qos << 3) | (will.retain ? WILL_RETAIN : 0);
  return flags;
}

function checkConnect(packet: ConnectPacket): void {
  const { version, clientId, username, password, keepAliveS, cleanStart } = packet;
  if (!Number.isInteger(keepAliveS) || keepAliveS < 0 || keepAliveS > 65_535) {
    throw new RangeError(`keep-alive is 0 to 65,535 whole seconds, not ${keepAliveS}`);
  }
  if (clientId === '' && version === '3.1') {
    throw new RangeError('MQTT 3.1 has no empty client id [3.1, section 3.1]');
  }
  if (clientId === '' && version === '3.1.1' && !cleanStart) {
    throw new RangeError('an empty client id needs a clean start [MQTT-3.1.3-7]');
  }
  if (password !== undefined && username === undefined && version !== '5') {
    throw new RangeError('a password needs a user name [MQTT-3.1.2-22]');
  }
}

function writeWill(to: ByteWriter, will: Will, version: ProtocolVersion): void {
  checkTopic('will topic', will.topic);
  if (version === '5') writeProperties(to, 'will', will.properties ?? {});
  to.text('will topic', will.topic);
  to.binary('will payload', will.payload);
}

/** Throws a `PacketError`; one with reason code 0x84 for a protocol that is not spoken here. */
export function decodeConnect(from: ByteReader): ConnectPacket {
  const version = readVersion(from);
  const flags = from.uint8();
  checkFlags(flags, version);
  const keepAliveS = from.uint16();
  const properties = version === '5' ? readProperties(from, 'connect') : undefined;
  const clientId = from.text();
  const will = (flags & WILL) === 0 ? undefined : readWill(from, flags, version);
  const username = (flags & USERNAME) === 0 ? undefined : from.text();
  const password = (flags & PASSWORD) === 0 ? undefined : from.binary();
  return {
    type: 'connect',
    version,
    clientId,
    cleanStart: (flags & CLEAN_START) !== 0,
    keepAliveS,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(will !== undefined && { will }),
    ...(properties !== undefined && { properties }),
  };
}

function readVersion(from: ByteReader): ProtocolVersion {
  const name = from.text();
  const level = from.uint8();
  if (name === 'MQIsdp' && level === 3) return '3.1';
  if (name === 'MQTT' && level === 4) return '3.1.1';
  if (name === 'MQTT' && level === 5) return '5';
  throw new PacketError(0x84, 'CONNECT of a protocol that is not MQTT 3.1, 3.1.1 or 5');
}

function checkFlags(flags: number, version: ProtocolVersion): void {
  if ((flags & 1) !== 0 && version !== '3.1') {
    throw malformed('CONNECT with its reserved flag set [MQTT-3.1.2-3]');
  }
  if ((flags & WILL) === 0 && (flags & (WILL_RETAIN | 0x18)) !== 0) {
    throw malformed('CONNECT with will flags and no will [MQTT-3.1.2-11]');
  }
  if ((flags & 0x18) === 0x18) throw malformed('CONNECT with will QoS 3 [MQTT-3.1.2-14]');
  if ((flags & PASSWORD) !== 0 && (flags & USERNAME) === 0 && version !== '5') {
    throw violation('CONNECT with a password and no user name [MQTT-3.1.2-22]');
  }
}

function readWill(from: ByteReader, flags: number, version: ProtocolVersion): Will {
  const properties = version === '5' ? readProperties(from, 'will') : undefined;
  const topic = from.text();
  if (topic === '' || /[#+]/.test(topic)) {
    throw violation('CONNECT with a will topic that is none [MQTT-4.7.3-1, 3.3.2-2]');
  }
  return {
    topic,
    payload: from.binary(),
    qos: qosOf((flags >> 3) & 3),
    retain: (flags & WILL_RETAIN) !== 0,
    ...(properties !== undefined && { properties }),
  };
}
