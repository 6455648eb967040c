// Data path: numbers and texts of request headers.
import { byteAt } from './bytes.ts';

const ZERO = 0x30;
const MINUS = 0x2d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BILLION = 1e9;
const HEX = Buffer.from('0123456789abcdef', 'latin1');

/** Writes a whole number at the start of `target`; gives its length. */
export function writeDecimal(target: Buffer, value: number): number {
  let at = 0;
  let rest = value;
  if (value < 0) {
    target[0] = MINUS;
    at = 1;
    rest = -value;
  }
  // Division of small integers is cheap, that of doubles is not.
  if (rest < BILLION) return writeSmall(target, at, rest);
  const high = Math.floor(rest / BILLION);
  const end = writeSmall(target, at, high);
  let low = rest - high * BILLION;
  for (let i = end + 8; i >= end; i -= 1) {
    const next = (low / 10) | 0;
    target[i] = ZERO + (low - next * 10);
    low = next;
  }
  return end + 9;
}

/** Below 10^9. */
function writeSmall(target: Buffer, at: number, value: number): number {
  let digits = 1;
  for (let power = 10; power <= value; power *= 10) digits += 1;
  let rest = value | 0;
  for (let i = at + digits - 1; i >= at; i -= 1) {
    const next = (rest / 10) | 0;
    target[i] = ZERO + (rest - next * 10);
    rest = next;
  }
  return at + digits;
}

/** Whether nothing in the text has to be escaped in JSON. */
export function isPlain(text: Buffer, length: number): boolean {
  for (let i = 0; i < length; i += 1) {
    const byte = byteAt(text, i);
    if (byte < 0x20 || byte === QUOTE || byte === BACKSLASH) return false;
  }
  return true;
}

/** Writes UTF-8 text as the inside of a JSON string; gives its end. */
export function writeEscaped(target: Buffer, at: number, text: Buffer): number {
  let end = at;
  for (let i = 0; i < text.length; i += 1) {
    const byte = byteAt(text, i);
    if (byte < 0x20) {
      target[end] = BACKSLASH;
      target[end + 1] = 0x75;
      target[end + 2] = ZERO;
      target[end + 3] = ZERO;
      target[end + 4] = byteAt(HEX, byte >>> 4);
      target[end + 5] = byteAt(HEX, byte & 0xf);
      end += 6;
    } else {
      if (byte === QUOTE || byte === BACKSLASH) {
        target[end] = BACKSLASH;
        end += 1;
      }
      target[end] = byte;
      end += 1;
    }
  }
  return end;
}

/** The inside of a JSON string. */
export function jsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
