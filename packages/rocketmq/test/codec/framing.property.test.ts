import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeBatch,
  decodeFrame,
  decodeRecords,
  encodeFrame,
  FrameFramer,
  HeaderScan,
  type RemotingCommand,
  RocketmqError,
  Serialization,
} from '../../src/codec/index.ts';
import {
  FRAME_TOO_LARGE,
  FRAME_TOO_SHORT,
  HEADER_BEYOND_FRAME,
  UNKNOWN_SERIALIZATION,
} from '../../src/codec/frame-framer.ts';

const name = fc.string({ minLength: 1, maxLength: 12, unit: 'binary' });
const command: fc.Arbitrary<RemotingCommand> = fc.record({
  code: fc.integer({ min: 0, max: 0x7fff }),
  opaque: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  flag: fc.integer({ min: 0, max: 3 }),
  version: fc.integer({ min: 0, max: 500 }),
  language: fc.constantFrom('JAVA', 'OTHER', 'GO'),
  remark: fc.option(fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }), { nil: null }),
  ext: fc
    .dictionary(name, fc.string({ minLength: 1, maxLength: 20, unit: 'binary' }))
    .map((ext) => ({ ...ext })),
  body: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});
const serialization = fc.constantFrom(Serialization.json, Serialization.binary);

/** What the framer makes of a stream that comes in these pieces. */
function framed(pieces: readonly Buffer[]): { commands: RemotingCommand[]; why: string | null } {
  const commands: RemotingCommand[] = [];
  let why: string | null = null;
  const framer = new FrameFramer({
    frame: (view) => {
      commands.push(decodeFrame(view));
      return true;
    },
    malformed: (text) => {
      why = text;
    },
  });
  // All pieces come in one buffer that is overwritten, as a socket's read buffer is.
  const shared = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)));
  for (const piece of pieces) {
    piece.copy(shared);
    framer.feed(shared, piece.length);
    if (why !== null) break;
  }
  return { commands: commands.map((each) => ({ ...each, ext: { ...each.ext } })), why };
}

function cut(stream: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((place) => place % (stream.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...places].map((from, i) => stream.subarray(from, places[i] ?? stream.length));
}

describe('frames', () => {
  test('are the same however they are cut, and whichever header they have', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(command, serialization), { maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (sent, cuts) => {
          const stream = Buffer.concat(sent.map(([each, kind]) => encodeFrame(each, kind)));
          const seen = framed(cut(stream, cuts));
          expect(seen).toEqual({ commands: sent.map(([each]) => each), why: null });
        },
      ),
    );
  });

  test('one byte at a time', () => {
    const one: RemotingCommand = {
      code: 0,
      opaque: 5,
      flag: 1,
      version: 373,
      language: 'JAVA',
      remark: 'FOUND',
      ext: { queueOffset: '12' },
      body: Buffer.from('body'),
    };
    const stream = Buffer.concat([encodeFrame(one), encodeFrame(one, Serialization.binary)]);
    expect(framed(Array.from(stream, (byte) => Buffer.from([byte]))).commands).toEqual([one, one]);
  });

  test.each([
    ['00000003 00000000', FRAME_TOO_SHORT],
    ['ffffffff 00000000', FRAME_TOO_SHORT],
    ['01000000 00000000', FRAME_TOO_LARGE],
    ['00000010 00000010', HEADER_BEYOND_FRAME],
    ['00000010 02000002', UNKNOWN_SERIALIZATION],
    [Buffer.from('HTTP/1.1 400 Bad Request').toString('hex'), FRAME_TOO_LARGE],
  ])('what begins %s is told: %s', (bytes, why) => {
    const stream = Buffer.from(bytes.replaceAll(' ', ''), 'hex');
    expect(framed([stream]).why).toBe(why);
    expect(framed(cut(stream, [3, 5])).why).toBe(why);
  });
});

