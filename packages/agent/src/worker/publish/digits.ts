// Data path
import type { RenderContext } from './render-context.ts';

const ZERO = 0x30;
const DASH = 0x2d;
const HEX = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));
/** Places of the dashes in a UUID [RFC 9562, 4]. */
const DASHES: ReadonlySet<number> = new Set([8, 13, 18, 23]);

/**
 * Decimal digits of the whole number in `cell[0]`, its sign left out. A cell, since a number that large
 * would be boxed on its way into a function.
 */
export function digitsIn(cell: Float64Array): number {
  let rest = Math.abs(cell[0] ?? 0);
  let digits = 1;
  while (rest >= 10) {
    rest = Math.floor(rest / 10);
    digits += 1;
  }
  return digits;
}

/** Writes the digits of the whole number in `cell[0]`, its sign left out, so that they end before `end`. */
export function writeDigitsBack(bytes: Uint8Array, end: number, cell: Float64Array): void {
  let rest = Math.abs(cell[0] ?? 0);
  let place = end;
  do {
    const next = Math.floor(rest / 10);
    place -= 1;
    bytes[place] = ZERO + (rest - next * 10);
    rest = next;
  } while (rest > 0);
}

/** Writes a UUID of version 4: random but for the version and two bits [RFC 9562, 5.4]. */
export function writeUuid(bytes: Uint8Array, at: number, context: RenderContext): void {
  let digit = 0;
  for (let place = 0; place < 36; place++) {
    if (DASHES.has(place)) {
      bytes[at + place] = DASH;
      continue;
    }
    const random = Math.floor(context.random() * 16);
    const value = digit === 12 ? 4 : digit === 16 ? (random % 4) + 8 : random;
    bytes[at + place] = HEX[value] ?? ZERO;
    digit += 1;
  }
}
