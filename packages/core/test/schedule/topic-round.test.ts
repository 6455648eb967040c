import { TopicRound } from '@squall/core/schedule';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const topicsOf = (round: TopicRound, n: number, count: number) =>
  Array.from({ length: count }, (_, j) => round.topicOf(n, j));

describe('topics by turns', () => {
  test('of one weight stand in their order, and each client begins at another one', () => {
    const round = new TopicRound([1, 1, 1]);
    expect(topicsOf(round, 0, 4)).toEqual([0, 1, 2, 0]);
    expect(topicsOf(round, 1, 4)).toEqual([1, 2, 0, 1]);
  });

  test('are spread over the round by their weights', () => {
    const round = new TopicRound([30, 10]);
    expect(round.length).toBe(4);
    expect(topicsOf(round, 0, 4).filter((topic) => topic === 0)).toHaveLength(3);
    expect(topicsOf(new TopicRound([2, 2, 4]), 0, 4)).not.toEqual([2, 2, 0, 1]);
  });

  test('come exactly as often as their weight says in any round of any client', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 12 }),
        fc.nat(1_000),
        fc.nat(1_000),
        (weights, n, from) => {
          const round = new TopicRound(weights);
          const sum = weights.reduce((a, b) => a + b, 0);
          const counts = weights.map(() => 0);
          for (let j = 0; j < round.length; j++) {
            const topic = round.topicOf(n, from + j);
            counts[topic] = (counts[topic] ?? 0) + 1;
          }
          expect(counts.map((count) => (count * sum) / round.length)).toEqual(weights);
        },
      ),
    );
  });
});
