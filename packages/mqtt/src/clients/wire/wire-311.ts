// Data path: the messages of MQTT 3.1 and 3.1.1.
import { type AckFields, readAck311 } from '../../codec/ack-packet.ts';
import type { PacketView } from '../../codec/packet-framer.ts';
import { PacketType } from '../../codec/packet-type.ts';
import type { PublishMessage } from '../../codec/publish-message.ts';
import { publishSize, readPublish, writePublish } from '../../codec/v311/publish-packet.ts';
import type { ReceivedPublish, Wire } from './wire.ts';

/** MQTT 3.1 and 3.1.1, which do not differ in the packets of messages. */
export class Wire311 implements Wire {
  readonly version: '3.1' | '3.1.1';

  constructor(version: '3.1' | '3.1.1') {
    this.version = version;
  }

  publishSize(_slot: number, message: PublishMessage): number {
    return publishSize(message);
  }

  writePublish(bytes: Buffer, at: number, message: PublishMessage): void {
    writePublish(bytes, at, message);
  }

  readPublish(_slot: number, packet: PacketView, out: ReceivedPublish): string | null {
    out.topicBytes = packet.bytes;
    return readPublish(packet, out);
  }

  readAck(packet: PacketView, out: AckFields): string | null {
    return readAck311(packet, out);
  }

  mayReceive(type: number): boolean {
    return type !== PacketType.connack && FROM_SERVERS.has(type);
  }

  begin(): void {}

  allowAliases(): void {}
}

/** What a server sends, by type, before MQTT 5. */
export const FROM_SERVERS: ReadonlySet<number> = new Set([
  PacketType.connack,
  PacketType.publish,
  PacketType.puback,
  PacketType.pubrec,
  PacketType.pubrel,
  PacketType.pubcomp,
  PacketType.suback,
  PacketType.unsuback,
  PacketType.pingresp,
]);
