import { Buffer } from 'node:buffer';
import {
  crc32,
  STAMP_BYTES,
  STAMP_CORRUPT,
  STAMP_NONE,
  STAMP_OK,
  StampReader,
  StampWriter,
  TEXT_STAMP_BYTES,
  writeTextStamp,
} from '@squall/core/stamp';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const CONSTANTS = { runHash: 0x01020304, subject: 0x0506, clockDomain: 0x0708 };
const VECTOR = 'U1EBCQECAwQFBgoLDA0ODxARQTbjYEAAAABBNuPEgAAAAAcImj8dGg';

function writerOf(): StampWriter {
  const writer = new StampWriter(CONSTANTS);
  writer.stage = 9;
  writer.publisher = 0x0a0b0c0d;
  writer.seq = 0x0e0f1011;
  writer.timesUs[0] = 1_500_000.25;
  writer.timesUs[1] = 1_500_100.5;
  return writer;
}

/** `before`, a stamp as text, `after`. */
function stamped(before: string, after: string): Buffer {
  const head = Buffer.from(before);
  const tail = Buffer.from(after);
  const payload = Buffer.concat([head, Buffer.alloc(TEXT_STAMP_BYTES), tail]);
  const writer = writerOf();
  writer.restChecksum = crc32(head, 0, head.length) ^ crc32(tail, 0, tail.length);
  const bytes = new Uint8Array(STAMP_BYTES);
  writer.write(bytes, 0);
  writeTextStamp(bytes, payload, head.length);
  return payload;
}

describe('a stamp as text', () => {
  test('is the bytes of the stamp in base64url, as its page says', () => {
    expect(stamped('', '').toString()).toBe(VECTOR);
    const bytes = new Uint8Array(STAMP_BYTES);
    writerOf().write(bytes, 0);
    expect(Buffer.from(bytes).toString('base64url')).toBe(VECTOR);
  });

  test('is found wherever it stands, and says what it was told', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(50), (a, b, offset) => {
        const own = stamped(a, b);
        const around = Buffer.concat([Buffer.alloc(offset, 'U'), own, Buffer.alloc(3, 'B')]);
        const reader = new StampReader();
        expect(reader.read(around, offset, own.length)).toBe(STAMP_OK);
        expect(reader).toMatchObject({
          ...CONSTANTS,
          stage: 9,
          publisher: 0x0a0b0c0d,
          seq: 0x0e0f1011,
        });
        expect([...reader.timesUs]).toEqual([1_500_000.25, 1_500_100.5]);
      }),
    );
  });

  test('does not fit any more when one bit of its payload is another one', () => {
    fc.assert(
      fc.property(fc.nat(1_000), fc.nat(7), (place, bit) => {
        const payload = stamped('{"stamp":"', '","n":12345}');
        const at = place % payload.length;
        payload[at] = (payload[at] ?? 0) ^ (1 << bit);
        expect(new StampReader().read(payload, 0, payload.length)).not.toBe(STAMP_OK);
      }),
    );
  });

  test('that is damaged still says whose it was', () => {
    const payload = stamped('a', 'b');
    payload[0] = 0x62;
    const reader = new StampReader();
    expect(reader.read(payload, 0, payload.length)).toBe(STAMP_CORRUPT);
    expect(reader.claim(payload, 0, payload.length)).toBe(true);
    expect(reader).toMatchObject({ runHash: CONSTANTS.runHash, publisher: 0x0a0b0c0d });
  });

  test.each([
    ['nothing like it', 'a text of somebody else, which is longer than any stamp is long'],
    ['its beginning alone', `${'x'.repeat(60)}U1EB`],
    ['its beginning beyond the first 64 KiB', `${'x'.repeat(65_536)}${VECTOR}`],
    ['too little of it', VECTOR.slice(0, 53)],
  ])('is not seen in %s', (_, text) => {
    const payload = Buffer.from(text);
    expect(new StampReader().read(payload, 0, payload.length)).toBe(STAMP_NONE);
  });
});
