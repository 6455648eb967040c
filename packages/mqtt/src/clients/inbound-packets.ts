// Data path: every received packet passes here.
import { PUBACK, PUBCOMP, PUBREC, PUBREL } from '../codec/ack-packet.ts';
import { byteAt, element } from '../codec/bytes.ts';
import { decodePacket } from '../codec/decode-packet.ts';
import { PacketError } from '../codec/packet-error.ts';
import { PACKET_TOO_LARGE, type PacketSink, type PacketView } from '../codec/packet-framer.ts';
import { PacketType } from '../codec/packet-type.ts';
import type {
  AuthPacket,
  ConnackPacket,
  Packet,
  SubackPacket,
  UnsubackPacket,
} from '../codec/packet.ts';
import { FIRST_FAILURE_CODE } from '../codec/reason-code.ts';
import { IDENTIFIERS_MAX } from '../codec/v5/publish-packet.ts';
import type { ClientHandlers, InboundSuback } from './client-handlers.ts';
import { brokerDisconnect, malformedPacket, protocolError } from './reasons.ts';
import { ReceivedIds } from './received-ids.ts';
import { Phase, type SlotTable } from './slot-table.ts';
import type { ReceivedPublish, Wire } from './wire/wire.ts';

/** What received packets do to the connection they came by. */
export interface ConnectionControl {
  /** A CONNACK that accepts. */
  accepted(slot: number, connack: ConnackPacket): void;
  refused(slot: number, connack: ConnackPacket): void;
  /** AUTH, before CONNACK or after it. */
  authenticate(slot: number, auth: AuthPacket): void;
  /** Writes PUBACK, PUBREC, PUBREL or PUBCOMP: `ack.header` is its first byte. */
  answer(slot: number, ack: Answer): void;
  /** The peer breaks the protocol, or has ended it: `code` is what MQTT 5 tells it, 0 = nothing. */
  giveUp(slot: number, reason: string, code?: number): void;
  /** Whether the connection being read is still the slot's own (handlers may have ended it). */
  isReading(slot: number): boolean;
}

/** One reused object. */
export interface Answer {
  header: number;
  packetId: number;
  reasonCode: number;
}

const MALFORMED = 0x81;
const PROTOCOL_ERROR = 0x82;
const ID_NOT_FOUND = 0x92;
const RECEIVE_MAXIMUM_EXCEEDED = 0x93;
const TOO_LARGE = 0x95;

/** Checks each packet from a broker against its connection's state and says what it means. */
export class InboundPackets implements PacketSink {
  readonly #table: SlotTable;
  readonly #handlers: ClientHandlers;
  readonly #control: ConnectionControl;
  readonly #wire: Wire;
  readonly #received: ReceivedIds;
  readonly #ack = { packetId: 0, reasonCode: 0 };
  readonly #answer: Answer = { header: 0, packetId: 0, reasonCode: 0 };
  readonly #suback: Mutable<InboundSuback> = noCodes();
  readonly #publish = noPublish();

  constructor(options: {
    readonly table: SlotTable;
    readonly handlers: ClientHandlers;
    readonly control: ConnectionControl;
    readonly wire: Wire;
  }) {
    this.#table = options.table;
    this.#handlers = options.handlers;
    this.#control = options.control;
    this.#wire = options.wire;
    this.#received = new ReceivedIds(options.table.slots);
  }

