// Data path
/**
 * The layout of every histogram of the house: HDR, unit 1 µs, three significant digits, up to 1 h.
 *
 * Values below 2048 have a bucket each. Above, every power of two is cut into 1024 equal buckets, so
 * a bucket is never wider than 1/1024 of its values: an error below 0.1 %. Buckets are indexed
 * without gaps, and the layout is the same on every agent, so histograms merge by adding counts.
 */

/** Exclusive upper end of the part with one bucket a µs; twice the buckets of a power of two. */
const SUB_BUCKETS = 2048;
const HALF_BITS = 10;
const LEADING_ZEROS_OF_UNIT = 21;

/** Highest value that is told apart from an overflow: one hour. It fits an unsigned 32-bit word. */
export const HIGHEST_US = 3_600_000_000;

/** Buckets of a histogram. */
export const BUCKET_COUNT = bucketOf(HIGHEST_US) + 1;

/** Index of the bucket of `us`, a whole number from 0 to `HIGHEST_US`. */
export function bucketOf(us: number): number {
  // Every value of the range is below 2^32, so unsigned 32-bit arithmetic is exact for all of them.
  const shift = LEADING_ZEROS_OF_UNIT - Math.clz32(us | (SUB_BUCKETS - 1));
  return (shift << HALF_BITS) + (us >>> shift);
}

/** Lowest value that falls into bucket `index`. */
export function lowestUsOf(index: number): number {
  if (index < SUB_BUCKETS) return index;
  const shift = (index >>> HALF_BITS) - 1;
  return (index - (shift << HALF_BITS)) * 2 ** shift;
}

/** Highest whole value that falls into bucket `index`. */
export function highestUsOf(index: number): number {
  return lowestUsOf(index + 1) - 1;
}
