// Data path
/**
 * The stamp at the start of a payload, final layout of version 1: 40 bytes, big-endian.
 * `docs/reference/stamp.md` is the page for people; its table and this file say the same.
 */
export const STAMP_BYTES = 40;

/** First two bytes of every stamp: `SQ`. */
export const STAMP_MAGIC = 0x5351;
export const STAMP_VERSION = 1;

export const MAGIC_AT = 0;
export const VERSION_AT = 2;
export const STAGE_AT = 3;
export const RUN_AT = 4;
export const SUBJECT_AT = 8;
export const PUBLISHER_AT = 10;
export const SEQ_AT = 14;
export const DUE_AT = 18;
export const SENT_AT = 26;
export const DOMAIN_AT = 34;
export const CHECKSUM_AT = 36;

/** Places in `timesUs` of writer and reader. */
export const DUE = 0;
export const SENT = 1;

/** One double seen as two words: the way to read and write it without a DataView for each buffer. */
const double = new Float64Array(1);
const words = new Int32Array(double.buffer);
const HIGH_WORD = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 1 : 0;

export function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

/** Writes a double, most significant byte first. */
export function writeTime(bytes: Uint8Array, at: number, time: number): void {
  double[0] = time;
  writeU32(bytes, at, words[HIGH_WORD] ?? 0);
  writeU32(bytes, at + 4, words[1 - HIGH_WORD] ?? 0);
}

export function readU8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

export function readU16(bytes: Uint8Array, at: number): number {
  return (readU8(bytes, at) << 8) | readU8(bytes, at + 1);
}

/** Signed, as all checksums on this path are; `>>> 0` gives the unsigned value. */
export function readI32(bytes: Uint8Array, at: number): number {
  return (readU16(bytes, at) << 16) | readU16(bytes, at + 2);
}

export function readTime(bytes: Uint8Array, at: number): number {
  words[HIGH_WORD] = readI32(bytes, at);
  words[1 - HIGH_WORD] = readI32(bytes, at + 4);
  return double[0] ?? 0;
}
