// Data path
import { encodeUtf8 } from '../text/utf8.ts';

/**
 * CRC-32 as in zlib, Ethernet and PNG (reflected polynomial 0xEDB88320, initial value and final XOR
 * all ones), eight bytes a step by eight tables of 256 entries.
 *
 * Results are *signed* 32-bit integers: V8 keeps those unboxed in every place. Use `>>> 0` to print.
 */
const POLYNOMIAL = 0xedb88320;
const SLICES = 8;
const TABLES = makeTables();

/** CRC-32 of `bytes[from … to)`, signed. The caller keeps `0 ≤ from ≤ to ≤ bytes.length`. */
export function crc32(bytes: Uint8Array, from: number, to: number): number {
  let crc = -1;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    const low =
      crc ^
      (u8(bytes, at) |
        (u8(bytes, at + 1) << 8) |
        (u8(bytes, at + 2) << 16) |
        (u8(bytes, at + 3) << 24));
    crc =
      slice(1792, low & 0xff) ^
      slice(1536, (low >>> 8) & 0xff) ^
      slice(1280, (low >>> 16) & 0xff) ^
      slice(1024, low >>> 24) ^
      slice(768, u8(bytes, at + 4)) ^
      slice(512, u8(bytes, at + 5)) ^
      slice(256, u8(bytes, at + 6)) ^
      slice(0, u8(bytes, at + 7));
  }
  for (; at < to; at++) crc = slice(0, (crc ^ u8(bytes, at)) & 0xff) ^ (crc >>> 8);
  return ~crc;
}

/** CRC-32 of a text's UTF-8 bytes, unsigned. */
export function crc32OfText(text: string): number {
  const bytes = encodeUtf8(text);
  return crc32(bytes, 0, bytes.length) >>> 0;
}

function u8(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

function slice(base: number, byte: number): number {
  return TABLES[base + byte] ?? 0;
}

function makeTables(): Int32Array {
  const tables = new Int32Array(256 * SLICES);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
    tables[byte] = crc;
  }
  for (let place = 256; place < tables.length; place++) {
    const before = tables[place - 256] ?? 0;
    tables[place] = (tables[before & 0xff] ?? 0) ^ (before >>> 8);
  }
  return tables;
}