describe('the scan of an answer', () => {
  test('sees what the full decoder sees', () => {
    fc.assert(
      fc.property(command, serialization, fc.nat(1e9), (each, kind, offset) => {
        const ext = { ...each.ext, queueOffset: String(offset) };
        const scan = new HeaderScan();
        expect(scan.read(viewOf(encodeFrame({ ...each, ext }, kind)))).toBe(true);
        expect(scan.code).toBe(each.code);
        expect(scan.opaque).toBe(each.opaque);
        expect(scan.flag).toBe(each.flag);
        expect(scan.number(Buffer.from('queueOffset'))).toBe(offset);
        expect(scan.number(Buffer.from('queueOffse'))).toBe(-1);
      }),
    );
  });

  test('members in any order, spaces, and a remark that looks like members', () => {
    const header = `{ "remark" : "\\"code\\":9,{[" , "extFields":{"n":[1,{"code":3}],"queueId": "7", "queueOffset":12 } ,"opaque": -4,"flag":1, "code" : 17}`;
    const scan = new HeaderScan();
    expect(scan.read(jsonView(header))).toBe(true);
    expect([scan.code, scan.opaque, scan.flag]).toEqual([17, -4, 1]);
    expect(scan.number(Buffer.from('queueId'))).toBe(7);
    expect(scan.number(Buffer.from('queueOffset'))).toBe(12);
  });

  test.each([
    '',
    '{',
    '[]',
    '{"code":}',
    '{"code":1.5}',
    '{"code":1',
    '{"opaque":"1"}',
    '{"code" 1}',
    '{"a":"b}',
  ])('is refused for %j', (header) => {
    expect(new HeaderScan().read(jsonView(header))).toBe(false);
  });
});

describe('garbage', () => {
  test('never ends in anything but a typed error', () => {
    const decoders: ((bytes: Buffer) => unknown)[] = [
      (bytes) =>
        decodeFrame({
          bytes,
          serialization: 0,
          headerAt: 0,
          bodyAt: bytes.length,
          end: bytes.length,
        }),
      (bytes) =>
        decodeFrame({
          bytes,
          serialization: 1,
          headerAt: 0,
          bodyAt: bytes.length,
          end: bytes.length,
        }),
      decodeRecords,
      decodeBatch,
    ];
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(...decoders),
        (bytes, decode) => {
          expect(typedErrorOf(() => decode(Buffer.from(bytes)))).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('one changed byte of a frame is an answer, a typed error or a malformed stream', () => {
    const frame = encodeFrame(
      {
        code: 0,
        opaque: 5,
        flag: 1,
        version: 373,
        language: 'JAVA',
        remark: 'FOUND',
        ext: { queueOffset: '12', queueId: '3' },
        body: Buffer.from('body'),
      },
      Serialization.binary,
    );
    const scan = new HeaderScan();
    for (let at = 0; at < frame.length; at += 1) {
      for (const value of [0, 1, 0x7f, 0x80, 0xff]) {
        const damaged = Buffer.from(frame);
        damaged[at] = value;
        const framer = new FrameFramer({
          frame: (view) => {
            scan.read(view);
            scan.number(Buffer.from('queueId'));
            expect(typedErrorOf(() => decodeFrame(view))).toBe(true);
            return true;
          },
          malformed: (why) => expect(why).not.toBe(''),
        });
        framer.feed(damaged, damaged.length);
      }
    }
  });
});

/** True where it returns or throws an error of ours. */
function typedErrorOf(act: () => unknown): boolean {
  try {
    act();
    return true;
  } catch (error) {
    return error instanceof RocketmqError;
  }
}

function viewOf(frame: Buffer) {
  return {
    bytes: frame,
    serialization: frame[4] ?? 0,
    headerAt: 8,
    bodyAt: 8 + frame.readUIntBE(5, 3),
    end: frame.length,
  };
}

function jsonView(header: string) {
  const bytes = Buffer.from(header);
  return { bytes, serialization: 0, headerAt: 0, bodyAt: bytes.length, end: bytes.length };
}
