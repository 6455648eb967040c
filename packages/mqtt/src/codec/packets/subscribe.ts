import type { ByteReader } from '../byte-reader.ts';
import { ByteWriter } from '../byte-writer.ts';
import { malformed, violation } from '../packet-error.ts';
import type {
  SubackPacket,
  SubscribePacket,
  Subscription,
  UnsubackPacket,
  UnsubscribePacket,
} from '../packet.ts';
import { readProperties } from '../properties/read-properties.ts';
import { writeProperties } from '../properties/write-properties.ts';
import type { ProtocolVersion } from '../protocol-version.ts';
import { isReasonCodeOf } from '../reason-code.ts';
import { readPacketId, writePacketId } from './packet-id.ts';
import { qosOf } from './qos.ts';

const NO_LOCAL = 4;
const RETAIN_AS_PUBLISHED = 8;
/** Flags 0010 of SUBSCRIBE and UNSUBSCRIBE [MQTT-3.8.1-1, 3.10.1-1]. */
const FLAGS = 2;

/**
 * A SUBSCRIBE packet [MQTT-3.8]. Throws a RangeError without filters [MQTT-3.8.3-2], for an empty or
 * too long filter, and for options that the version does not have.
 */
export function encodeSubscribe(packet: SubscribePacket, version: ProtocolVersion): Buffer {
  const { packetId, subscriptions, properties } = packet;
  if (subscriptions.length === 0) throw new RangeError('SUBSCRIBE has a filter [MQTT-3.8.3-3]');
  const to = new ByteWriter();
  writePacketId(to, packetId);
  if (version === '5') writeProperties(to, 'subscribe', properties ?? {});
  for (const subscription of subscriptions) {
    writeFilter(to, subscription.filter);
    to.uint8('subscription options', optionBits(subscription, version));
  }
  return to.packet('subscribe', FLAGS);
}

export function decodeSubscribe(from: ByteReader, version: ProtocolVersion): SubscribePacket {
  const packetId = readPacketId(from);
  const properties = version === '5' ? readProperties(from, 'subscribe') : undefined;
  const subscriptions: Subscription[] = [];
  do subscriptions.push(readSubscription(from, version));
  while (from.left > 0);
  return {
    type: 'subscribe',
    packetId,
    subscriptions,
    ...(properties !== undefined && { properties }),
  };
}

export function encodeUnsubscribe(packet: UnsubscribePacket, version: ProtocolVersion): Buffer {
  const { packetId, filters, properties } = packet;
  if (filters.length === 0) throw new RangeError('UNSUBSCRIBE has a filter [MQTT-3.10.3-2]');
  const to = new ByteWriter();
  writePacketId(to, packetId);
  if (version === '5') writeProperties(to, 'unsubscribe', properties ?? {});
  for (const filter of filters) writeFilter(to, filter);
  return to.packet('unsubscribe', FLAGS);
}

export function decodeUnsubscribe(from: ByteReader, version: ProtocolVersion): UnsubscribePacket {
  const packetId = readPacketId(from);
  const properties = version === '5' ? readProperties(from, 'unsubscribe') : undefined;
  const filters: string[] = [];
  do filters.push(readFilter(from));
  while (from.left > 0);
  return {
    type: 'unsubscribe',
    packetId,
    filters,
    ...(properties !== undefined && { properties }),
  };
}

type CodesPacket = SubackPacket | UnsubackPacket;

/** SUBACK, or UNSUBACK, which has no codes before MQTT 5. */
export function encodeCodes(packet: CodesPacket, version: ProtocolVersion): Buffer {
  const { type, packetId, properties } = packet;
  const to = new ByteWriter();
  writePacketId(to, packetId);
  if (version === '5') writeProperties(to, type, properties ?? {});
  if (version === '5' || type === 'suback') {
    for (const code of packet.reasonCodes) to.uint8('reason code', code);
  }
  return to.packet(type, 0);
}

export function decodeCodes(
  from: ByteReader,
  type: CodesPacket['type'],
  version: ProtocolVersion,
): CodesPacket {
  const packetId = readPacketId(from);
  if (version !== '5' && type === 'unsuback') return { type, packetId, reasonCodes: [] };
  const properties = version === '5' ? readProperties(from, type) : undefined;
  if (from.left === 0) throw malformed('SUBACK or UNSUBACK without a code [MQTT-3.9.3, 3.11.3]');
  const reasonCodes = [...from.rest()];
  for (const code of reasonCodes) {
    const known = version === '5' ? isReasonCodeOf(type, code) : code <= 2 || code === 0x80;
    if (!known) throw violation('SUBACK or UNSUBACK with a reserved code [MQTT-3.9.3-2]');
  }
  return { type, packetId, reasonCodes, ...(properties !== undefined && { properties }) };
}

function writeFilter(to: ByteWriter, filter: string): void {
  if (filter === '') throw new RangeError('a topic filter is not empty [MQTT-4.7.3-1]');
  to.text('topic filter', filter);
}

function readFilter(from: ByteReader): string {
  if (from.left === 0) throw violation('SUBSCRIBE or UNSUBSCRIBE without a filter [MQTT-3.8.3-2]');
  const filter = from.text();
  if (filter === '') throw malformed('topic filter that is empty [MQTT-4.7.3-1]');
  return filter;
}

function optionBits(subscription: Subscription, version: ProtocolVersion): number {
  const { qos, noLocal, retainAsPublished, retainHandling, filter } = subscription;
  const options =
    (noLocal === true ? NO_LOCAL : 0) |
    (retainAsPublished === true ? RETAIN_AS_PUBLISHED : 0) |
    ((retainHandling ?? 0) << 4);
  if (options !== 0 && version !== '5') {
    throw new RangeError('no-local, retain-as-published and retain handling need MQTT 5');
  }
  if (noLocal === true && filter.startsWith('$share/')) {
    throw new RangeError('no-local is not for shared subscriptions [MQTT-3.8.3-4]');
  }
  return qos | options;
}

function readSubscription(from: ByteReader, version: ProtocolVersion): Subscription {
  const filter = readFilter(from);
  const bits = from.uint8();
  const qos = qosOf(bits & 3);
  if (version !== '5') {
    if (bits > 2) throw malformed('SUBSCRIBE with reserved bits set [MQTT-3.8.3-4]');
    return { filter, qos };
  }
  const handling = (bits >> 4) & 3;
  if (bits > 0x3f) throw malformed('SUBSCRIBE with reserved bits set [MQTT-3.8.3-5]');
  if (handling === 3) throw violation('SUBSCRIBE with retain handling 3 [MQTT-3.8.3.1]');
  const noLocal = (bits & NO_LOCAL) !== 0;
  if (noLocal && filter.startsWith('$share/')) {
    throw violation('SUBSCRIBE with no-local and a shared subscription [MQTT-3.8.3-4]');
  }
  return {
    filter,
    qos,
    noLocal,
    retainAsPublished: (bits & RETAIN_AS_PUBLISHED) !== 0,
    retainHandling: qosOf(handling),
  };
}
