// Data path: every byte that a WebSocket sends.
import { randomFillSync } from 'node:crypto';
import { element } from '../../codec/bytes.ts';

/** Masking keys that are drawn at a time. */
const KEYS = 2_048;

const FINAL = 0x80;
const MASKED = 0x80;
/** The longest header: two bytes, eight of length, four of the key. */
const HEADER_BYTES_MAX = 14;

const keys = new Uint32Array(KEYS);
let used = KEYS;

let slabOfView: Buffer | null = null;
let view: DataView = new DataView(new ArrayBuffer(0));

/** Bytes of a client's frame (RFC 6455, 5.2), mask and header included. */
export function frameSize(payloadLength: number): number {
  if (payloadLength < 126) return payloadLength + 6;
  return payloadLength < 65_536 ? payloadLength + 8 : payloadLength + HEADER_BYTES_MAX;
}

/**
 * Writes one final frame at `slab[at]`; `frameSize` bytes of room are the caller's care. Every frame
 * is masked with a key of its own that nobody can foretell (RFC 6455, 5.3).
 */
export function writeFrame(
  slab: Buffer,
  at: number,
  frame: { opcode: number; payload: Buffer },
): void {
  const { opcode, payload } = frame;
  const { length } = payload;
  let place = at;
  slab[place] = FINAL | opcode;
  if (length < 126) {
    slab[place + 1] = MASKED | length;
    place += 2;
  } else if (length < 65_536) {
    slab[place + 1] = MASKED | 126;
    slab[place + 2] = length >> 8;
    slab[place + 3] = length & 0xff;
    place += 4;
  } else {
    slab[place + 1] = MASKED | 127;
    slab.writeUInt32BE(Math.floor(length / 4_294_967_296), place + 2);
    slab.writeUInt32BE(length % 4_294_967_296, place + 6);
    place += 10;
  }
  const numbers = viewOf(slab);
  numbers.setInt32(place, nextKey(), true);
  place += 4;
  slab.set(payload, place);
  mask(numbers, place, place + length);
}

/**
 * Masks with the key that stands before `from`. Four bytes at a time: a view reads and writes them
 * at any place, in one instruction each.
 */
function mask(numbers: DataView, from: number, end: number): void {
  const key = numbers.getInt32(from - 4, true);
  let at = from;
  for (; at + 4 <= end; at += 4) numbers.setInt32(at, numbers.getInt32(at, true) ^ key, true);
  for (let shift = 0; at < end; at += 1, shift += 8) {
    numbers.setUint8(at, numbers.getUint8(at) ^ ((key >> shift) & 0xff));
  }
}

function nextKey(): number {
  if (used === KEYS) {
    randomFillSync(keys);
    used = 0;
  }
  const key = element(keys, used) | 0;
  used += 1;
  return key;
}

/** All frames are written to one slab, until a new one takes its place. */
function viewOf(slab: Buffer): DataView {
  if (slab !== slabOfView) {
    slabOfView = slab;
    view = new DataView(slab.buffer, slab.byteOffset, slab.byteLength);
  }
  return view;
}
