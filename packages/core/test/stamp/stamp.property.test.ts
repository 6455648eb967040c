import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clockDomainHash,
  crc32,
  crc32OfText,
  DUE,
  runHash,
  SENT,
  STAMP_BYTES,
  STAMP_CORRUPT,
  STAMP_NONE,
  STAMP_OK,
  StampReader,
  StampWriter,
} from '@squall/core/stamp';

const u32 = fc.integer({ min: 0, max: 0xffffffff });
const u16 = fc.integer({ min: 0, max: 0xffff });
const moment = fc.double({ min: 0, max: 1e15, noNaN: true });
const fields = fc.record({
  runHash: u32,
  subject: u16,
  clockDomain: u16,
  stage: fc.integer({ min: 0, max: 255 }),
  publisher: u32,
  seq: u32,
  due: moment,
  sent: moment,
});

function writerOf(f: typeof fields extends fc.Arbitrary<infer T> ? T : never): StampWriter {
  const writer = new StampWriter(f);
  writer.stage = f.stage;
  writer.publisher = f.publisher;
  writer.seq = f.seq;
  writer.timesUs[DUE] = f.due;
  writer.timesUs[SENT] = f.sent;
  return writer;
}

function fieldsOf(reader: StampReader) {
  const { runHash: run, subject, clockDomain, stage, publisher, seq, timesUs } = reader;
  const [due, sent] = timesUs;
  return { runHash: run, subject, clockDomain, stage, publisher, seq, due, sent };
}

/** CRC-32 by its definition, bit by bit. */
function bitwise(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

describe('crc32', () => {
  it('gives the check value of the standard', () => {
    expect(crc32OfText('123456789')).toBe(0xcbf43926);
    expect(crc32OfText('')).toBe(0);
    expect(crc32OfText('The quick brown fox jumps over the lazy dog')).toBe(0x414fa339);
  });

  it('equals the bit-by-bit definition at any place and length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(20), (bytes, from) => {
        const start = Math.min(from, bytes.length);
        expect(crc32(bytes, start, bytes.length)).toBe(bitwise(bytes.subarray(start)));
      }),
    );
  });
});

describe('stamp', () => {
  it('reads what was written, at any place of a buffer, with any payload behind it', () => {
    fc.assert(
      fc.property(fields, fc.nat(50), fc.uint8Array({ maxLength: 300 }), (f, at, rest) => {
        const bytes = new Uint8Array(at + STAMP_BYTES + rest.length + 3);
        bytes.set(rest, at + STAMP_BYTES);
        const writer = writerOf(f);
        writer.takeRest(bytes, at, at + STAMP_BYTES + rest.length);
        writer.write(bytes, at);
        const reader = new StampReader();
        expect(reader.read(bytes, at, STAMP_BYTES + rest.length)).toBe(STAMP_OK);
        expect(fieldsOf(reader)).toEqual(f);
      }),
    );
  });

  it('patches stage, sequence and times to the same bytes as writing all of it', () => {
    fc.assert(
      fc.property(fields, fields, (first, second) => {
        const patched = new Uint8Array(STAMP_BYTES);
        writerOf(first).write(patched, 0);
        const { runHash: run, subject, clockDomain, publisher } = first;
        const wanted = { ...second, runHash: run, subject, clockDomain, publisher };
        writerOf(wanted).patch(patched, 0);
        const whole = new Uint8Array(STAMP_BYTES);
        writerOf(wanted).write(whole, 0);
        expect(patched).toEqual(whole);
      }),
    );
  });

  it('sees every flipped bit', () => {
    fc.assert(
      fc.property(fields, fc.uint8Array({ maxLength: 60 }), fc.nat(), (f, rest, place) => {
        const bytes = new Uint8Array(STAMP_BYTES + rest.length);
        bytes.set(rest, STAMP_BYTES);
        const writer = writerOf(f);
        writer.takeRest(bytes, 0, bytes.length);
        writer.write(bytes, 0);
        const bit = place % (bytes.length * 8);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        // Flipped in magic or version it is somebody else's message, elsewhere a broken one.
        const wanted = bit < 24 ? STAMP_NONE : STAMP_CORRUPT;
        expect(new StampReader().read(bytes, 0, bytes.length)).toBe(wanted);
      }),
    );
  });

  it('never throws on foreign payloads and calls them no stamp', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const outcome = new StampReader().read(bytes, 0, bytes.length);
        expect([STAMP_NONE, STAMP_CORRUPT]).toContain(outcome);
      }),
    );
    expect(new StampReader().read(new Uint8Array(STAMP_BYTES - 1), 0, STAMP_BYTES - 1)).toBe(
      STAMP_NONE,
    );
  });

  it('names runs and clock domains by stable hashes', () => {
    expect(runHash('20261130-a1b2')).toBe(0x8431bb81);
    expect(clockDomainHash('')).toBe(1);
    expect(clockDomainHash('4c1e0c0e-5f0f-4f5b-9e0a-000000000000/4026531834')).toBeGreaterThan(0);
  });
});

describe('golden stamps', () => {
  // The layout is final: these bytes may never change for version 1 (docs/reference/stamp.md).
  it('writes the documented bytes for an empty rest', () => {
    const bytes = new Uint8Array(STAMP_BYTES);
    writerOf({
      runHash: 0x01020304,
      subject: 0x0506,
      clockDomain: 0x0708,
      stage: 9,
      publisher: 0x0a0b0c0d,
      seq: 0x0e0f1011,
      due: 1_500_000.25,
      sent: 1_500_100.5,
    }).write(bytes, 0);
    expect(documented()).toContain(hex(bytes));
    expect(hex(bytes)).toBe(
      '535101090102030405060a0b0c0d0e0f10114136e360400000004136e3c48000000007089a3f1d1a',
    );
  });

  it('writes the documented bytes for a payload of 48 bytes', () => {
    const bytes = new Uint8Array(48).fill(0x78, STAMP_BYTES);
    const writer = writerOf({
      runHash: runHash('20261130-a1b2'),
      subject: 0,
      clockDomain: 0xbeef,
      stage: 1,
      publisher: 4_294_967_295,
      seq: 0,
      due: 0,
      sent: 86_400_000_000,
    });
    writer.takeRest(bytes, 0, 48);
    writer.write(bytes, 0);
    expect(documented()).toContain(hex(bytes));
    expect(hex(bytes)).toBe(
      '535101018431bb810000ffffffff00000000000000000000000042341dd760000000beef50e3b1987878787878787878',
    );
  });
});

/** The page for people, with all that only makes its numbers readable taken out. */
function documented(): string {
  const page = new URL('../../../../docs/reference/stamp.md', import.meta.url);
  return readFileSync(page, 'utf8').replaceAll(/[`\s]/g, '');
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
