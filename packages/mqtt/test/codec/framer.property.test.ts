import fc from 'fast-check';
import { generate, type Packet } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import { LENGTH_TOO_LONG, PACKET_TOO_LARGE } from '../../src/codec/packet-framer.ts';
import { cut, frame } from './framer-log.ts';

const packetId = fc.integer({ min: 1, max: 65_535 });
const inbound: fc.Arbitrary<Packet> = fc.oneof(
  packetId.map((messageId): Packet => ({ cmd: 'puback', messageId })),
  fc.constant<Packet>({ cmd: 'pingresp' }),
  fc.constant<Packet>({ cmd: 'connack', returnCode: 0, sessionPresent: false }),
  fc
    .record({
      messageId: packetId,
      granted: fc.array(fc.constantFrom(0, 1, 2, 128), { minLength: 1 }),
    })
    .map(({ messageId, granted }): Packet => ({ cmd: 'suback', messageId, granted })),
  fc
    .record({
      topic: fc.stringMatching(/^[a-z/]{1,40}$/),
      payload: fc.uint8Array({ maxLength: 400 }),
      messageId: packetId,
      qos: fc.constantFrom(0 as const, 1 as const),
    })
    .map(
      ({ topic, payload, messageId, qos }): Packet => ({
        cmd: 'publish',
        topic,
        payload: Buffer.from(payload),
        qos,
        retain: false,
        dup: false,
        ...(qos === 1 ? { messageId } : {}),
      }),
    ),
);
const stream = fc
  .array(inbound, { minLength: 1, maxLength: 12 })
  .map((packets) => packets.map((packet) => generate(packet)));

describe('packet framer', () => {
  test('finds the packets of a stream, however it is cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat(8_000), { maxLength: 20 }), (packets, places) => {
        const bytes = Buffer.concat(packets);
        const log = frame(cut(bytes, places));
        expect(log.malformed).toBeNull();
        expect(log).toEqual(frame([bytes]));
        expect(log.packets.map((p) => p.header)).toEqual(packets.map((p) => p[0]));
      }),
    );
  });

  test('finds the packets of a stream that comes byte by byte', () => {
    fc.assert(
      fc.property(stream, (packets) => {
        const bytes = Buffer.concat(packets);
        expect(frame([...bytes].map((byte) => Buffer.from([byte])))).toEqual(frame([bytes]));
      }),
      { numRuns: 50 },
    );
  });

  test('survives garbage in any pieces, and says the same of it however it is cut', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 3_000 }),
        fc.array(fc.nat(3_000), { maxLength: 10 }),
        (garbage, places) => {
          const bytes = Buffer.from(garbage);
          expect(frame(cut(bytes, places), 500)).toEqual(frame([bytes], 500));
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each([
    [[0x30, 0x00], 0],
    [[0x30, 0x7f], 127],
    [[0x30, 0x80, 0x01], 128],
    [[0x30, 0xff, 0x7f], 16_383],
    [[0x30, 0x80, 0x80, 0x01], 16_384],
  ])('reads the remaining length %j as %i', (header, length) => {
    const log = frame([Buffer.from(header), Buffer.alloc(length)]);
    expect(log.packets).toEqual([{ header: 0x30, body: '00'.repeat(length) }]);
  });

  test('a fifth length byte is malformed, in one piece and byte by byte', () => {
    const bytes = [0x30, 0xff, 0xff, 0xff, 0xff, 0x01];
    expect(frame([Buffer.from(bytes)]).malformed).toBe(LENGTH_TOO_LONG);
    expect(frame(bytes.map((byte) => Buffer.from([byte]))).malformed).toBe(LENGTH_TOO_LONG);
  });

  test('a packet above the limit is refused by its header, before its body comes', () => {
    const header = Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]);
    expect(frame([header]).malformed).toBe(PACKET_TOO_LARGE);
    expect(frame([...header].map((byte) => Buffer.from([byte]))).malformed).toBe(PACKET_TOO_LARGE);
    expect(frame([Buffer.from([0x30, 98]), Buffer.alloc(98)], 100).malformed).toBeNull();
    expect(frame([Buffer.from([0x30, 99])], 100).malformed).toBe(PACKET_TOO_LARGE);
  });
});
