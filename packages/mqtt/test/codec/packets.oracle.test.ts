import fc from 'fast-check';
import { generate, type Packet, parser } from 'mqtt-packet';
import { describe, expect, test } from 'vitest';
import type { PacketView } from '../../src/codec/packet-framer.ts';
import { encodeConnect, readConnack } from '../../src/codec/v311/connect-packet.ts';
import {
  publishSize,
  readPuback,
  readPublish,
  writePuback,
  writePublish,
} from '../../src/codec/v311/publish-packet.ts';
import { encodeSubscribe, readSuback } from '../../src/codec/v311/subscribe-packet.ts';
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

describe('packets, with mqtt-packet as the oracle', () => {
  test('CONNECT', () => {
    const fields = fc.record({
      clientId: plain,
      username: fc.option(plain, { nil: undefined }),
      password: plain,
      keepAliveS: fc.integer({ min: 0, max: 65_535 }),
      cleanStart: fc.boolean(),
    });
    fc.assert(
      fc.property(fields, ({ password, ...rest }) => {
        const cleanStart = rest.cleanStart || rest.clientId === '';
        const given = {
          ...rest,
          cleanStart,
          password: rest.username === undefined ? undefined : password,
        };
        const read = oracle(encodeConnect(given));
        expect(read).toMatchObject({
          cmd: 'connect',
          protocolId: 'MQTT',
          protocolVersion: 4,
          clean: cleanStart,
          clientId: given.clientId,
          keepalive: given.keepAliveS,
        });
        if (read.cmd !== 'connect') throw new Error(read.cmd);
        expect(read.username).toBe(given.username);
        expect(read.password?.toString()).toBe(given.password);
      }),
    );
  });

  test('CONNECT is byte for byte what the oracle writes', () => {
    const ours = encodeConnect({
      clientId: 'device-000001',
      username: 'ü',
      password: 'secret',
      keepAliveS: 300,
      cleanStart: true,
    });
    const theirs = generate({
      cmd: 'connect',
      clientId: 'device-000001',
      username: 'ü',
      password: Buffer.from('secret'),
      keepalive: 300,
      clean: true,
      protocolId: 'MQTT',
      protocolVersion: 4,
    });
    expect(ours.toString('hex')).toBe(theirs.toString('hex'));
  });

  test.each([
    [{ clientId: 'a\0b' }, 'NUL'],
    [{ clientId: 'x'.repeat(65_536) }, '65535 bytes'],
    [{ clientId: '', cleanStart: false }, 'clean start'],
    [{ password: 'p' }, 'user name'],
    [{ keepAliveS: 65_536 }, '65,535'],
    [{ keepAliveS: 0.5 }, 'whole seconds'],
  ])('CONNECT that cannot be: %j', (fields, words) => {
    const given = { clientId: 'c', keepAliveS: 0, cleanStart: true, ...fields };
    expect(() => encodeConnect(given)).toThrow(RangeError);
    expect(() => encodeConnect(given)).toThrow(words);
  });

  test('PUBLISH, written', () => {
    const fields = fc.record({
      topic,
      payload: fc.uint8Array({ maxLength: 20_000 }),
      qos: fc.constantFrom(0 as const, 1 as const),
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

  test('PUBACK, both ways', () => {
    fc.assert(
      fc.property(packetId, (id) => {
        const bytes = Buffer.alloc(4);
        writePuback(bytes, 0, id);
        expect(oracle(bytes)).toMatchObject({ cmd: 'puback', messageId: id });
        expect(readPuback(view({ cmd: 'puback', messageId: id }))).toBe(id);
      }),
    );
  });

  test('SUBSCRIBE', () => {
    const filters = fc.array(
      plain.filter((s) => s !== '' && !/[#+]/.test(s)),
      { minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(filters, packetId, fc.constantFrom(0 as const, 1 as const), (names, id, qos) => {
        const bytes = encodeSubscribe({ packetId: id, filters: names, qos });
        expect(oracle(bytes)).toMatchObject({
          cmd: 'subscribe',
          messageId: id,
          subscriptions: names.map((name) => ({ topic: name, qos })),
        });
      }),
    );
    expect(() => encodeSubscribe({ packetId: 1, filters: [], qos: 0 })).toThrow(RangeError);
    expect(() => encodeSubscribe({ packetId: 0, filters: ['a'], qos: 0 })).toThrow(RangeError);
    expect(() => encodeSubscribe({ packetId: 1, filters: [''], qos: 0 })).toThrow(RangeError);
  });

  test('SUBACK', () => {
    const codes = fc.array(fc.constantFrom(0, 1, 2, 128), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(codes, packetId, (granted, messageId) => {
        const out = { packetId: 0, bytes: Buffer.alloc(0), codesAt: 0, codesLength: 0 };
        expect(readSuback(view({ cmd: 'suback', messageId, granted }), out)).toBeNull();
        expect(out.packetId).toBe(messageId);
        expect([...out.bytes.subarray(out.codesAt, out.codesAt + out.codesLength)]).toEqual(
          granted,
        );
      }),
    );
  });

  test('CONNACK', () => {
    for (const returnCode of [0, 1, 2, 3, 4, 5]) {
      const out = { sessionPresent: true, code: 9 };
      const packet = view({ cmd: 'connack', returnCode, sessionPresent: returnCode === 0 });
      expect(readConnack(packet, out)).toBeNull();
      expect(out).toEqual({ sessionPresent: returnCode === 0, code: returnCode });
    }
  });
});

function broken(...bytes: number[]): PacketView {
  const [header = 0] = bytes;
  return { bytes: Buffer.from(bytes), header, at: 2, end: bytes.length };
}

describe('packets that break a rule', () => {
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

  test('PUBACK', () => {
    expect(readPuback(broken(0x41, 2, 0, 1))).toBe(0);
    expect(readPuback(broken(0x40, 3, 0, 1, 0))).toBe(0);
    expect(readPuback(broken(0x40, 2, 0, 0))).toBe(0);
  });

  test.each([
    ['flags', [0x91, 3, 0, 1, 0]],
    ['no code', [0x90, 2, 0, 1]],
    ['packet id 0', [0x90, 3, 0, 0, 0]],
    ['reserved code', [0x90, 3, 0, 1, 3]],
  ])('SUBACK: %s', (_name, bytes) => {
    const out = { packetId: 0, bytes: Buffer.alloc(0), codesAt: 0, codesLength: 0 };
    expect(readSuback(broken(...bytes), out)).toMatch(/MQTT-/);
  });

  test.each([
    ['flags', [0x21, 2, 0, 0]],
    ['length', [0x20, 3, 0, 0, 0]],
    ['acknowledge flags', [0x20, 2, 2, 0]],
    ['session of a refused client', [0x20, 2, 1, 5]],
    ['reserved code', [0x20, 2, 0, 6]],
  ])('CONNACK: %s', (_name, bytes) => {
    expect(readConnack(broken(...bytes), { sessionPresent: false, code: 0 })).toMatch(/MQTT-/);
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
