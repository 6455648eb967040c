import { describe, expect, test } from 'vitest';
import { monotonicUs, readMonotonicUs } from '../src/index.ts';

describe('monotonic clock', () => {
  test('is the clock of process.hrtime, in µs, to a few of them', () => {
    const cell = new Float64Array(1);
    for (let i = 0; i < 1_000; i += 1) {
      const before = Number(process.hrtime.bigint()) / 1e3;
      const now = monotonicUs();
      readMonotonicUs(cell);
      const after = Number(process.hrtime.bigint()) / 1e3;
      expect(now).toBeGreaterThanOrEqual(before - 5);
      expect(cell[0]).toBeGreaterThanOrEqual(now);
      expect(cell[0]).toBeLessThanOrEqual(after + 5);
    }
  });
});
