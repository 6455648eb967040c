/** The wire by itself, without connections: for what stands between clients and brokers. */
export { decodePacket } from './decode-packet.ts';
export { encodePacket } from './encode-packet.ts';
export type {
  AckPacket,
  AuthPacket,
  ConnackPacket,
  ConnectPacket,
  DisconnectPacket,
  Packet,
  PublishPacket,
  Qos,
  SubackPacket,
  SubscribePacket,
  Subscription,
  UnsubackPacket,
  UnsubscribePacket,
  Will,
} from './packet.ts';
export { PacketError } from './packet-error.ts';
export { PacketFramer, type PacketSink, type PacketView } from './packet-framer.ts';
export { PacketType } from './packet-type.ts';
export type {
  ConnectProperties,
  Properties,
  PublishProperties,
  WillProperties,
} from './properties/properties.ts';
export type { ProtocolVersion } from './protocol-version.ts';
export { reasonCodeName } from './reason-code.ts';
export { remainingLengthSize } from './remaining-length.ts';
export { type PublishFields, readPublish } from './v311/publish-packet.ts';
