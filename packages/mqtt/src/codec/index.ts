/** The wire by itself, without connections: for what stands between clients and brokers. */
export { PacketFramer, type PacketSink, type PacketView } from './packet-framer.ts';
export { PacketType } from './packet-type.ts';
export { remainingLengthSize } from './remaining-length.ts';
export { type PublishFields, readPuback, readPublish } from './v311/publish-packet.ts';
