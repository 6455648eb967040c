import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pace } from '@squall/core/plan';
import { dueUs, peakPerS, rateProfile, scheduleOf, ticksBefore } from '@squall/core/schedule';
import { UnitArrivals } from '../../src/schedule/unit-arrivals.ts';

const perS = fc.oneof(
  fc.integer({ min: 1, max: 50_000 }),
  fc.double({ min: 0.1, max: 900, noNaN: true }),
);
const us = fc.integer({ min: 1_000, max: 20_000_000 });
const shaped: fc.Arbitrary<Pace> = fc.oneof(
  fc
    .record({
      fromPerS: fc.oneof(fc.constant(0), perS),
      toPerS: fc.oneof(fc.constant(0), perS),
      overUs: us,
    })
    .map((each): Pace => ({ kind: 'ramp', ...each })),
  fc
    .array(fc.record({ perS: fc.oneof(fc.constant(0), perS), forUs: us }), {
      minLength: 1,
      maxLength: 6,
    })
    .map((steps): Pace => ({ kind: 'steps', steps })),
  fc
    .record({ basePerS: perS, peakPerS: perS, atUs: fc.oneof(fc.constant(0), us), forUs: us })
    .map((each): Pace => ({ kind: 'spike', ...each })),
);
const lengths = fc.integer({ min: 0, max: 60_000_000 });
const HAIR = 1e-9;

describe('rates that change', () => {
  it('are exact by index: the ticks before a length are those with a smaller due time', () => {
    fc.assert(
      fc.property(shaped, fc.integer({ min: 1, max: 500 }), lengths, (pace, n, length) => {
        const schedule = scheduleOf(pace, n);
        const ticks = ticksBefore(schedule, length);
        expect(dueUs(schedule, ticks)).toBeGreaterThanOrEqual(length * (1 - HAIR) - 1e-3);
        const last = ticks === 0 ? Number.NEGATIVE_INFINITY : dueUs(schedule, ticks - 1);
        expect(last).toBeLessThanOrEqual(length * (1 + HAIR) + 1e-3);
      }),
      { numRuns: 1_000 },
    );
  });

  it('give each tick one due time, whatever was asked before, and never go back', () => {
    const ticks = fc.array(fc.nat({ max: 200_000 }), { minLength: 1, maxLength: 50 });
    fc.assert(
      fc.property(shaped, ticks, (pace, asked) => {
        const fresh = scheduleOf(pace, 7);
        const dues = new Map(
          asked.toSorted((a, b) => a - b).map((tick) => [tick, dueUs(fresh, tick)]),
        );
        const used = scheduleOf(pace, 7);
        for (const tick of asked) expect(dueUs(used, tick)).toBe(dues.get(tick));
        const inOrder = [...dues.values()];
        expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('integrate: a ramp has the mean of its ends over its length', () => {
    const ramp: Pace = { kind: 'ramp', fromPerS: 1_000, toPerS: 50_000, overUs: 300e6 };
    const schedule = scheduleOf(ramp, 100);
    expect(ticksBefore(schedule, 300e6)).toBe(25_500 * 300);
    // It stays where it came to.
    expect(ticksBefore(schedule, 310e6)).toBe(25_500 * 300 + 500_000);
    expect(
      ticksBefore(scheduleOf({ ...ramp, fromPerS: 0, toPerS: 100, overUs: 10e6 }, 3), 10e6),
    ).toBe(500);
    expect(
      ticksBefore(scheduleOf({ ...ramp, fromPerS: 100, toPerS: 0, overUs: 10e6 }, 3), 60e6),
    ).toBe(500);
    expect(
      ticksBefore(scheduleOf({ ...ramp, fromPerS: 0, toPerS: 100, overUs: 10e6 }, 3), 5e6),
    ).toBe(125);
  });

  it('count steps and spikes as the sum of their stretches', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            perS: fc.integer({ min: 0, max: 5_000 }),
            s: fc.integer({ min: 1, max: 60 }),
          }),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
        (stretches) => {
          const steps = stretches.map(({ perS: each, s }) => ({ perS: each, forUs: s * 1e6 }));
          const length = stretches.reduce((sum, { s }) => sum + s, 0) * 1e6;
          const whole = stretches.reduce((sum, { perS: each, s }) => sum + each * s, 0);
          expect(ticksBefore(scheduleOf({ kind: 'steps', steps }, 9), length)).toBe(whole);
        },
      ),
    );
    const spike: Pace = { kind: 'spike', basePerS: 100, peakPerS: 5_000, atUs: 3e6, forUs: 2e6 };
    expect(ticksBefore(scheduleOf(spike, 10), 10e6)).toBe(300 + 10_000 + 500);
  });

  it('have nothing due while the rate is 0, and go on where it begins again', () => {
    const steps = [
      { perS: 10, forUs: 1e6 },
      { perS: 0, forUs: 4e6 },
      { perS: 5, forUs: 1e6 },
    ];
    const schedule = scheduleOf({ kind: 'steps', steps }, 3);
    const dues = [9, 10, 11].map((tick) => Math.round(dueUs(schedule, tick)));
    expect(dues).toEqual([900_000, 5e6, 5.2e6]);
    expect(ticksBefore(schedule, 3e6)).toBe(10);
    const over = scheduleOf({ kind: 'ramp', fromPerS: 10, toPerS: 0, overUs: 2e6 }, 3);
    expect(dueUs(over, 10)).toBe(Number.POSITIVE_INFINITY);
  });

  it('tell their rate at a moment, and the highest of a length', () => {
    const ramp: Pace = { kind: 'ramp', fromPerS: 100, toPerS: 300, overUs: 10e6 };
    const profile = rateProfile(ramp, 1);
    expect([0, 5e6, 10e6, 99e6].map((at) => Math.round(profile.perS(at)))).toEqual([
      100, 200, 300, 300,
    ]);
    expect(peakPerS(ramp, 1, 5e6)).toBeCloseTo(200, 9);
    const spike: Pace = { kind: 'spike', basePerS: 10, peakPerS: 90, atUs: 3e6, forUs: 2e6 };
    expect(peakPerS(spike, 1, 2e6)).toBe(10);
    expect(peakPerS(spike, 1, 4e6)).toBe(90);
    expect(peakPerS({ kind: 'every', everyUs: 2e6 }, 100, 1)).toBe(50);
    expect(peakPerS({ kind: 'max' }, 1, 1)).toBeNull();
  });
});

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const variance = (values: readonly number[]) => {
  const m = mean(values);
  return mean(values.map((value) => (value - m) ** 2));
};

