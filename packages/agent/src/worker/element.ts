// Data path: V8 inlines these.

/**
 * An element that the caller knows to be there: indexes come from loops over the same arrays or from
 * tables that gave them out. TypeScript sees `undefined` behind every index; the default only
 * satisfies the type.
 */
export function at(
  array: Float64Array | Uint32Array | Uint16Array | Uint8Array,
  index: number,
): number {
  return array[index] ?? 0;
}

/** The same for plain arrays. @throws RangeError where it is not there after all. */
export function item<T>(array: readonly T[], index: number): T {
  const element = array[index];
  if (element === undefined) throw new RangeError(`no element ${index} of ${array.length}`);
  return element;
}
