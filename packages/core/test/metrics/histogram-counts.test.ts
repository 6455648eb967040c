import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Histogram } from '../../src/metrics/index.ts';

describe('counts up to bounds', () => {
  it('are those of the values, within the width of a bucket', () => {
    const values = fc.array(fc.integer({ min: 0, max: 4_000_000_000 }), { maxLength: 200 });
    const bounds = fc.uniqueArray(fc.integer({ min: 0, max: 4_000_000_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(values, bounds, (recorded, unsorted) => {
        const rising = unsorted.toSorted((a, b) => a - b);
        const histogram = new Histogram();
        for (const value of recorded) histogram.record(value);
        const counts = histogram.countsUpTo(rising);
        for (const [place, bound] of rising.entries()) {
          const atMost = (limit: number) =>
            recorded.filter((value) => Math.min(value, 3_600_000_000) <= limit).length;
          expect(counts[place]).toBeGreaterThanOrEqual(atMost(bound));
          expect(counts[place]).toBeLessThanOrEqual(atMost(bound * 1.001 + 1));
        }
      }),
    );
  });

  it('are 0 where nothing was recorded', () => {
    expect(new Histogram().countsUpTo([0, 1, 1_000_000])).toEqual([0, 0, 0]);
  });
});
