import type { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as ws from 'ws';
import { FrameReader } from '../../src/transport/ws/frame-reader.ts';
import { frameSize, writeFrame } from '../../src/transport/ws/frame-writer.ts';

/** Parts of the library that its types keep to themselves. */
const Receiver: new (options: { isServer: boolean }) => Writable = Reflect.get(ws, 'Receiver');
const Sender: object = Reflect.get(ws, 'Sender');

interface Frame {
  readonly opcode: number;
  readonly fin: boolean;
  readonly payload: Buffer;
}

/** As a server writes it, by the other implementation. */
function serverFrame({ opcode, fin, payload }: Frame): Buffer {
  const options = { opcode, fin, rsv1: false, mask: false, readOnly: true };
  const parts: unknown = Reflect.apply(Reflect.get(Sender, 'frame'), Sender, [payload, options]);
  if (!Array.isArray(parts)) throw new Error('no frame');
  return Buffer.concat(parts.filter((part): part is Buffer => Buffer.isBuffer(part)));
}

/** All that a reader makes of bytes that come in such pieces. */
function readAll(bytes: Buffer, pieces: readonly number[]) {
  const pings: Buffer[] = [];
  const reader = new FrameReader({ pinged: (payload) => pings.push(Buffer.from(payload)) });
  const data: Buffer[] = [];
  const shared = Buffer.alloc(64 * 1024);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = Math.min(pieces[turn % pieces.length] ?? 1, shared.length, bytes.length - at);
    bytes.copy(shared, 0, at, at + size);
    data.push(Buffer.from(shared.subarray(0, reader.read(shared, size))));
    at += size;
  }
  return { data: Buffer.concat(data), pings, reader };
}

const payload = fc
  .oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc.integer({ min: 65_000, max: 66_000 }).map((size) => new Uint8Array(size).fill(size)),
  )
  .map((bytes) => Buffer.from(bytes));
const control = fc.uint8Array({ maxLength: 125 }).map((bytes) => Buffer.from(bytes));

/** Messages, some of them in several frames, with Pings and Pongs between any two frames. */
const conversation = fc
  .array(
    fc.record({
      parts: fc.array(payload, { minLength: 1, maxLength: 4 }),
      between: fc.array(fc.record({ opcode: fc.constantFrom(9, 10), payload: control }), {
        maxLength: 2,
      }),
    }),
    { maxLength: 6 },
  )
  .map((messages) =>
    messages.flatMap(({ parts, between }) =>
      parts.flatMap((part, index): Frame[] => [
        { opcode: index === 0 ? 2 : 0, fin: index === parts.length - 1, payload: part },
        ...between.map((frame) => ({ ...frame, fin: true })),
      ]),
    ),
  );
const pieces = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 20 });

describe('reading frames', () => {
  test('gives what was sent, however it is cut into frames and pieces', () => {
    fc.assert(
      fc.property(conversation, pieces, (frames, cuts) => {
        const { data, pings, reader } = readAll(Buffer.concat(frames.map(serverFrame)), cuts);
        expect(reader.fault).toBeNull();
        const expected = frames.filter(({ opcode }) => opcode < 8).map((frame) => frame.payload);
        expect(data.equals(Buffer.concat(expected))).toBe(true);
        expect(pings).toEqual(
          frames.filter(({ opcode }) => opcode === 9).map((frame) => frame.payload),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('of bytes that are none ends with a reason where the other implementation has one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 2, maxLength: 200 }),
        pieces,
        async (raw, cuts) => {
          const bytes = Buffer.from(raw);
          const theirs = await faultOf(bytes);
          const { reader, data } = readAll(bytes, cuts);
          expect(data.length).toBeLessThanOrEqual(bytes.length);
          const seen = reader.fault ?? reader.closeCode;
          expect(theirs && seen === null).toBe(false);
          expect(reader.fault ?? 'WebSocket: malformed frame: ').toMatch(
            /^WebSocket: malformed frame: /,
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each<[string, number[], RegExp]>([
    ['reserved bits', [0xc2, 0], /reserved bits/],
    ['a reserved opcode', [0x83, 0], /reserved opcode 3/],
    ['a reserved control opcode', [0x8b, 0], /reserved opcode 11/],
    ['text', [0x81, 1, 0x61], /text frame/],
    ['a mask', [0x82, 0x81, 0, 0, 0, 0, 0], /masked/],
    ['a Ping in fragments', [0x09, 0], /in fragments/],
    ['a Ping of 126 bytes', [0x89, 126, 0, 126], /above 125/],
    ['a continuation of nothing', [0x80, 0], /continuation of nothing/],
    ['a message inside of another', [0x02, 1, 0, 0x82, 0], /inside of a fragmented one/],
    ['a short length written long', [0x82, 126, 0, 125], /shortest form/],
    ['a middling length written longest', [0x82, 127, 0, 0, 0, 0, 0, 0, 0xff, 0xff], /shortest/],
    ['an impossible length', [0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255], /above 1 TiB/],
    ['a Close of one byte', [0x88, 1, 3], /Close with a code that is none/],
    ['a Close with 1005', [0x88, 2, 0x03, 0xed], /Close with a code that is none/],
  ])('%s is refused by name', (_what, bytes, reason) => {
    expect(readAll(Buffer.from(bytes), [1]).reader.fault).toMatch(reason);
  });

  test('after a Close nothing is read', () => {
    const close = serverFrame({ opcode: 8, fin: true, payload: Buffer.from([0x03, 0xe8]) });
    const more = serverFrame({ opcode: 2, fin: true, payload: Buffer.from('more') });
    const { data, reader } = readAll(Buffer.concat([more, close, more]), [1_000]);
    expect(reader.closeCode).toBe(1000);
    expect(data.toString()).toBe('more');
  });
});

describe('writing frames', () => {
  test('is read by the other implementation as it was meant, byte for byte', async () => {
    const sizes = [0, 1, 2, 3, 4, 5, 125, 126, 127, 65_535, 65_536, 70_001];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...sizes),
        fc.integer({ min: 0, max: 9 }),
        async (size, at) => {
          const sent = Buffer.from(Array.from({ length: size }, (_, n) => (n * 7) & 0xff));
          const slab = Buffer.alloc(at + frameSize(size) + 1, 0xee);
          writeFrame(slab, at, { opcode: 2, payload: sent });
          expect(slab[slab.length - 1]).toBe(0xee);
          const got = await receive(slab.subarray(at, -1));
          expect(got.equals(sent)).toBe(true);
        },
      ),
    );
  });

  test('masks every frame with another key', () => {
    const keys = new Set<string>();
    const slab = Buffer.alloc(20);
    for (let n = 0; n < 5_000; n += 1) {
      writeFrame(slab, 0, { opcode: 2, payload: Buffer.from('abcd') });
      keys.add(slab.toString('hex', 2, 6));
    }
    expect(keys.size).toBeGreaterThan(4_990);
  });
});

function receive(bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const receiver = new Receiver({ isServer: true });
    receiver.on('message', resolve);
    receiver.on('error', reject);
    receiver.write(bytes);
  });
}

/** Whether the other implementation finds a fault. */
function faultOf(bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const receiver = new Receiver({ isServer: false });
    receiver.on('error', () => resolve(true));
    receiver.write(bytes, () => setImmediate(() => resolve(false)));
  });
}
