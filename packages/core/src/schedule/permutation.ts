/**
 * The one order in which a group's clients take their turns.
 *
 * Client n (from 0) of N has rank `r = n·a mod N`, where `a` is the number nearest to N/φ that is
 * coprime to N. The order does not depend on how many agents share the group, and it is a
 * low-discrepancy sequence: any contiguous range of clients has its turns spread evenly over the
 * period, so every agent is busy at every moment.
 */
const INVERSE_GOLDEN_RATIO = 0.618_033_988_749_894_9;

/** Products n·a must stay exact in a double: N²·0.62 < 2^53 holds far beyond this. */
export const MAX_CLIENTS = 100_000_000;

/** The multiplier `a` for a group of `clients`. @throws RangeError outside 1…MAX_CLIENTS. */
export function rankMultiplier(clients: number): number {
  if (!Number.isInteger(clients) || clients < 1 || clients > MAX_CLIENTS) {
    throw new RangeError(`clients must be a whole number from 1 to ${MAX_CLIENTS}, not ${clients}`);
  }
  const ideal = clients * INVERSE_GOLDEN_RATIO;
  const start = Math.round(ideal);
  for (let distance = 0; distance <= clients; distance++) {
    // The nearer of the two candidates at this distance comes first, so `a` is the nearest of all.
    const below = start - distance;
    const above = start + distance;
    const first = ideal - below <= above - ideal ? below : above;
    const second = first === below ? above : below;
    if (isMultiplier(first, clients)) return first;
    if (isMultiplier(second, clients)) return second;
  }
  return 1;
}

/** Rank of client `client` (from 0) of `clients`. */
export function rankOf(client: number, clients: number, multiplier: number): number {
  return modularProduct(client, multiplier, clients);
}

function isMultiplier(candidate: number, clients: number): boolean {
  return candidate >= 1 && candidate <= clients && greatestCommonDivisor(candidate, clients) === 1;
}

function greatestCommonDivisor(a: number, b: number): number {
  let x = a;
  let y = b;
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** a·b mod m without leaving the exact integers of a double: b is cut into halves of 14 bits. */
function modularProduct(a: number, b: number, m: number): number {
  const direct = a * b;
  if (direct <= Number.MAX_SAFE_INTEGER) return direct % m;
  const low = b % 16_384;
  const high = (b - low) / 16_384;
  return (((((a * high) % m) * 16_384) % m) + ((a * low) % m)) % m;
}
