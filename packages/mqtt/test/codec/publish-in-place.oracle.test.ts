import fc from 'fast-check';
import { generate, type Packet, parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import type { PacketView } from '../../src/codec/packet-framer.ts';
import { publishSize, readPublish, writePublish } from '../../src/codec/v311/publish-packet.ts';
import { message } from '../fixture/options.ts';

const plain = fc.string({ unit: 'binary', maxLength: 300 }).filter((s) => !s.includes('\0'));
const topic = plain.filter((s) => s !== '' && !/[#+]/.test(s));
const packetId = fc.integer({ min: 1, max: 65_535 });

/** What the oracle reads; it must find exactly one packet and nothing behind it. */
function oracle(bytes: Buffer): Packet {
  const found: Packet[] = [];
  const reader = parser({ protocolVersion: 4 });
  reader.on('packet', (packet: Packet) => found.push(packet));
  reader.on('error', (error: Error) => {
    throw error;
  });
  const rest = reader.parse(bytes);
  expect(rest).toBe(0);
  const [packet] = found;
  if (packet === undefined || found.length > 1) throw new Error(`${found.length} packets`);
  return packet;
}

/** The oracle's bytes as the framer would show them, at an odd place of a larger buffer. */
function view(packet: Packet): PacketView {
  const bytes = generate(packet, { protocolVersion: 4 });
  const buffer = Buffer.concat([Buffer.from([1, 2, 3]), bytes, Buffer.from([9])]);
  let at = 1;
  while ((bytes[at] ?? 0) >= 0x80) at += 1;
  return { bytes: buffer, header: bytes[0] ?? 0, at: 3 + at + 1, end: 3 + bytes.length };
}

describe('PUBLISH in place, with mqtt-packet as the oracle', () => {
  test('PUBLISH, written', () => {
    const fields = fc.record({
      topic,
      payload: fc.uint8Array({ maxLength: 20_000 }),
      qos: fc.constantFrom(0 as const, 1 as const, 2 as const),
      retain: fc.boolean(),
      dup: fc.boolean(),
      packetId,
    });
    fc.assert(
      fc.property(fields, ({ topic: name, payload, ...rest }) => {
        const ours = message(name, '', { ...rest, payload });
        const size = publishSize(ours);
        const bytes = Buffer.alloc(size + 20, 0xee);
        writePublish(bytes, 10, ours);
        expect(bytes.subarray(0, 10).every((b) => b === 0xee)).toBe(true);
        expect(bytes.subarray(size + 10).every((b) => b === 0xee)).toBe(true);
        expect(oracle(bytes.subarray(10, size + 10))).toMatchObject({
          cmd: 'publish',
          topic: name,
          payload: Buffer.from(payload),
          qos: rest.qos,
          retain: rest.retain,
          dup: rest.qos > 0 && rest.dup,
          ...(rest.qos > 0 ? { messageId: rest.packetId } : {}),
        });
      }),
      { numRuns: 60 },
    );
  });

  test('PUBLISH, read', () => {
    const fields = fc.record({
      topic,
      payload: fc.uint8Array({ maxLength: 20_000 }),
      qos: fc.constantFrom(0 as const, 1 as const, 2 as const),
      retain: fc.boolean(),
      dup: fc.boolean(),
      messageId: packetId,
    });
    fc.assert(
      fc.property(fields, (given) => {
        const out = emptyPublish();
        const dup = given.dup && given.qos > 0;
        const payload = Buffer.from(given.payload);
        const packet = view({ cmd: 'publish', ...given, dup, payload });
        expect(readPublish(packet, out)).toBeNull();
        const { bytes } = out;
        expect({
          topic: bytes.toString('utf8', out.topicAt, out.topicAt + out.topicLength),
          payload: bytes.subarray(out.payloadAt, out.payloadAt + out.payloadLength),
          qos: out.qos,
          dup: out.dup,
          retain: out.retain,
          packetId: out.packetId,
        }).toEqual({
          topic: given.topic,
          payload,
          qos: given.qos,
          dup,
          retain: given.retain,
          packetId: given.qos > 0 ? given.messageId : 0,
        });
      }),
    );
  });
});

function broken(...bytes: number[]): PacketView {
  const [header = 0] = bytes;
  return { bytes: Buffer.from(bytes), header, at: 2, end: bytes.length };
}

describe('PUBLISH in place that breaks a rule', () => {
  test.each([
    ['QoS 3', [0x36, 5, 0, 1, 0x61, 0, 1], '3.3.1-4'],
    ['DUP at QoS 0', [0x38, 3, 0, 1, 0x61], '3.3.1-2'],
    ['no topic', [0x30, 1, 0], '3.3.2-1'],
    ['empty topic', [0x30, 2, 0, 0], '4.7.3-1'],
    ['topic beyond the packet', [0x30, 3, 0, 9, 0x61], 'shorter than its topic'],
    ['packet id beyond the packet', [0x32, 4, 0, 1, 0x61, 0], 'packet id'],
    ['packet id 0', [0x32, 5, 0, 1, 0x61, 0, 0], '2.3.1-1'],
  ])('PUBLISH: %s', (_name, bytes, clause) => {
    expect(readPublish(broken(...bytes), emptyPublish())).toContain(clause);
  });
});

function emptyPublish() {
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
  };
}
