import { ByteWriter } from './byte-writer.ts';
import type { AuthPacket, DisconnectPacket, Packet } from './packet.ts';
import { encodeAck, writeReason } from './packets/acks.ts';
import { encodeConnack } from './packets/connack.ts';
import { encodeConnect } from './packets/connect.ts';
import { encodePublish } from './packets/publish.ts';
import { encodeCodes, encodeSubscribe, encodeUnsubscribe } from './packets/subscribe.ts';
import type { ProtocolVersion } from './protocol-version.ts';

/**
 * Any packet as bytes, as clients and servers send them. Before version 5, properties and reason
 * codes that the version does not have are left out. A CONNECT says its version itself.
 * Throws a RangeError, naming the field, for what cannot travel.
 */
export function encodePacket(packet: Packet, version: ProtocolVersion): Buffer {
  return 'packetId' in packet ? encodeNumbered(packet, version) : encodePlain(packet, version);
}

function encodeNumbered(packet: Extract<Packet, { packetId: number }>, version: ProtocolVersion) {
  switch (packet.type) {
    case 'publish':
      return encodePublish(packet, version);
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      return encodeAck(packet, version);
    case 'subscribe':
      return encodeSubscribe(packet, version);
    case 'unsubscribe':
      return encodeUnsubscribe(packet, version);
    case 'suback':
    case 'unsuback':
      return encodeCodes(packet, version);
  }
}

function encodePlain(packet: Exclude<Packet, { packetId: number }>, version: ProtocolVersion) {
  switch (packet.type) {
    case 'connect':
      return encodeConnect(packet);
    case 'connack':
      return encodeConnack(packet, version);
    case 'pingreq':
    case 'pingresp':
      return new ByteWriter().packet(packet.type, 0);
    case 'disconnect':
    case 'auth':
      return encodeEnding(packet, version);
  }
}

function encodeEnding(packet: DisconnectPacket | AuthPacket, version: ProtocolVersion): Buffer {
  const to = new ByteWriter();
  if (version === '5') writeReason(to, packet.type, packet);
  else if (packet.type === 'auth') throw new RangeError('AUTH needs MQTT 5 [MQTT-3.15]');
  return to.packet(packet.type, 0);
}
