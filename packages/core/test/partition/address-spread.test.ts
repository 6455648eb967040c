import { AddressSpread } from '@squall/core/partition';
import type { Spread } from '@squall/core/plan';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const SPREADS: readonly Spread[] = ['round-robin', 'blocks', 'first'];

function placesOf(spread: Spread, urls: number, clients: number): [number, number][] {
  const places = new AddressSpread(spread, urls, clients);
  return Array.from({ length: clients }, (_, n) => [places.urlOf(n), places.blockNOf(n)]);
}

describe('clients over the addresses of a target', () => {
  test('go round', () => {
    expect(placesOf('round-robin', 2, 5)).toEqual([
      [0, 0],
      [1, 0],
      [0, 1],
      [1, 1],
      [0, 2],
    ]);
  });

  test('stand in blocks, the first of which take what does not divide', () => {
    expect(placesOf('blocks', 3, 8)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
      [1, 2],
      [2, 0],
      [2, 1],
    ]);
  });

  test('all begin with the first', () => {
    expect(placesOf('first', 3, 3)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
  });

  test('are numbered without gaps at each address, whose shares differ by one at most', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...SPREADS),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 60 }),
        (spread, urls, clients) => {
          const counts = new Map<number, number>();
          for (const [url, blockN] of placesOf(spread, urls, clients)) {
            expect(url).toBeLessThan(urls);
            expect(blockN).toBe(counts.get(url) ?? 0);
            counts.set(url, blockN + 1);
          }
          if (spread === 'first') return;
          const shares = Array.from({ length: urls }, (_, url) => counts.get(url) ?? 0);
          expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
