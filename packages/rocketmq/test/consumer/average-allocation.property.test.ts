import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { averageShare } from '../../src/consumer/average-allocation.ts';

const queues = fc.nat(40).map((count) => Array.from({ length: count }, (_, i) => i));
const members = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), {
  minLength: 1,
  maxLength: 20,
});

describe('the share of a member', () => {
  test('all shares together are the queues, in order, each once', () => {
    fc.assert(
      fc.property(queues, members, (all, ids) => {
        const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1));
        expect(sorted.flatMap((id) => averageShare(all, ids, id))).toEqual(all);
      }),
    );
  });

  test('shares differ by one queue at most, and the first members have more', () => {
    fc.assert(
      fc.property(queues, members, (all, ids) => {
        const sorted = ids.toSorted((a, b) => (a < b ? -1 : 1));
        const sizes = sorted.map((id) => averageShare(all, ids, id).length);
        expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
        expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
      }),
    );
  });

  test('as official clients share eight queues among three', () => {
    const all = [0, 1, 2, 3, 4, 5, 6, 7];
    const shares = ['c', 'a', 'b'].map((id) => averageShare(all, ['b', 'c', 'a'], id));
    expect(shares).toEqual([
      [6, 7],
      [0, 1, 2],
      [3, 4, 5],
    ]);
  });

  test('who is no member has nothing', () => {
    expect(averageShare([0, 1], ['a'], 'b')).toEqual([]);
    expect(averageShare([0, 1], [], 'b')).toEqual([]);
  });
});
