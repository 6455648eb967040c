import type { AckFields } from '../../codec/ack-packet.ts';
import type { PacketView } from '../../codec/packet-framer.ts';
import type { ProtocolVersion } from '../../codec/protocol-version.ts';
import type { PublishMessage } from '../../codec/publish-message.ts';
import type { PublishFields5 } from '../../codec/v5/publish-packet.ts';

/** What an empty set of the fields of a received PUBLISH looks like; `topicBytes` may be others. */
export interface ReceivedPublish extends PublishFields5 {
  /** Where `topicAt` and `topicLength` point into: `bytes`, or the memory of a topic alias. */
  topicBytes: Buffer;
}

/**
 * What the version of a pool decides about messages on their way: chosen once, at the pool's making,
 * so that nothing asks for the version a message.
 */
export interface Wire {
  readonly version: ProtocolVersion;

  /** Size of the message's PUBLISH if it is the next one that the slot writes. */
  publishSize(slot: number, message: PublishMessage): number;
  /** Writes the PUBLISH whose size was asked for last, at a place of that size. */
  writePublish(bytes: Buffer, at: number, message: PublishMessage): void;

  /** Fills `out` and gives null, or what is wrong (from a fixed set). */
  readPublish(slot: number, packet: PacketView, out: ReceivedPublish): string | null;
  readAck(packet: PacketView, out: AckFields): string | null;

  /** Whether a server may send a packet of this type to a connected client. */
  mayReceive(type: number): boolean;
  /** A connection begins: `aliasMaximum` is what the client lets its broker use. */
  begin(slot: number, aliasMaximum: number): void;
  /** The broker takes topic aliases up to `maximum`. */
  allowAliases(slot: number, maximum: number): void;
}
