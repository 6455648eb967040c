import { Histogram, type SeriesTotal } from '@squall/core/metrics';
import { describe, expect, test } from 'vitest';
import { histogramsOf } from '../../src/report/histograms.ts';
import { planOf } from '../thresholds/scene.ts';

const plan = planOf([]);
const subject = plan.groups[0]?.publish[0]?.subject ?? '';

function totals(timesUs: readonly number[], stage = 0): SeriesTotal {
  const histogram = new Histogram();
  for (const us of timesUs) histogram.record(us);
  return { key: { metric: 'publish_time', subject, stage }, value: 0, histogram };
}

const from = (...list: SeriesTotal[]) => ({
  series: () => list.values() as Generator<SeriesTotal>,
});

describe('histograms of a report', () => {
  test('every time is in the bucket that ends at or just above it', () => {
    const [one] = histogramsOf(from(totals([5, 5, 900, 1_000_000])), { plan });
    expect(one).toMatchObject({ group: plan.groups[0]?.name, metric: 'publish_time', minUs: 5 });
    expect(one?.upToUs).toEqual([5, 900, 1_000_000]);
    expect(one?.counts).toEqual([2, 1, 1]);
  });

  test('what was measured by QoS is one histogram', () => {
    const [one, ...more] = histogramsOf(from(totals([5]), totals([5, 7])), { plan });
    expect(more).toEqual([]);
    expect(one?.counts).toEqual([2, 1]);
  });

  test('nothing measured is no histogram', () => {
    expect(histogramsOf(null, { plan })).toEqual([]);
    expect(histogramsOf(from(totals([])), { plan })).toEqual([]);
  });

  test('too many buckets get wider until they fit, lose no time, and say how wide they are', () => {
    const spread = Array.from(
      { length: 20_000 },
      (_, n) => Math.round(10 * 1.001 ** n) % 3_000_000_000,
    );
    const exact = histogramsOf(from(totals(spread)), { plan })[0];
    const coarse = histogramsOf(from(totals(spread)), { plan, maxBuckets: 500 })[0];
    expect(exact?.counts.length).toBeGreaterThan(500);
    expect(coarse?.counts.length).toBeLessThanOrEqual(500);
    expect(coarse?.counts.reduce((a, b) => a + b, 0)).toBe(spread.length);
    expect(coarse?.upToUs.at(-1)).toBe(Math.max(...spread));
    expect(coarse?.width).toBeGreaterThan(exact?.width ?? 1);
    expect(coarse?.upToUs).toEqual([...new Set(coarse?.upToUs)].toSorted((a, b) => a - b));
  });
});
