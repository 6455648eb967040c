// Data path: V8 inlines these.

/**
 * A byte that the caller knows to be there. TypeScript sees `undefined` behind every index; the
 * default only satisfies the type, and costs nothing once compiled.
 */
export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** Two bytes, big-endian [MQTT-1.5.2]. */
export function uint16At(bytes: Uint8Array, at: number): number {
  return (byteAt(bytes, at) << 8) | byteAt(bytes, at + 1);
}

/** The element of a table whose index the caller computed itself. */
export function element(
  table: Uint8Array | Uint16Array | Uint32Array | Float64Array,
  index: number,
): number {
  return table[index] ?? 0;
}