describe('Poisson arrivals', () => {
  const rate: Pace = { kind: 'rate', perS: 1_000 };
  const counts = (seed: number, windowUs: number, windows: number): number[] => {
    const schedule = scheduleOf(rate, 50, { kind: 'poisson', seed });
    let before = 0;
    return Array.from({ length: windows }, (_, k) => {
      const upTo = ticksBefore(schedule, (k + 1) * windowUs);
      const here = upTo - before;
      before = upTo;
      return here;
    });
  };
  it.each([
    ['a few messages', 10_000],
    ['many messages', 2_000_000],
  ])('have as much variance as mean, in windows of %s', (_name, windowUs) => {
    const here = counts(12345, windowUs, 4_000);
    const expected = windowUs / 1_000;
    // Standard errors of mean and variance over 4,000 windows, five of them.
    expect(Math.abs(mean(here) - expected)).toBeLessThan(5 * Math.sqrt(expected / 4_000));
    expect(variance(here) / expected).toBeGreaterThan(1 - 5 * Math.sqrt(2 / 4_000) - 0.02);
    expect(variance(here) / expected).toBeLessThan(1 + 5 * Math.sqrt(2 / 4_000) + 0.02);
  });

  it('have exponential gaps: as many above t as e^-t says', () => {
    const schedule = scheduleOf(rate, 50, { kind: 'poisson', seed: 9 });
    const dues = Array.from({ length: 40_001 }, (_, tick) => dueUs(schedule, tick));
    const gaps = dues.slice(1).map((due, k) => (due - (dues[k] ?? 0)) / 1_000);
    for (const above of [0.1, 0.5, 1, 2, 4]) {
      const share = gaps.filter((gap) => gap > above).length / gaps.length;
      expect(Math.abs(share - Math.exp(-above))).toBeLessThan(5 * Math.sqrt(0.25 / gaps.length));
    }
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0);
  });

  it('are the same for everybody with the seed, in whatever order they are asked for', () => {
    const asked = fc.array(fc.oneof(fc.nat({ max: 3_000 }), fc.nat({ max: 2 ** 31 - 1 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(asked, fc.nat(), (ticks, seed) => {
        const used = scheduleOf(rate, 50, { kind: 'poisson', seed });
        for (const tick of ticks) {
          const alone = scheduleOf(rate, 50, { kind: 'poisson', seed });
          expect(dueUs(used, tick)).toBe(dueUs(alone, tick));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('are exact by index: the ticks before a length are those with a smaller due time', () => {
    fc.assert(
      fc.property(shaped, fc.nat(), lengths, (pace, seed, length) => {
        const schedule = scheduleOf(pace, 20, { kind: 'poisson', seed });
        const ticks = ticksBefore(schedule, length);
        expect(dueUs(schedule, ticks)).toBeGreaterThanOrEqual(length * (1 - HAIR) - 1e-3);
        const last = ticks === 0 ? Number.NEGATIVE_INFINITY : dueUs(schedule, ticks - 1);
        expect(last).toBeLessThanOrEqual(length * (1 + HAIR) + 1e-3);
      }),
      { numRuns: 300 },
    );
  });

  it('find the number of an hour at once, not by walking there', () => {
    const before = performance.now();
    const schedule = scheduleOf({ kind: 'rate', perS: 100_000 }, 50, { kind: 'poisson', seed: 1 });
    const hour = ticksBefore(schedule, 3_600e6);
    expect(Math.abs(hour - 360_000_000)).toBeLessThan(6 * Math.sqrt(360_000_000));
    expect(performance.now() - before).toBeLessThan(100);
  });

  it('keep what is close in memory, and come to the same from far away', () => {
    const arrivals = new UnitArrivals(4);
    const cell = new Float64Array(1);
    const read = (index: number) => {
      arrivals.locate(index, cell);
      return cell[0] ?? 0;
    };
    const first = read(1_000_000);
    for (let index = 0; index < 200_000; index += 100) read(index);
    expect(read(1_000_000)).toBe(first);
    expect(arrivals.countBefore(first)).toBe(1_000_000);
    expect(arrivals.countBefore(first + 1e-9)).toBe(1_000_001);
  });
});

describe('random phases', () => {
  it('give every client one place in its period, the same in each', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), fc.nat(), (n, seed) => {
        const schedule = scheduleOf({ kind: 'every', everyUs: 1_000_000 }, n, {
          kind: 'random',
          seed,
        });
        for (const rank of [0, Math.floor(n / 2), n - 1]) {
          const first = dueUs(schedule, rank);
          expect(first).toBeGreaterThanOrEqual(0);
          expect(first).toBeLessThan(1_000_000);
          expect(dueUs(schedule, rank + 3 * n)).toBeCloseTo(first + 3_000_000, 3);
        }
        expect(ticksBefore(schedule, 5_000_000)).toBe(5 * n);
        const half = ticksBefore(schedule, 500_000);
        expect(half === n || dueUs(schedule, half) >= 500_000).toBe(true);
        expect(half === 0 || dueUs(schedule, half - 1) < 500_000).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it('lie as uniform numbers do, not evenly', () => {
    const n = 10_000;
    const schedule = scheduleOf({ kind: 'every', everyUs: 1_000_000 }, n, {
      kind: 'random',
      seed: 3,
    });
    const tenths = Array.from({ length: 100 }, () => 0);
    for (let rank = 0; rank < n; rank++) {
      const tenth = Math.floor(dueUs(schedule, rank) / 10_000);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    const chi = tenths.reduce((sum, here) => sum + (here - 100) ** 2 / 100, 0);
    // 99 degrees of freedom: even places give 0, uniform ones 99 ± 14.
    expect(chi).toBeGreaterThan(99 - 5 * 14);
    expect(chi).toBeLessThan(99 + 5 * 14);
  });
});
