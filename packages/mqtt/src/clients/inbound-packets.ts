// Data path: every received packet passes here.
import { byteAt } from '../codec/bytes.ts';
import type { PacketSink, PacketView } from '../codec/packet-framer.ts';
import { PacketType } from '../codec/packet-type.ts';
import { readConnack } from '../codec/v311/connect-packet.ts';
import { readPuback, readPublish } from '../codec/v311/publish-packet.ts';
import { readSuback } from '../codec/v311/subscribe-packet.ts';
import type { ClientHandlers } from './client-handlers.ts';
import { malformedPacket, protocolError } from './reasons.ts';
import { Phase, type SlotTable } from './slot-table.ts';

/** What received packets do to the connection they came by. */
export interface ConnectionControl {
  accepted(slot: number, sessionPresent: boolean): void;
  refused(slot: number, code: number): void;
  acknowledge(slot: number, packetId: number): void;
  /** The peer breaks the protocol: end the connection [MQTT-4.8.0-1]. */
  giveUp(slot: number, reason: string): void;
  /** Whether the connection being read is still the slot's own (handlers may have ended it). */
  isReading(slot: number): boolean;
}

/** Checks each packet from a broker against its connection's state and says what it means. */
export class InboundPackets implements PacketSink {
  readonly #table: SlotTable;
  readonly #handlers: ClientHandlers;
  readonly #control: ConnectionControl;
  readonly #connack = { sessionPresent: false, code: 0 };
  readonly #suback = { packetId: 0, bytes: Buffer.alloc(0), codesAt: 0, codesLength: 0 };
  readonly #publish = {
    bytes: Buffer.alloc(0),
    topicAt: 0,
    topicLength: 0,
    payloadAt: 0,
    payloadLength: 0,
    qos: 0,
    dup: false,
    retain: false,
    packetId: 0,
  };

  constructor(table: SlotTable, handlers: ClientHandlers, control: ConnectionControl) {
    this.#table = table;
    this.#handlers = handlers;
    this.#control = control;
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
      if (type === PacketType.connack) return true;
      this.#control.giveUp(slot, NOT_CONNACK);
      return false;
    }
    if (EXPECTED.has(type)) return true;
    this.#control.giveUp(slot, unexpected(type));
    return false;
  }

  malformed(slot: number, why: string): void {
    this.#control.giveUp(slot, malformedPacket(why));
  }

  #first(slot: number, packet: PacketView): void {
    if (packet.header >> 4 !== PacketType.connack) {
      this.#control.giveUp(slot, NOT_CONNACK);
      return;
    }
    const connack = this.#connack;
    const why = readConnack(packet, connack);
    if (why !== null) this.malformed(slot, why);
    else if (connack.code !== 0) this.#control.refused(slot, connack.code);
    else if (connack.sessionPresent && byteAt(this.#table.cleanStart, slot) === 1) {
      this.#control.giveUp(slot, protocolError('session present on clean start [MQTT-3.2.2-1]'));
    } else this.#control.accepted(slot, connack.sessionPresent);
  }

  #connected(slot: number, packet: PacketView): void {
    switch (packet.header >> 4) {
      case PacketType.puback: {
        const packetId = readPuback(packet);
        if (packetId === 0) this.malformed(slot, 'PUBACK [MQTT-3.4]');
        else this.#handlers.onPuback(slot, packetId);
        return;
      }
      case PacketType.publish:
        this.#received(slot, packet);
        return;
      case PacketType.suback: {
        const why = readSuback(packet, this.#suback);
        if (why !== null) this.malformed(slot, why);
        else this.#handlers.onSuback(slot, this.#suback);
        return;
      }
      case PacketType.pingresp:
        if (packet.header !== PacketType.pingresp << 4 || packet.end !== packet.at) {
          this.malformed(slot, 'PINGRESP [MQTT-3.13]');
        } else this.#table.pingSentUs[slot] = 0;
        return;
      default:
        this.#control.giveUp(slot, unexpected(packet.header >> 4));
    }
  }

  #received(slot: number, packet: PacketView): void {
    const publish = this.#publish;
    const why = readPublish(packet, publish);
    if (why !== null) {
      this.malformed(slot, why);
      return;
    }
    if (publish.qos === 2) {
      // Never asked for: subscriptions of this version grant QoS 1 at most [MQTT-3.8.4-6].
      this.#control.giveUp(slot, protocolError('PUBLISH with QoS 2, above the granted QoS'));
      return;
    }
    this.#handlers.onPublish(slot, publish);
    if (publish.qos === 1 && this.#control.isReading(slot)) {
      this.#control.acknowledge(slot, publish.packetId);
    }
  }
}

/** A peer that does not speak MQTT at all ends with this, too. */
const NOT_CONNACK = protocolError('first packet is not CONNACK [MQTT-3.2.0-1]');

/** What a broker may send to a connected client of this version. */
const EXPECTED: ReadonlySet<number> = new Set([
  PacketType.puback,
  PacketType.publish,
  PacketType.suback,
  PacketType.pingresp,
]);

const NAMES = new Map<number, string>();
for (const [name, type] of Object.entries(PacketType)) NAMES.set(type, name);

function unexpected(type: number): string {
  const name = NAMES.get(type);
  return protocolError(
    name === undefined
      ? `reserved packet type ${type} [MQTT-2.2.1]`
      : `unexpected ${name.toUpperCase()} from the broker [MQTT-4.8.0-1]`,
  );
}
