/**
 * The share of one member as official clients compute it ("averagely"): contiguous pieces of the
 * sorted queues, the first members one queue longer. Members beyond the queues get none.
 *
 * @param queues sorted, the same for all members
 * @param members ids of all members, in any order
 */
export function averageShare<T>(
  queues: readonly T[],
  members: readonly string[],
  self: string,
): T[] {
  const sorted = members.toSorted(byCodeUnit);
  const index = sorted.indexOf(self);
  if (index < 0 || queues.length === 0) return [];
  const rest = queues.length % sorted.length;
  const longer = rest > 0 && index < rest;
  const usual = Math.floor(queues.length / sorted.length);
  const size = queues.length <= sorted.length ? 1 : usual + (longer ? 1 : 0);
  const start = longer ? index * size : index * size + rest;
  return queues.slice(start, start + size);
}

/** Java's order of strings. */
function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
