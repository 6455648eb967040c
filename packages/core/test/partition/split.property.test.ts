import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AgentWeight, apportion, split } from '@squall/core/partition';

const agents = fc
  .array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 12 })
  .map((workers) => workers.map((w, k): AgentWeight => ({ agent: `agent-${k}`, workers: w })));
const sizes = fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 4 });

describe('split', () => {
  it('gives every client of every group to exactly one worker, in order', () => {
    fc.assert(
      fc.property(sizes, agents, (groupSizes, fleet) => {
        const shares = split(groupSizes, fleet);
        for (const [group, size] of groupSizes.entries()) {
          let next = 0;
          for (const share of shares) {
            for (const worker of share.workers) {
              const range = worker.groups[group];
              expect(range?.first).toBe(next);
              expect(range?.last).toBe(next + (range?.clients ?? 0) - 1);
              next += range?.clients ?? 0;
            }
          }
          expect(next).toBe(size);
        }
      }),
    );
  });

  it('does not depend on the order in which agents are named', () => {
    fc.assert(
      fc.property(sizes, agents, (groupSizes, fleet) => {
        expect(split(groupSizes, fleet.toReversed())).toEqual(split(groupSizes, fleet));
      }),
    );
  });

  it('gives each agent its weight, rounded by less than one client', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100_000 }), agents, (size, fleet) => {
        const workers = fleet.reduce((sum, agent) => sum + agent.workers, 0);
        for (const share of split([size], fleet)) {
          const clients = share.workers.reduce((sum, w) => sum + (w.groups[0]?.clients ?? 0), 0);
          const exact = (size * share.workers.length) / workers;
          expect(Math.abs(clients - exact)).toBeLessThan(1);
        }
      }),
    );
  });

  it('refuses no agents, double ids and agents without workers', () => {
    expect(() => split([1], [])).toThrow('no agents');
    expect(() => split([1], [{ agent: 'a', workers: 0 }])).toThrow('at least one worker');
    const twice = [
      { agent: 'a', workers: 1 },
      { agent: 'a', workers: 1 },
    ];
    expect(() => split([1], twice)).toThrow('occurs twice');
  });
});

describe('apportion', () => {
  it('adds up exactly and gives ties to the earlier one', () => {
    expect(apportion(10, [1, 1, 1])).toEqual([4, 3, 3]);
    expect(apportion(1, [1, 3])).toEqual([0, 1]);
    expect(apportion(0, [1, 3])).toEqual([0, 0]);
  });
});
