import fc from 'fast-check';
import * as hdr from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import {
  BUCKET_COUNT,
  bucketOf,
  HIGHEST_US,
  Histogram,
  highestUsOf,
  lowestUsOf,
  type SparseHistogram,
} from '@squall/core/metrics';

const time = fc.oneof(
  fc.integer({ min: 0, max: 5_000 }),
  fc.integer({ min: 0, max: 60_000_000 }),
  fc.integer({ min: 2 ** 31 - 2048, max: 2 ** 31 + 2048 }),
  fc.integer({ min: 0, max: HIGHEST_US }),
);
const times = fc.array(time, { minLength: 1, maxLength: 300 });
const anything = fc.oneof(time, fc.double({ min: -1e6, max: 1e11 }), fc.constantFrom(NaN, -0.5));
const PERCENTILES = [0, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100];

function oracle(values: readonly number[]): hdr.Histogram {
  const histogram = hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HIGHEST_US,
    numberOfSignificantValueDigits: 3,
    bitBucketSize: 64,
    autoResize: false,
  });
  for (const value of values) histogram.recordValue(value);
  return histogram;
}

function filled(values: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

function full(sparse: SparseHistogram | null): SparseHistogram {
  if (sparse === null) throw new Error('nothing was recorded');
  return sparse;
}

describe('bucket layout', () => {
  it('puts every value into a bucket that holds it and is narrower than 0.1 % of it', () => {
    fc.assert(
      fc.property(time, (us) => {
        const index = bucketOf(us);
        expect(index).toBeLessThan(BUCKET_COUNT);
        expect(lowestUsOf(index)).toBeLessThanOrEqual(us);
        expect(highestUsOf(index)).toBeGreaterThanOrEqual(us);
        expect(highestUsOf(index) - lowestUsOf(index)).toBeLessThanOrEqual(us * 0.001);
      }),
      { numRuns: 1000 },
    );
  });

  it('leaves no gap between buckets', () => {
    for (let index = 1; index < BUCKET_COUNT; index++) {
      expect(lowestUsOf(index)).toBe(highestUsOf(index - 1) + 1);
      expect(bucketOf(lowestUsOf(index))).toBe(index);
    }
  });
});

describe('Histogram', () => {
  it('agrees with hdr-histogram-js on bucket ends, count, extremes, mean and percentiles', () => {
    fc.assert(
      fc.property(times, (values) => {
        const ours = filled(values);
        const theirs = oracle(values);
        expect(ours.count).toBe(theirs.totalCount);
        expect(ours.maxUs).toBe(Math.max(...values));
        expect(ours.minUs).toBe(Math.min(...values));
        expect(ours.meanUs).toBeCloseTo(values.reduce((a, b) => a + b, 0) / values.length, 3);
        for (const q of PERCENTILES) {
          // Theirs gives the end of the bucket even above the maximum; ours never does.
          const end = Math.min(theirs.getValueAtPercentile(q), ours.maxUs);
          expect(bucketOf(ours.percentileUs(q))).toBe(bucketOf(end));
        }
      }),
    );
  });

  it('gives percentiles within 0.1 % of the exact ones, rising and never above the maximum', () => {
    fc.assert(
      fc.property(times, (values) => {
        const histogram = filled(values);
        const sorted = values.toSorted((a, b) => a - b);
        let before = 0;
        for (const q of PERCENTILES) {
          const got = histogram.percentileUs(q);
          const place = Math.max(1, Math.ceil((q / 100) * values.length - 1e-9)) - 1;
          const exact = sorted[place] ?? 0;
          expect(Math.abs(got - exact)).toBeLessThanOrEqual(exact * 0.001);
          expect(got).toBeGreaterThanOrEqual(before);
          expect(got).toBeLessThanOrEqual(histogram.maxUs);
          before = got;
        }
      }),
    );
  });

  it('merges to the same as recording everything in one, in any order and by either way', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anything, { maxLength: 60 }), { maxLength: 6 }), (parts) => {
        const whole = filled(parts.flat());
        const added = new Histogram();
        for (const part of parts) added.add(filled(part));
        const sparse = new Histogram();
        for (const part of parts.toReversed()) {
          const delta = filled(part).drainSparse();
          if (delta !== null) sparse.addSparse(delta);
        }
        expect(added.toSparse()).toEqual(whole.toSparse());
        expect(sparse.toSparse()).toEqual(whole.toSparse());
        expect(sparse.count).toBe(whole.count);
      }),
    );
  });

  it('starts anew after a drain, so that the sum of the drains is the whole', () => {
    fc.assert(
      fc.property(times, times, (first, second) => {
        const histogram = filled(first);
        const total = new Histogram();
        total.addSparse(full(histogram.drainSparse()));
        expect(histogram.count).toBe(0);
        expect(histogram.drainSparse()).toBeNull();
        for (const value of second) histogram.record(value);
        total.addSparse(full(histogram.drainSparse()));
        expect(total.toSparse()).toEqual(filled([...first, ...second]).toSparse());
      }),
    );
  });

  it('clamps and counts what is outside its range', () => {
    const histogram = filled([-1, -0.25, NaN, 12.75, HIGHEST_US, HIGHEST_US + 1, Infinity]);
    expect(histogram.negative).toBe(3);
    expect(histogram.overflow).toBe(2);
    expect(histogram.count).toBe(7);
    expect(histogram.minUs).toBe(0);
    expect(histogram.maxUs).toBe(HIGHEST_US);
    expect(histogram.sumUs).toBe(12 + 3 * HIGHEST_US);
  });

  it('counts beyond 32 bits without wrapping', () => {
    const delta = full(filled([5]).toSparse());
    const histogram = new Histogram();
    histogram.addSparse({ ...delta, buckets: [5, 2 ** 32 - 1], sumUs: 5 * (2 ** 32 - 1) });
    histogram.record(5);
    expect(histogram.count).toBe(2 ** 32);
    expect(histogram.percentileUs(50)).toBe(5);
  });

  it('is empty at first: no percentile, no extremes, nothing to drain', () => {
    const histogram = new Histogram();
    expect([
      histogram.percentileUs(99),
      histogram.minUs,
      histogram.maxUs,
      histogram.meanUs,
    ]).toEqual([0, 0, 0, 0]);
    expect(histogram.toSparse()).toBeNull();
  });
});
