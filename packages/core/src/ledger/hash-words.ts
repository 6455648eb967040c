// Data path
/**
 * Three words as one, well spread in its low bits: multiply and fold, as in MurmurHash3. Signed, as a
 * number that fits 31 bits is never boxed.
 */
export function hashWords(a: number, b: number, c: number): number {
  let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
