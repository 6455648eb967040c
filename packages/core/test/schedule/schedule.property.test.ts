import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { split } from '@squall/core/partition';
import type { Pace } from '@squall/core/plan';
import {
  connectSchedule,
  dueUs,
  messagesBefore,
  rankMultiplier,
  rankOf,
  scheduleOf,
  ticksBefore,
} from '@squall/core/schedule';

const clients = fc.integer({ min: 1, max: 3000 });
const pace: fc.Arbitrary<Pace> = fc.oneof(
  fc.integer({ min: 1000, max: 10_000_000 }).map((everyUs): Pace => ({ kind: 'every', everyUs })),
  fc.double({ min: 0.05, max: 100_000, noNaN: true }).map((perS): Pace => ({ kind: 'rate', perS })),
);

const ticksIn = (paced: Pace, n: number, us: number) => ticksBefore(scheduleOf(paced, n), us);

describe('ranks', () => {
  it('are a permutation of the group', () => {
    fc.assert(
      fc.property(clients, (n) => {
        const a = rankMultiplier(n);
        const ranks = new Set(Array.from({ length: n }, (_, client) => rankOf(client, n, a)));
        expect(ranks.size).toBe(n);
        expect(Math.min(...ranks)).toBe(0);
        expect(Math.max(...ranks)).toBe(n - 1);
      }),
    );
  });

  it('take the multiplier nearest to N/φ that is coprime to N', () => {
    // 100,000/φ = 61,803.4: 61,803 = 3^4 · 7 · 109 shares no factor with 2^5 · 5^5.
    expect(rankMultiplier(100_000)).toBe(61_803);
    // 10/φ = 6.18: 7 is nearer than 3; 6 shares 2.
    expect(rankMultiplier(10)).toBe(7);
    expect(rankMultiplier(1)).toBe(1);
  });

  it('stay exact for the largest group', () => {
    const n = 100_000_000;
    const a = rankMultiplier(n);
    expect(rankOf(n - 1, n, a)).toBe(Number((BigInt(n - 1) * BigInt(a)) % BigInt(n)));
  });

  it('refuse sizes that are no sizes', () => {
    for (const bad of [0, -1, 1.5, Number.NaN, 1e9])
      expect(() => rankMultiplier(bad)).toThrow(RangeError);
  });
});

