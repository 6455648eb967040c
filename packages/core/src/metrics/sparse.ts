import type { SparseHistogram } from './frame.ts';

/** The sum of two sparse histograms: associative and commutative, exact in every figure. */
export function mergeSparse(a: SparseHistogram, b: SparseHistogram): SparseHistogram {
  const boundUs = Math.max(a.boundUs ?? 0, b.boundUs ?? 0);
  return {
    buckets: mergeBuckets(a.buckets, b.buckets),
    minUs: Math.min(a.minUs, b.minUs),
    maxUs: Math.max(a.maxUs, b.maxUs),
    sumUs: a.sumUs + b.sumUs,
    overflow: a.overflow + b.overflow,
    negative: a.negative + b.negative,
    ...(boundUs > 0 ? { boundUs } : {}),
  };
}

/** How many times a sparse histogram holds. */
export function sparseCount(sparse: SparseHistogram): number {
  let count = 0;
  for (let at = 1; at < sparse.buckets.length; at += 2) count += sparse.buckets[at] ?? 0;
  return count;
}

/** Merges two lists of (bucket, count) pairs, both rising by bucket. */
function mergeBuckets(a: readonly number[], b: readonly number[]): number[] {
  const merged: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i] ?? Infinity;
    const right = b[j] ?? Infinity;
    let count = 0;
    if (left <= right) {
      count += a[i + 1] ?? 0;
      i += 2;
    }
    if (right <= left) {
      count += b[j + 1] ?? 0;
      j += 2;
    }
    merged.push(Math.min(left, right), count);
  }
  return merged;
}
