import type { ByteReader } from '../byte-reader.ts';
import { ByteWriter } from '../byte-writer.ts';
import { malformed, violation } from '../packet-error.ts';
import type { PublishPacket } from '../packet.ts';
import { readProperties } from '../properties/read-properties.ts';
import { writeProperties } from '../properties/write-properties.ts';
import type { ProtocolVersion } from '../protocol-version.ts';
import { readPacketId, writePacketId } from './packet-id.ts';
import { qosOf } from './qos.ts';
import { checkTopic } from './topic.ts';

const DUP = 8;
const RETAIN = 1;

export function encodePublish(packet: PublishPacket, version: ProtocolVersion): Buffer {
  const { topic, qos, dup, retain } = packet;
  const to = new ByteWriter();
  const aliased = version === '5' && packet.properties?.topicAlias !== undefined;
  if (!(aliased && topic === '')) checkTopic('topic', topic);
  to.text('topic', topic);
  if (qos > 0) writePacketId(to, packet.packetId);
  if (version === '5') writeProperties(to, 'publish', packet.properties ?? {});
  to.raw(packet.payload);
  // DUP is 0 at QoS 0 [MQTT-3.3.1-2].
  return to.packet('publish', (dup && qos > 0 ? DUP : 0) | (qos << 1) | (retain ? RETAIN : 0));
}

export function decodePublish(
  from: ByteReader,
  flags: number,
  version: ProtocolVersion,
): PublishPacket {
  const qos = qosOf((flags >> 1) & 3);
  if (qos === 0 && (flags & DUP) !== 0 && version !== '3.1') {
    throw malformed('PUBLISH with QoS 0 and DUP [MQTT-3.3.1-2]');
  }
  const topic = from.text();
  const packetId = qos === 0 ? 0 : readPacketId(from);
  const properties = version === '5' ? readProperties(from, 'publish') : undefined;
  if (topic === '' && properties?.topicAlias === undefined) {
    throw violation('PUBLISH with an empty topic and no alias [MQTT-4.7.3-1, 3.3.2-8]');
  }
  if (/[#+]/.test(topic)) throw malformed('PUBLISH to a topic with wildcards [MQTT-3.3.2-2]');
  return {
    type: 'publish',
    topic,
    payload: from.rest(),
    qos,
    dup: (flags & DUP) !== 0,
    retain: (flags & RETAIN) !== 0,
    packetId,
    ...(properties !== undefined && { properties }),
  };
}
