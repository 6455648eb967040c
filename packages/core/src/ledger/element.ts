// Data path
/** An element that is known to be there: the index is the caller's promise, no check is made. */
export function at(array: ArrayLike<number>, index: number): number {
  return array[index] ?? 0;
}