describe('due times', () => {
  it('are exact by index: the ticks before a length are those with a smaller due time', () => {
    // Due times are doubles: a tick due at the very end may come out a picosecond a second early.
    const hair = 1e-12;
    fc.assert(
      fc.property(clients, pace, fc.integer({ min: 0, max: 5_000_000 }), (n, p, length) => {
        const schedule = scheduleOf(p, n);
        const ticks = ticksBefore(schedule, length);
        expect(dueUs(schedule, ticks)).toBeGreaterThanOrEqual(length * (1 - hair));
        const last = ticks === 0 ? Number.NEGATIVE_INFINITY : dueUs(schedule, ticks - 1);
        expect(last).toBeLessThan(length * (1 + hair));
      }),
    );
  });

  it('count as whole numbers do: ⌈rate · length⌉ ticks, whatever the group and the unit', () => {
    const rate = fc.record({
      messages: fc.integer({ min: 1, max: 100_000 }),
      perS: fc.constantFrom(1, 60, 3600),
    });
    fc.assert(
      fc.property(clients, rate, fc.integer({ min: 1, max: 3_600_000 }), (n, r, lengthMs) => {
        const schedule = scheduleOf({ kind: 'rate', perS: r.messages / r.perS }, n);
        const whole = BigInt(r.messages) * BigInt(lengthMs);
        const unit = BigInt(r.perS) * 1000n;
        expect(ticksBefore(schedule, lengthMs * 1000)).toBe(Number((whole + unit - 1n) / unit));
      }),
      { numRuns: 2000 },
    );
  });

  it('count as whole numbers do for a period a client, too', () => {
    fc.assert(
      fc.property(
        clients,
        fc.integer({ min: 1, max: 600_000 }),
        fc.integer({ min: 1, max: 3_600_000 }),
        (n, everyMs, lengthMs) => {
          const schedule = scheduleOf({ kind: 'every', everyUs: everyMs * 1000 }, n);
          const whole = BigInt(n) * BigInt(lengthMs);
          const period = BigInt(everyMs);
          const ticks = Number((whole + period - 1n) / period);
          expect(ticksBefore(schedule, lengthMs * 1000)).toBe(ticks);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('do not own a message too many where a double says so', () => {
    expect(ticksIn({ kind: 'rate', perS: 7 }, 3, 12_000_000)).toBe(84);
    expect(ticksIn({ kind: 'rate', perS: 97 }, 13, 12_000_000)).toBe(1164);
    expect(ticksIn({ kind: 'rate', perS: 100 / 60 }, 3, 12_000_000)).toBe(20);
    expect(ticksIn({ kind: 'every', everyUs: 1_300_000 }, 13, 12_000_000)).toBe(120);
  });

  it('own whole rates: 50,000 a second for an hour is 180,000,000 messages', () => {
    const schedule = scheduleOf({ kind: 'every', everyUs: 2_000_000 }, 100_000);
    expect(ticksBefore(schedule, 3_600_000_000)).toBe(180_000_000);
    const third = scheduleOf({ kind: 'rate', perS: 1 / 3 }, 7);
    expect(ticksBefore(third, 60_000_000)).toBe(20);
  });

  it('add up: the messages of all clients of all workers are the ticks of the whole', () => {
    const workers = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(clients, pace, workers, (n, p, fleet) => {
        const schedule = scheduleOf(p, n);
        const a = rankMultiplier(n);
        const lengthUs = Math.min(1_500_000, (3000 / n) * schedule.periodUs);
        const shares = split(
          [n],
          fleet.map((w, k) => ({ agent: `agent-${k}`, workers: w })),
        );
        let sum = 0;
        for (const share of shares) {
          for (const worker of share.workers) {
            const range = worker.groups[0];
            for (let client = range?.first ?? 0; client <= (range?.last ?? -1); client++) {
              sum += messagesBefore(schedule, rankOf(client, n, a), lengthUs);
            }
          }
        }
        expect(sum).toBe(ticksBefore(schedule, lengthUs));
      }),
      { numRuns: 40 },
    );
  });

  it('put connect r at r / rate', () => {
    const schedule = connectSchedule(2000, 100_000);
    expect(dueUs(schedule, 0)).toBe(0);
    expect(dueUs(schedule, 2000)).toBeCloseTo(1_000_000, 6);
  });

  it('have no schedule in a closed loop', () => {
    expect(() => scheduleOf({ kind: 'max' }, 1)).toThrow('closed loop');
  });
});

describe('evenness', () => {
  it('in any 10 ms no agent idles while another carries more than 1.5 × its share', () => {
    const fleets = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 20_000 }), fleets, (n, fleet) => {
        // 40 due messages an agent in 10 ms: the statement is about load, not about single messages.
        const total = fleet.reduce((x, y) => x + y, 0);
        const perWindow = 40 * total;
        const schedule = scheduleOf({ kind: 'rate', perS: perWindow * 100 }, n);
        const a = rankMultiplier(n);
        const owner = new Int32Array(n);
        const shares = split(
          [n],
          fleet.map((w, k) => ({ agent: `agent-${k}`, workers: w })),
        );
        for (const [k, share] of shares.entries()) {
          for (const worker of share.workers) {
            const range = worker.groups[0];
            for (let c = range?.first ?? 0; c <= (range?.last ?? -1); c++) {
              owner[rankOf(c, n, a)] = k;
            }
          }
        }
        const counts = Array.from(fleet, () => 0);
        for (let tick = 0; tick < ticksBefore(schedule, 10_000); tick++) {
          const k = owner[tick % n] ?? 0;
          counts[k] = (counts[k] ?? 0) + 1;
        }
        for (const [k, count] of counts.entries()) {
          const share = (perWindow * (fleet[k] ?? 0)) / total;
          expect(count).toBeGreaterThan(0);
          expect(count).toBeLessThanOrEqual(1.5 * share);
        }
      }),
      { numRuns: 60 },
    );
  });
});
