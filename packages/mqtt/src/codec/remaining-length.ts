// Data path: once a PUBLISH.

/** The largest remaining length that four bytes can say [MQTT-2.2.3]. */
export const REMAINING_LENGTH_MAX = 268_435_455;

/** How many bytes a remaining length takes, 1–4. */
export function remainingLengthSize(length: number): number {
  if (length < 0x80) return 1;
  if (length < 0x4000) return 2;
  return length < 0x20_0000 ? 3 : 4;
}

/** Writes a remaining length at `at` and gives the position behind it. */
export function writeRemainingLength(bytes: Uint8Array, at: number, length: number): number {
  let rest = length;
  let to = at;
  while (rest >= 0x80) {
    bytes[to] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    to += 1;
  }
  bytes[to] = rest;
  return to + 1;
}
