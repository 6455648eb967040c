import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodePacket,
  encodePacket,
  type Packet,
  PacketError,
  type PacketView,
  type PublishPacket,
} from '../../src/codec/index.ts';
import { encodePublishProperties } from '../../src/codec/properties/write-properties.ts';
import {
  type PublishFields5,
  PublishReader5,
  publishSize5,
  writePublish5,
} from '../../src/codec/v5/publish-packet.ts';
import { message } from '../fixture/options.ts';
import { anyPacket } from './any-packet.ts';

/** The codec of objects, which the oracle has checked, is the oracle here. */
const publishes = anyPacket('5').filter(
  (packet: Packet): packet is PublishPacket => packet.type === 'publish',
);

function view(bytes: Buffer): PacketView {
  const buffer = Buffer.concat([Buffer.from([1, 2, 3]), bytes, Buffer.alloc(9, 0xff)]);
  let at = 1;
  while ((bytes[at] ?? 0) >= 0x80) at += 1;
  return { bytes: buffer, header: bytes[0] ?? 0, at: 3 + at + 1, end: 3 + bytes.length };
}

function fields(): PublishFields5 {
  return {
    bytes: Buffer.alloc(0),
    topicAt: 0,
    topicLength: 0,
    payloadAt: 0,
    payloadLength: 0,
    qos: 0,
    dup: false,
    retain: false,
    packetId: 0,
    topicAlias: 7,
    expiryS: 7,
    responseTopicAt: 7,
    responseTopicLength: 7,
    correlationAt: 7,
    correlationLength: 7,
    identifiers: new Uint32Array(16),
    identifierCount: 7,
  };
}

/** Why the codec of objects refuses a packet, or null. */
function errorOf(packet: PacketView): string | null {
  try {
    decodePacket(packet, '5');
    return null;
  } catch (error) {
    if (error instanceof PacketError) return error.message;
    throw error;
  }
}

describe('PUBLISH of MQTT 5 in place', () => {
  const reader = new PublishReader5();

  test('is read as the codec of objects reads it', () => {
    fc.assert(
      fc.property(publishes, (given) => {
        const out = fields();
        expect(reader.read(view(encodePacket(given, '5')), out)).toBeNull();
        const part = (at: number, length: number) => out.bytes.subarray(at, at + length);
        const { properties = {} } = given;
        expect({
          topic: part(out.topicAt, out.topicLength).toString(),
          payload: new Uint8Array(part(out.payloadAt, out.payloadLength)),
          qos: out.qos,
          dup: out.dup,
          retain: out.retain,
          packetId: out.packetId,
          alias: out.topicAlias,
          expiryS: out.expiryS,
          identifiers: [...out.identifiers.subarray(0, out.identifierCount)],
          responseTopic:
            out.responseTopicAt < 0
              ? undefined
              : part(out.responseTopicAt, out.responseTopicLength).toString(),
          correlation:
            out.correlationAt < 0
              ? undefined
              : new Uint8Array(part(out.correlationAt, out.correlationLength)),
        }).toEqual({
          topic: given.topic,
          payload: new Uint8Array(given.payload),
          qos: given.qos,
          dup: given.dup,
          retain: given.retain,
          packetId: given.packetId,
          alias: properties.topicAlias ?? 0,
          expiryS: properties.messageExpiryInterval ?? -1,
          identifiers: properties.subscriptionIdentifiers ?? [],
          responseTopic: properties.responseTopic,
          correlation: properties.correlationData && new Uint8Array(properties.correlationData),
        });
      }),
      { numRuns: 300 },
    );
  });

  test('is written as the codec of objects writes it, properties and alias included', () => {
    const alias = fc.integer({ min: 0, max: 65_535 });
    fc.assert(
      fc.property(publishes, alias, fc.boolean(), (given, topicAlias, known) => {
        const { topicAlias: _, subscriptionIdentifiers: __, ...rest } = given.properties ?? {};
        const { qos, retain, dup, packetId, payload } = given;
        const properties = encodePublishProperties(rest);
        const item = message(given.topic, '', { qos, retain, dup, packetId, payload, properties });
        const naming = { alias: topicAlias, isKnown: known && topicAlias > 0 };
        const size = publishSize5(item, naming);
        const bytes = Buffer.alloc(size + 20, 0xee);
        writePublish5({ bytes, at: 10 }, item, naming);
        expect(bytes.subarray(0, 10).every((b) => b === 0xee)).toBe(true);
        expect(bytes.subarray(size + 10).every((b) => b === 0xee)).toBe(true);
        expect(decodePacket(view(bytes.subarray(10, size + 10)), '5')).toEqual({
          ...given,
          topic: naming.isKnown ? '' : given.topic,
          payload: new Uint8Array(payload),
          properties: topicAlias > 0 ? { ...rest, topicAlias } : rest,
        });
      }),
      { numRuns: 300 },
    );
  });

  test('that is broken is refused where the codec of objects refuses it, texts apart', () => {
    const changes = fc.array(fc.tuple(fc.nat(300), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(publishes, changes, (given, changed) => {
        const bytes = encodePacket({ ...given, payload: new Uint8Array(0) }, '5');
        for (const [at, byte] of changed) {
          if (at > 4 && at < bytes.length) bytes[at] = byte;
        }
        const packet = view(bytes);
        const why = reader.read(packet, fields());
        const theirs = errorOf(packet);
        // Texts are not looked into in place: that they are UTF-8, and topics without wildcards.
        const isOfText = /text|wildcard|range/.test(theirs ?? '');
        expect(why !== null).toBe(theirs !== null && !(isOfText && why === null));
      }),
      { numRuns: 1_000 },
    );
  });
});
