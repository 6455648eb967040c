// Data path: V8 inlines these.

/**
 * A byte that the caller knows to be there. TypeScript sees `undefined` behind every index; the
 * default only satisfies the type, and costs nothing once compiled.
 */
export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** Two bytes, big-endian, unsigned. */
export function uint16At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 8) | byteAt(bytes, at + 1);
}

/** Three bytes, big-endian, unsigned. */
export function uint24At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 16) | uint16At(bytes, at + 1);
}

/** Four bytes, big-endian, signed, as Java writes an `int`. */
export function int32At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 24) | uint24At(bytes, at + 1);
}

/** Eight bytes, big-endian, signed. Exact up to 2^53, which no offset or time of a load test passes. */
export function int64At(bytes: Uint8Array, at: number): number {
  return int32At(bytes, at) * 2 ** 32 + (int32At(bytes, at + 4) >>> 0);
}

export function writeInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

export function writeInt16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

/** The element of a table whose index the caller computed itself. */
export function element(table: Int32Array | Uint8Array | Float64Array, index: number): number {
  return table[index] ?? 0;
}

/** Whether `text` stands at `at`; the caller knows that so many bytes are there. */
export function hasTextAt(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let i = 0; i < text.length; i += 1) {
    if (byteAt(bytes, at + i) !== byteAt(text, i)) return false;
  }
  return true;
}
