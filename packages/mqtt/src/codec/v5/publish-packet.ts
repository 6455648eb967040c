// Data path: PUBLISH of MQTT 5, both ways.
import { byteAt, uint16At } from '../bytes.ts';
import type { PacketView } from '../packet-framer.ts';
import { PacketType } from '../packet-type.ts';
import type { PublishMessage } from '../publish-message.ts';
import { remainingLengthSize, writeRemainingLength } from '../remaining-length.ts';
import type { PublishFields } from '../v311/publish-packet.ts';

const PUBLISH_HEADER = PacketType.publish << 4;
const TOPIC_ALIAS = 0x23;
/** Identifier and value of a topic alias. */
const ALIAS_BYTES = 3;
/** An empty topic: its length alone. */
const EMPTY_TOPIC_BYTES = 2;

/** How a PUBLISH names its topic; 0 = without alias. */
export interface TopicNaming {
  alias: number;
  /** The broker knows the alias: the topic stays away. */
  isKnown: boolean;
}

/** Size of the whole PUBLISH packet on the wire. */
export function publishSize5(message: PublishMessage, naming: TopicNaming): number {
  const body = bodySize(message, naming);
  return 1 + remainingLengthSize(body) + body;
}

function propertiesSize(message: PublishMessage, naming: TopicNaming): number {
  return message.properties.length + (naming.alias === 0 ? 0 : ALIAS_BYTES);
}

function bodySize(message: PublishMessage, naming: TopicNaming): number {
  const { topics, topic } = message;
  const topicSize = naming.isKnown
    ? EMPTY_TOPIC_BYTES
    : topics.startOf(topic + 1) - topics.startOf(topic);
  const properties = propertiesSize(message, naming);
  return (
    topicSize +
    (message.qos === 0 ? 0 : 2) +
    remainingLengthSize(properties) +
    properties +
    message.payload.length
  );
}

/** Where a PUBLISH is to be written: `publishSize5` bytes are reserved there. */
export interface Place {
  bytes: Buffer;
  at: number;
}

/** Writes a PUBLISH [MQTT-3.3]. */
export function writePublish5(place: Place, message: PublishMessage, naming: TopicNaming): void {
  const { bytes, at } = place;
  const { qos, properties, payload } = message;
  // DUP is 0 at QoS 0 [MQTT-3.3.1-2].
  bytes[at] =
    PUBLISH_HEADER | (message.dup && qos > 0 ? 8 : 0) | (qos << 1) | (message.retain ? 1 : 0);
  let to = writeRemainingLength(bytes, at + 1, bodySize(message, naming));
  if (naming.isKnown) {
    bytes[to] = 0;
    bytes[to + 1] = 0;
    to += EMPTY_TOPIC_BYTES;
  } else to = writeTopic(bytes, to, message);
  if (qos > 0) {
    bytes[to] = message.packetId >>> 8;
    bytes[to + 1] = message.packetId & 0xff;
    to += 2;
  }
  to = writeRemainingLength(bytes, to, propertiesSize(message, naming));
  if (naming.alias !== 0) {
    bytes[to] = TOPIC_ALIAS;
    bytes[to + 1] = naming.alias >>> 8;
    bytes[to + 2] = naming.alias & 0xff;
    to += ALIAS_BYTES;
  }
  if (properties.length > 0) {
    bytes.set(properties, to);
    to += properties.length;
  }
  bytes.set(payload, to);
}

// Topics are short: a loop beats the view that a block copy of a part would need.
function writeTopic(bytes: Buffer, at: number, { topics, topic }: PublishMessage): number {
  const from = topics.bytes;
  const end = topics.startOf(topic + 1);
  let to = at;
  for (let i = topics.startOf(topic); i < end; i += 1) {
    bytes[to] = byteAt(from, i);
    to += 1;
  }
  return to;
}

/** Subscription identifiers of one PUBLISH that are looked at; more are read and forgotten. */
export const IDENTIFIERS_MAX = 16;

/** What a PUBLISH of MQTT 5 says beyond that of 3.1.1; positions are in `bytes`. */
export interface PublishFields5 extends PublishFields {
  /** 0: none. */
  topicAlias: number;
  /** s; -1: none. */
  expiryS: number;
  /** -1: none. */
  responseTopicAt: number;
  responseTopicLength: number;
  /** -1: none. */
  correlationAt: number;
  correlationLength: number;
  readonly identifiers: Uint32Array;
  identifierCount: number;
}

/** Reads PUBLISHes of MQTT 5 where they lie. It keeps nothing from one packet to the next. */
export class PublishReader5 {
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #end = 0;
  /** Identifiers of the properties seen, a bit each, for those that may come once only. */
  #seenLow = 0;
  #seenHigh = 0;

