// Data path: every answer passes here.
import { byteAt, hasTextAt, int32At, uint16At } from './bytes.ts';
import type { FrameView } from './frame-framer.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const BINARY_FIXED_BYTES = 21;

/**
 * Reads what decides of an answer, in place and without an object: code, opaque and flag, and single
 * fields when asked. It reads members in any order, skips whatever else there is (remarks with
 * quotes in them, nested values), and takes both kinds of header.
 */
export class HeaderScan {
  code = 0;
  opaque = 0;
  flag = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #json = true;
  /** The members of extFields, or the entries of the binary map. */
  #extAt = 0;
  #extEnd = 0;
  /** Where the last value that was read ends; -1: it has no end. */
  #next = 0;

  /** False where this is no header. */
  read(view: FrameView): boolean {
    this.code = 0;
    this.opaque = 0;
    this.flag = 0;
    this.#bytes = view.bytes;
    this.#extAt = 0;
    this.#extEnd = 0;
    this.#json = view.serialization === 0;
    return this.#json
      ? this.#readJson(view.headerAt, view.bodyAt)
      : this.#readBinary(view.headerAt, view.bodyAt);
  }

  /** A field of decimal digits (offsets, queue ids), or -1 where it is not there or no such number. */
  number(name: Buffer): number {
    if (this.#json) return this.#jsonNumber(name);
    return this.#binaryNumber(name);
  }

  #readJson(start: number, end: number): boolean {
    const bytes = this.#bytes;
    let at = skipSpace(bytes, start, end);
    if (at >= end || byteAt(bytes, at) !== OPEN_BRACE) return false;
    at = skipSpace(bytes, at + 1, end);
    if (byteAt(bytes, at) === CLOSE_BRACE) return at < end;
    for (;;) {
      if (byteAt(bytes, at) !== QUOTE) return false;
      const nameEnd = stringEnd(bytes, at, end);
      if (nameEnd < 0) return false;
      let valueAt = skipSpace(bytes, nameEnd, end);
      if (byteAt(bytes, valueAt) !== COLON) return false;
      valueAt = skipSpace(bytes, valueAt + 1, end);
      this.#next = valueEnd(bytes, valueAt, end);
      if (this.#next < 0 || !this.#member(at + 1, nameEnd - at - 2, valueAt)) return false;
      at = skipSpace(bytes, this.#next, end);
      if (at >= end) return false;
      const after = byteAt(bytes, at);
      if (after === CLOSE_BRACE) return true;
      if (after !== COMMA) return false;
      at = skipSpace(bytes, at + 1, end);
    }
  }

  /** Keeps the value of a member that counts. Names are told apart by length and one letter. */
  #member(nameAt: number, length: number, valueAt: number): boolean {
    const bytes = this.#bytes;
    const first = byteAt(bytes, nameAt);
    if (length === 4 && first === 0x63) this.code = decimal(bytes, valueAt, this.#next);
    else if (length === 4 && first === 0x66) this.flag = decimal(bytes, valueAt, this.#next);
    else if (length === 6 && first === 0x6f) this.opaque = decimal(bytes, valueAt, this.#next);
    else if (length === 9 && first === 0x65 && byteAt(bytes, valueAt) === OPEN_BRACE) {
      this.#extAt = valueAt + 1;
      this.#extEnd = this.#next - 1;
    }
    return this.code === this.code && this.flag === this.flag && this.opaque === this.opaque;
  }

  #jsonNumber(name: Buffer): number {
    const bytes = this.#bytes;
    const end = this.#extEnd;
    let at = skipSpace(bytes, this.#extAt, end);
    while (at < end && byteAt(bytes, at) === QUOTE) {
      const nameEnd = stringEnd(bytes, at, end);
      if (nameEnd < 0) return -1;
      let valueAt = skipSpace(bytes, nameEnd, end);
      valueAt = skipSpace(bytes, valueAt + 1, end);
      const next = valueEnd(bytes, valueAt, end);
      if (next < 0) return -1;
      if (nameEnd - at - 2 === name.length && hasTextAt(bytes, at + 1, name)) {
        const quoted = byteAt(bytes, valueAt) === QUOTE ? 1 : 0;
        return natural(bytes, valueAt + quoted, next - quoted);
      }
      at = skipSpace(bytes, next, end);
      if (byteAt(bytes, at) === COMMA) at = skipSpace(bytes, at + 1, end);
    }
    return -1;
  }

  #readBinary(start: number, end: number): boolean {
    const bytes = this.#bytes;
    if (end - start < BINARY_FIXED_BYTES) return false;
    // The code is a signed 16-bit number here.
    this.code = (uint16At(bytes, start) << 16) >> 16;
    this.opaque = int32At(bytes, start + 5);
    this.flag = int32At(bytes, start + 9);
    const remarkLength = int32At(bytes, start + 13);
    const mapAt = start + BINARY_FIXED_BYTES + remarkLength;
    if (remarkLength < 0 || mapAt > end) return false;
    const mapLength = int32At(bytes, mapAt - 4);
    if (mapLength < 0 || mapAt + mapLength > end) return false;
    this.#extAt = mapAt;
    this.#extEnd = mapAt + mapLength;
    return true;
  }

  #binaryNumber(name: Buffer): number {
    const bytes = this.#bytes;
    const end = this.#extEnd;
    for (let at = this.#extAt; at + 6 <= end; ) {
      const nameEnd = at + 2 + uint16At(bytes, at);
      if (nameEnd + 4 > end) return -1;
      const length = int32At(bytes, nameEnd);
      const next = nameEnd + 4 + length;
      if (length < 0 || next > end) return -1;
      if (nameEnd - at - 2 === name.length && hasTextAt(bytes, at + 2, name)) {
        return natural(bytes, nameEnd + 4, next);
      }
      at = next;
    }
    return -1;
  }
}

function skipSpace(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && byteAt(bytes, at) <= 0x20) at += 1;
  return at;
}

/** Behind the closing quote of the string that begins at `at`, or -1. */
function stringEnd(bytes: Buffer, start: number, end: number): number {
  for (let at = start + 1; at < end; at += 1) {
    const byte = byteAt(bytes, at);
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  return -1;
}

/** Behind the value that begins at `at`, or -1 where it has no end. */
function valueEnd(bytes: Buffer, start: number, end: number): number {
  const first = byteAt(bytes, start);
  if (first === QUOTE) return stringEnd(bytes, start, end);
  let depth = 0;
  for (let at = start; at < end; at += 1) {
    const byte = byteAt(bytes, at);
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end) - 1;
      if (at < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (byte === COMMA && depth === 0) return at;
  }
  return depth === 0 ? end : -1;
}

/** A whole number with or without sign, or NaN. */
function decimal(bytes: Buffer, start: number, end: number): number {
  if (byteAt(bytes, start) === MINUS) return -digits(bytes, start + 1, end);
  return digits(bytes, start, end);
}

function natural(bytes: Buffer, start: number, end: number): number {
  const value = digits(bytes, start, end);
  return value === value ? value : -1;
}

function digits(bytes: Buffer, start: number, end: number): number {
  let value = 0;
  let at = start;
  for (; at < end; at += 1) {
    const digit = byteAt(bytes, at) - ZERO;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === start || skipSpace(bytes, at, end) !== end) return Number.NaN;
  return value;
}