  packet(slot: number, packet: PacketView): boolean {
    if (byteAt(this.#table.phase, slot) === Phase.connected) this.#connected(slot, packet);
    else this.#first(slot, packet);
    return this.#control.isReading(slot);
  }

  /** What can only be refused is refused by its first byte: a body may never come. */
  begins(slot: number, header: number): boolean {
    const type = header >> 4;
    if (byteAt(this.#table.phase, slot) !== Phase.connected) {
      if (this.#mayBeFirst(type)) return true;
      this.#control.giveUp(slot, notConnack(header));
      return false;
    }
    if (this.#wire.mayReceive(type)) return true;
    this.#control.giveUp(slot, unexpected(type), PROTOCOL_ERROR);
    return false;
  }

  malformed(slot: number, why: string): void {
    const code = why === PACKET_TOO_LARGE ? TOO_LARGE : MALFORMED;
    this.#control.giveUp(slot, malformedPacket(why), code);
  }

  /** A session goes on by the connection of another slot. */
  moveSession(from: number, to: number): void {
    this.#received.move(from, to);
  }

  #mayBeFirst(type: number): boolean {
    return type === PacketType.connack || (type === PacketType.auth && this.#wire.version === '5');
  }

  #first(slot: number, view: PacketView): void {
    if (!this.#mayBeFirst(view.header >> 4)) {
      this.#control.giveUp(slot, notConnack(view.header));
      return;
    }
    const packet = this.#decode(slot, view);
    if (packet?.type === 'auth') this.#control.authenticate(slot, packet);
    if (packet?.type !== 'connack') return;
    if (packet.reasonCode !== 0) this.#control.refused(slot, packet);
    else if (packet.sessionPresent && byteAt(this.#table.cleanStart, slot) === 1) {
      this.#control.giveUp(slot, protocolError('session present on clean start [MQTT-3.2.2-1]'));
    } else {
      if (this.#isNewSession(slot, packet)) this.#received.clear(slot);
      this.#control.accepted(slot, packet);
    }
  }

  #isNewSession(slot: number, { sessionPresent }: ConnackPacket): boolean {
    if (byteAt(this.#table.cleanStart, slot) === 1) return true;
    // MQTT 3.1 does not say it: the client takes its session to be there, as it asked for.
    return !sessionPresent && this.#wire.version !== '3.1';
  }

  #connected(slot: number, packet: PacketView): void {
    switch (packet.header >> 4) {
      case PacketType.puback:
        if (this.#readAck(slot, packet)) {
          this.#handlers.onPuback(slot, this.#ack.packetId, this.#ack.reasonCode);
        }
        return;
      case PacketType.publish:
        this.#onPublish(slot, packet);
        return;
      case PacketType.pubrec:
        if (this.#readAck(slot, packet)) this.#onPubrec(slot);
        return;
      case PacketType.pubrel:
        if (this.#readAck(slot, packet)) this.#onPubrel(slot);
        return;
      case PacketType.pubcomp:
        if (this.#readAck(slot, packet)) {
          this.#handlers.onPubcomp(slot, this.#ack.packetId, this.#ack.reasonCode);
        }
        return;
      default:
        this.#other(slot, packet);
    }
  }

  #readAck(slot: number, packet: PacketView): boolean {
    const why = this.#wire.readAck(packet, this.#ack);
    if (why === null) return true;
    this.malformed(slot, why);
    return false;
  }

  #onPublish(slot: number, packet: PacketView): void {
    const publish = this.#publish;
    const why = this.#wire.readPublish(slot, packet, publish);
    if (why !== null) {
      this.malformed(slot, why);
      return;
    }
    if (publish.qos === 2) {
      this.#onExactlyOnce(slot, publish);
      return;
    }
    this.#handlers.onPublish(slot, publish);
    if (publish.qos === 1 && this.#control.isReading(slot)) {
      this.#reply(slot, PUBACK, publish.packetId);
    }
  }

  /** The message is taken when it comes, its id kept until PUBREL [MQTT-4.3.3, method B]. */
  #onExactlyOnce(slot: number, publish: ReceivedPublish): void {
    const { packetId } = publish;
    if (this.#received.add(slot, packetId)) {
      if (this.#received.countOf(slot) > element(this.#table.receiveMaximum, slot)) {
        this.#control.giveUp(slot, BEYOND_RECEIVE_MAXIMUM, RECEIVE_MAXIMUM_EXCEEDED);
        return;
      }
      this.#handlers.onPublish(slot, publish);
    }
    if (this.#control.isReading(slot)) this.#reply(slot, PUBREC, packetId);
  }

  #onPubrec(slot: number): void {
    const { packetId, reasonCode } = this.#ack;
    const isKnown = this.#handlers.onPubrec(slot, packetId, reasonCode);
    if (reasonCode >= FIRST_FAILURE_CODE || !this.#control.isReading(slot)) return;
    if (isKnown) this.#reply(slot, PUBREL, packetId);
    else this.#replyUnknown(slot, PUBREL, packetId);
  }

  #onPubrel(slot: number): void {
    const { packetId } = this.#ack;
    if (this.#received.remove(slot, packetId)) this.#reply(slot, PUBCOMP, packetId);
    else this.#replyUnknown(slot, PUBCOMP, packetId);
  }

  #reply(slot: number, header: number, packetId: number): void {
    const answer = this.#answer;
    answer.header = header;
    answer.packetId = packetId;
    answer.reasonCode = 0;
    this.#control.answer(slot, answer);
  }

  /** MQTT 5 says so; versions before it answer the same as ever. */
  #replyUnknown(slot: number, header: number, packetId: number): void {
    const answer = this.#answer;
    answer.header = header;
    answer.packetId = packetId;
    answer.reasonCode = this.#wire.version === '5' ? ID_NOT_FOUND : 0;
    this.#control.answer(slot, answer);
  }

  /** What is rare is read as an object. */
  #other(slot: number, view: PacketView): void {
    const type = view.header >> 4;
    if (!this.#wire.mayReceive(type)) {
      this.#control.giveUp(slot, unexpected(type), PROTOCOL_ERROR);
      return;
    }
    const packet = this.#decode(slot, view);
    if (packet === null) return;
    if (packet.type === 'pingresp') this.#table.pingSentUs[slot] = 0;
    else if (packet.type === 'suback') this.#handlers.onSuback(slot, this.#codes(view, packet));
    else if (packet.type === 'unsuback') this.#handlers.onUnsuback(slot, this.#codes(view, packet));
    else if (packet.type === 'auth') this.#control.authenticate(slot, packet);
    else if (packet.type === 'disconnect') {
      this.#control.giveUp(slot, brokerDisconnect(packet.reasonCode));
    }
  }

  /** Codes are the last thing in these packets. */
  #codes(view: PacketView, packet: SubackPacket | UnsubackPacket): InboundSuback {
    const suback = this.#suback;
    suback.packetId = packet.packetId;
    suback.bytes = view.bytes;
    suback.codesLength = packet.reasonCodes.length;
    suback.codesAt = view.end - suback.codesLength;
    return suback;
  }

  #decode(slot: number, view: PacketView): Packet | null {
    try {
      return decodePacket(view, this.#wire.version);
    } catch (error) {
      if (!(error instanceof PacketError)) throw error;
      const { message, reasonCode } = error;
      const isMalformed = reasonCode === MALFORMED;
      const why = `${nameOf(view.header >> 4)}: ${message}`;
      this.#control.giveUp(
        slot,
        isMalformed ? malformedPacket(why) : protocolError(why),
        reasonCode,
      );
      return null;
    }
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

function noCodes(): Mutable<InboundSuback> {
  return { packetId: 0, bytes: Buffer.alloc(0), codesAt: 0, codesLength: 0 };
}

function noPublish(): ReceivedPublish {
  const nothing = Buffer.alloc(0);
  return {
    bytes: nothing,
    topicBytes: nothing,
    topicAt: 0,
    topicLength: 0,
    payloadAt: 0,
    payloadLength: 0,
    qos: 0,
    dup: false,
    retain: false,
    packetId: 0,
    topicAlias: 0,
    expiryS: -1,
    responseTopicAt: -1,
    responseTopicLength: 0,
    correlationAt: -1,
    correlationLength: 0,
    identifiers: new Uint32Array(IDENTIFIERS_MAX),
    identifierCount: 0,
  };
}

/** First bytes of other protocols: an alert of TLS (RFC 8446, 5.1), "HTTP/". */
const TLS_ALERT = 0x15;
const LETTER_H = 0x48;

/** A peer that does not speak MQTT at all ends with this, too. */
function notConnack(header: number): string {
  const what = 'first packet is not CONNACK [MQTT-3.2.0-1]';
  if (header === TLS_ALERT) return protocolError(`${what}: the port speaks TLS`);
  return protocolError(header === LETTER_H ? `${what}: the port speaks HTTP` : what);
}

const BEYOND_RECEIVE_MAXIMUM = protocolError(
  'more QoS 2 messages than the receive maximum [MQTT-3.3.4-9]',
);

const NAMES = new Map<number, string>();
for (const [name, type] of Object.entries(PacketType)) NAMES.set(type, name);

function nameOf(type: number): string {
  return NAMES.get(type)?.toUpperCase() ?? `packet of the reserved type ${type}`;
}

function unexpected(type: number): string {
  return protocolError(`unexpected ${nameOf(type)} from the broker [MQTT-4.8.0-1]`);
}
