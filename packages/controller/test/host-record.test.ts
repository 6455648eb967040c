import { describe, expect, it } from 'vitest';
import { HostRecord } from '../src/run/host-record.ts';

describe('what is kept of a load generator’s host', () => {
  it('is mean and maximum, and a curve on the run’s time line', () => {
    const record = new HostRecord();
    record.take({ cpu_used: 0.25, load: 1 }, 15_000_000);
    record.take({ cpu_used: 0.75 }, 20_000_000);
    expect(record.summary()).toEqual({
      cpu_used: { mean: 0.5, max: 0.75 },
      load: { mean: 1, max: 1 },
    });
    expect(record.points(10_000_000)['cpu_used']).toEqual([
      [5_000_000, 0.25],
      [10_000_000, 0.75],
    ]);
  });

  it('is bounded, however long the run and whatever an agent says', () => {
    const record = new HostRecord();
    const names = Array.from({ length: 100 }, (_, name) => [`f${name}`, 1] as const);
    record.take(Object.fromEntries(names), 0);
    for (let k = 0; k < 10_000; k++) record.take({ f0: k }, k);
    expect(Object.keys(record.summary())).toHaveLength(32);
    const points = record.points(0)['f0'] ?? [];
    expect(points.length).toBeGreaterThan(100);
    expect(points.length).toBeLessThanOrEqual(360);
    expect(points.at(-1)).toEqual([9_999, 9_999]);
    expect(record.summary()['f0']?.max).toBe(9_999);
  });
});