  /** Fills `out` from a PUBLISH and gives null, or what is wrong with it (from a fixed set). */
  read(packet: PacketView, out: PublishFields5): string | null {
    const { bytes, header, at, end } = packet;
    const qos = (header >> 1) & 3;
    if (qos === 3) return 'PUBLISH with QoS 3 [MQTT-3.3.1-4]';
    if (qos === 0 && (header & 8) !== 0) return 'PUBLISH with QoS 0 and DUP [MQTT-3.3.1-2]';
    if (end - at < 2) return 'PUBLISH without a topic [MQTT-3.3.2-1]';
    out.topicAt = at + 2;
    out.topicLength = uint16At(bytes, at);
    this.#bytes = bytes;
    this.#at = out.topicAt + out.topicLength;
    this.#end = end;
    out.packetId = 0;
    if (qos > 0) {
      if (this.#at + 2 > end) return TOO_SHORT;
      out.packetId = uint16At(bytes, this.#at);
      if (out.packetId === 0) return 'PUBLISH with packet id 0 [MQTT-2.3.1-1]';
      this.#at += 2;
    }
    const why = this.#properties(out);
    if (why !== null) return why;
    if (out.topicLength === 0 && out.topicAlias === 0) {
      return 'PUBLISH with neither topic nor alias [MQTT-3.3.2-8]';
    }
    out.bytes = bytes;
    out.payloadAt = this.#at;
    out.payloadLength = end - this.#at;
    out.qos = qos;
    out.dup = (header & 8) !== 0;
    out.retain = (header & 1) !== 0;
    return null;
  }

  #properties(out: PublishFields5): string | null {
    out.topicAlias = 0;
    out.expiryS = -1;
    out.responseTopicAt = -1;
    out.correlationAt = -1;
    out.identifierCount = 0;
    const length = this.#varint();
    const end = this.#at + length;
    if (length < 0 || end > this.#end) return TOO_SHORT;
    if (length === 0) return null;
    this.#end = end;
    this.#seenLow = 0;
    this.#seenHigh = 0;
    while (this.#at < end) {
      const why = this.#property(out);
      if (why !== null) return why;
    }
    return this.#at === end ? null : TOO_SHORT;
  }

  #property(out: PublishFields5): string | null {
    const id = byteAt(this.#bytes, this.#at);
    this.#at += 1;
    if (id !== IDENTIFIER && id !== USER_PROPERTY && this.#isSecond(id)) {
      return 'PUBLISH with a property that comes twice [MQTT-2.2.2.2]';
    }
    switch (id) {
      case 0x01:
        this.#at += 1;
        return null;
      case 0x02:
        out.expiryS =
          uint16At(this.#bytes, this.#at) * 65_536 + uint16At(this.#bytes, this.#at + 2);
        this.#at += 4;
        return null;
      case 0x03:
        this.#field();
        return null;
      case 0x08:
        out.responseTopicLength = this.#field();
        out.responseTopicAt = this.#at - out.responseTopicLength;
        return null;
      case 0x09:
        out.correlationLength = this.#field();
        out.correlationAt = this.#at - out.correlationLength;
        return null;
      case IDENTIFIER:
        return this.#identifier(out);
      case TOPIC_ALIAS:
        out.topicAlias = uint16At(this.#bytes, this.#at);
        this.#at += 2;
        return out.topicAlias === 0 ? 'PUBLISH with topic alias 0 [MQTT-3.3.2-8]' : null;
      case USER_PROPERTY:
        this.#field();
        this.#field();
        return null;
      default:
        return 'PUBLISH with a property that it cannot carry [MQTT-2.2.2.2]';
    }
  }

  #identifier(out: PublishFields5): string | null {
    const identifier = this.#varint();
    if (identifier <= 0) return 'PUBLISH with a bad subscription identifier [MQTT-3.8.2.1.2]';
    if (out.identifierCount < IDENTIFIERS_MAX) {
      out.identifiers[out.identifierCount] = identifier;
      out.identifierCount += 1;
    }
    return null;
  }

  /** Steps over a field with its length before it and gives that length. */
  #field(): number {
    const length = uint16At(this.#bytes, this.#at);
    this.#at += 2 + length;
    return length;
  }

  /** A variable byte integer, or -1. */
  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= this.#end) return -1;
      const byte = byteAt(this.#bytes, this.#at);
      this.#at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return -1;
  }

  #isSecond(id: number): boolean {
    const bit = 1 << (id & 31);
    if (id < 32) {
      const seen = (this.#seenLow & bit) !== 0;
      this.#seenLow |= bit;
      return seen;
    }
    const seen = (this.#seenHigh & bit) !== 0;
    this.#seenHigh |= bit;
    return seen;
  }
}

const IDENTIFIER = 0x0b;
const USER_PROPERTY = 0x26;
const TOO_SHORT = 'PUBLISH shorter than its fields';
