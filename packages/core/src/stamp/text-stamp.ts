// Data path
import { STAMP_BYTES } from './layout.ts';

/**
 * The text form of a stamp, for payloads that are text: the 40 bytes in base64url without padding
 * [RFC 4648 §5], 54 characters. The first three bytes of every stamp are the same, and so are the first
 * four characters: `U1EB`.
 */
export const TEXT_STAMP_BYTES = 54;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const DIGITS = Uint8Array.from(ALPHABET, (digit) => digit.charCodeAt(0));
const NO_DIGIT = 64;
const VALUES = valuesOfDigits();

/** `U1EB`, as bytes. */
const MARK_0 = 0x55;
const MARK_1 = 0x31;
const MARK_2 = 0x45;
const MARK_3 = 0x42;

/** Writes the stamp `from[0 … 40)` as text at `at`. */
export function writeTextStamp(from: Uint8Array, to: Uint8Array, at: number): void {
  let place = at;
  for (let k = 0; k + 3 <= STAMP_BYTES; k += 3) {
    const bits = (byte(from, k) << 16) | (byte(from, k + 1) << 8) | byte(from, k + 2);
    to[place] = byte(DIGITS, bits >>> 18);
    to[place + 1] = byte(DIGITS, (bits >>> 12) & 63);
    to[place + 2] = byte(DIGITS, (bits >>> 6) & 63);
    to[place + 3] = byte(DIGITS, bits & 63);
    place += 4;
  }
  // 40 bytes are 13 times three and one, whose two characters have four spare bits.
  const last = byte(from, STAMP_BYTES - 1);
  to[place] = byte(DIGITS, last >>> 2);
  to[place + 1] = byte(DIGITS, (last & 3) << 4);
}

/** Reads the text stamp at `at` into `to[0 … 40)`; false where a character is none of base64url. */
export function readTextStamp(from: Uint8Array, at: number, to: Uint8Array): boolean {
  let wrong = 0;
  let place = at;
  for (let k = 0; k + 3 <= STAMP_BYTES; k += 3) {
    const a = byte(VALUES, byte(from, place));
    const b = byte(VALUES, byte(from, place + 1));
    const c = byte(VALUES, byte(from, place + 2));
    const d = byte(VALUES, byte(from, place + 3));
    wrong |= a | b | c | d;
    to[k] = (a << 2) | (b >>> 4);
    to[k + 1] = (b << 4) | (c >>> 2);
    to[k + 2] = (c << 6) | d;
    place += 4;
  }
  const a = byte(VALUES, byte(from, place));
  const b = byte(VALUES, byte(from, place + 1));
  to[STAMP_BYTES - 1] = (a << 2) | (b >>> 4);
  // A writer leaves the spare bits 0, so that one stamp has one text.
  return ((wrong | a | b) & NO_DIGIT) === 0 && (b & 15) === 0;
}

/** Where a text stamp begins in `bytes[from … to)`; -1 where none does. */
export function findTextStamp(bytes: Uint8Array, from: number, to: number): number {
  const last = to - TEXT_STAMP_BYTES;
  for (let at = from; at <= last; at++) {
    if (
      byte(bytes, at) === MARK_0 &&
      byte(bytes, at + 1) === MARK_1 &&
      byte(bytes, at + 2) === MARK_2 &&
      byte(bytes, at + 3) === MARK_3
    ) {
      return at;
    }
  }
  return -1;
}

function byte(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

function valuesOfDigits(): Uint8Array {
  const values = new Uint8Array(256).fill(NO_DIGIT);
  for (const [value, digit] of DIGITS.entries()) values[digit] = value;
  return values;
}
