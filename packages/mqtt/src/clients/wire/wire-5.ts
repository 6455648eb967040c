// Data path: the messages of MQTT 5.
import { type AckFields, readAck5 } from '../../codec/ack-packet.ts';
import type { PacketView } from '../../codec/packet-framer.ts';
import { PacketType } from '../../codec/packet-type.ts';
import type { PublishMessage } from '../../codec/publish-message.ts';
import {
  type Place,
  PublishReader5,
  publishSize5,
  writePublish5,
} from '../../codec/v5/publish-packet.ts';
import { ReceivedAliases } from './received-aliases.ts';
import { SentAliases } from './sent-aliases.ts';
import type { ReceivedPublish, Wire } from './wire.ts';
import { FROM_SERVERS } from './wire-311.ts';

/** MQTT 5: properties and topic aliases. */
export class Wire5 implements Wire {
  readonly version = '5';
  readonly #reader = new PublishReader5();
  readonly #sent: SentAliases;
  readonly #received: ReceivedAliases;
  /** Of the PUBLISH whose size was asked for last. */
  readonly #naming = { alias: 0, isKnown: false };
  readonly #place: Place = { bytes: Buffer.alloc(0), at: 0 };
  #slot = 0;

  constructor(slots: number) {
    this.#sent = new SentAliases(slots);
    this.#received = new ReceivedAliases(slots);
  }

  publishSize(slot: number, message: PublishMessage): number {
    this.#slot = slot;
    this.#sent.choose(slot, message, this.#naming);
    return publishSize5(message, this.#naming);
  }

  writePublish(bytes: Buffer, at: number, message: PublishMessage): void {
    const naming = this.#naming;
    this.#place.bytes = bytes;
    this.#place.at = at;
    writePublish5(this.#place, message, naming);
    if (naming.alias !== 0 && !naming.isKnown) this.#sent.told(this.#slot, message, naming.alias);
  }

  readPublish(slot: number, packet: PacketView, out: ReceivedPublish): string | null {
    out.topicBytes = packet.bytes;
    const why = this.#reader.read(packet, out);
    if (why !== null || out.topicAlias === 0) return why;
    return this.#received.resolve(slot, out);
  }

  readAck(packet: PacketView, out: AckFields): string | null {
    return readAck5(packet, out);
  }

  mayReceive(type: number): boolean {
    return type !== PacketType.connack && (FROM_SERVERS.has(type) || LATE_ENDINGS.has(type));
  }

  begin(slot: number, aliasMaximum: number): void {
    this.#sent.begin(slot);
    this.#received.begin(slot, aliasMaximum);
  }

  allowAliases(slot: number, maximum: number): void {
    this.#sent.maximum[slot] = maximum;
  }
}

const LATE_ENDINGS: ReadonlySet<number> = new Set([PacketType.disconnect, PacketType.auth]);
