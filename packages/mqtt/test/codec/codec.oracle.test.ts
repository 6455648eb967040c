import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodePacket,
  encodePacket,
  type Packet,
  PacketError,
  PacketFramer,
  type ProtocolVersion,
} from '../../src/codec/index.ts';
import { anyPacket, VERSIONS } from './any-packet.ts';
import { cut } from './framer-log.ts';
import { oracleEncodes, oracleReads, toOracle } from './oracle-packet.ts';

/** What comes out of the chunks, decoded; a packet that cannot be is given as its error. */
function decodeAll(chunks: readonly Buffer[], version: ProtocolVersion): (Packet | Error)[] {
  const found: (Packet | Error)[] = [];
  const framer = new PacketFramer(
    {
      packet: (_slot, view) => {
        try {
          found.push(decodePacket(view, version));
          return true;
        } catch (error) {
          found.push(error as Error);
          return false;
        }
      },
      begins: () => true,
      malformed: (_slot, why) => {
        found.push(new PacketError(0x81, why));
      },
    },
    100_000,
  );
  for (const chunk of chunks) framer.feed(0, Buffer.from(chunk), chunk.length);
  return found;
}

function decodeOne(bytes: Buffer, version: ProtocolVersion): Packet {
  const [packet, ...more] = decodeAll([bytes], version);
  if (packet === undefined || more.length > 0) throw new Error(`${more.length + 1} packets`);
  if (packet instanceof Error) throw packet;
  return packet;
}

/** Pairs in the order in which the oracle writes them: by name, in order of first appearance. */
function grouped(packet: Packet): Packet {
  return JSON.parse(JSON.stringify(packet), (name, value: unknown) => {
    if (name !== 'userProperties') return value;
    return (value as [string, string][]).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }) as Packet;
}

describe.each(VERSIONS)('every packet of MQTT %s', (version) => {
  const packet = anyPacket(version);

  test('is read back as it was written', () => {
    fc.assert(
      fc.property(packet, (given) => {
        expect(decodeOne(encodePacket(given, version), version)).toEqual(filled(given, version));
      }),
      { numRuns: 400 },
    );
  });

  test('is understood by the oracle', () => {
    fc.assert(
      fc.property(packet, (given) => {
        const read = oracleReads(encodePacket(given, version), version);
        expect(plain(read)).toMatchObject(plain(toOracle(given, version)));
      }),
      { numRuns: 400 },
    );
  });

  test('is understood as the oracle writes it', () => {
    fc.assert(
      fc.property(packet, (given) => {
        fc.pre(!isBeyondTheOracle(given));
        const read = decodeOne(oracleEncodes(given, version), version);
        expect(grouped(read)).toEqual(grouped(filled(given, version)));
      }),
      { numRuns: 400 },
    );
  });

  test('is found in a stream, however it is cut, and byte by byte', () => {
    const packets = fc.array(packet, { minLength: 1, maxLength: 5 });
    const places = fc.array(fc.nat(5_000), { maxLength: 10 });
    fc.assert(
      fc.property(packets, places, (given, at) => {
        const bytes = Buffer.concat(given.map((each) => encodePacket(each, version)));
        const whole = given.map((each) => filled(each, version));
        expect(decodeAll(cut(bytes, at), version)).toEqual(whole);
        if (bytes.length > 1_000) return;
        const single = [...bytes].map((byte) => Buffer.from([byte]));
        expect(decodeAll(single, version)).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });
});

/** The errors that come out of the bytes and are not typed. */
function untyped(bytes: Buffer, version: ProtocolVersion): (Packet | Error)[] {
  return decodeAll([bytes], version).filter(
    (found) => found instanceof Error && !(found instanceof PacketError && found.message !== ''),
  );
}

describe.each(VERSIONS)('packets of MQTT %s that are broken', (version) => {
  test('give a typed error or a packet: bytes changed', () => {
    const changes = fc.array(fc.tuple(fc.nat(5_000), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyPacket(version), changes, (given, changed) => {
        const bytes = encodePacket(given, version);
        for (const [at, byte] of changed) bytes[at % bytes.length] = byte;
        expect(untyped(bytes, version)).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  test('give a typed error or a packet: cut short, with the length put right', () => {
    fc.assert(
      fc.property(anyPacket(version), fc.nat(200), (given, cutTo) => {
        const bytes = encodePacket(given, version);
        const length = Math.min(cutTo, bytes.length - 2, 127);
        if (length < 0) return;
        const body = bytes.subarray(2, 2 + length);
        const short = Buffer.concat([Buffer.from([bytes[0] ?? 0, length]), body]);
        expect(untyped(short, version)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test('give a typed error or a packet: any body behind any first byte', () => {
    const body = fc.uint8Array({ maxLength: 100 });
    fc.assert(
      fc.property(fc.nat(255), body, (first, bytes) => {
        const whole = Buffer.concat([Buffer.from([first, bytes.length]), bytes]);
        expect(untyped(whole, version)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });
});

/** It writes these as MQTT 3.1.1 has them: what MQTT 5 allows beyond it is not to be had. */
function isBeyondTheOracle(packet: Packet): boolean {
  if (packet.type !== 'connect') return false;
  const { clientId, cleanStart, username, password } = packet;
  return (clientId === '' && !cleanStart) || (password !== undefined && username === undefined);
}

/** As the decoder gives it: in version 5 properties are there, even if empty. */
function filled(packet: Packet, version: ProtocolVersion): Packet {
  if (version !== '5' || packet.type === 'pingreq' || packet.type === 'pingresp') return packet;
  return { properties: {}, ...packet } as Packet;
}

/** Objects without prototypes and fields of the oracle's own compare as plain ones. */
function plain(packet: object): object {
  return JSON.parse(JSON.stringify(packet)) as object;
}
