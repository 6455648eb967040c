import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ARRIVED_AGAIN, ARRIVED_FIRST, ARRIVED_UNTRACKED, ArrivalBook } from '@squall/core/ledger';

const message = fc.record({
  subject: fc.integer({ min: 0, max: 1 }),
  stage: fc.integer({ min: 0, max: 1 }),
  publisher: fc.integer({ min: 0, max: 3 }),
  seq: fc.integer({ min: 0, max: 40 }),
});

describe('the book of what came to a hook', () => {
  test('tells first arrivals, repeated ones and gaps as a set of all numbers does', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 200 }), (messages) => {
        const book = new ArrivalBook();
        const seen = new Map<string, Set<number>>();
        for (const one of messages) {
          const pair = `${one.subject}/${one.stage}/${one.publisher}`;
          const own = seen.get(pair) ?? new Set<number>();
          seen.set(pair, own);
          const wanted = own.has(one.seq) ? ARRIVED_AGAIN : ARRIVED_FIRST;
          own.add(one.seq);
          expect(book.take(one)).toBe(wanted);
        }
        const unique = [...seen.values()].reduce((sum, own) => sum + own.size, 0);
        const span = [...seen.values()].reduce((sum, own) => sum + Math.max(...own) + 1, 0);
        expect(book.unique).toBe(unique);
        expect(book.duplicated).toBe(messages.length - unique);
        expect(book.lost).toBe(span - unique);
        expect(book.pairs).toBe(seen.size);
        expect(book.forgotten).toBe(0);
      }),
    );
  });

  test('counts what there is no place for', () => {
    const book = new ArrivalBook({ maxPairs: 2 });
    const states = [0, 1, 2, 1].map((publisher, seq) =>
      book.take({ subject: 0, stage: 0, publisher, seq: seq === 3 ? 1 : 0 }),
    );
    expect(states).toEqual([ARRIVED_FIRST, ARRIVED_FIRST, ARRIVED_UNTRACKED, ARRIVED_FIRST]);
    expect(book).toMatchObject({ unique: 3, untracked: 1, lost: 0 });
  });

  test('forgets the oldest gaps of a publisher that has too many, and says how many', () => {
    const book = new ArrivalBook();
    const take = (seq: number) => book.take({ subject: 0, stage: 0, publisher: 0, seq });
    // Every second one is missing: 1,025 gaps are one more than are kept.
    for (let seq = 1; seq <= 2_049; seq += 2) take(seq);
    expect(book).toMatchObject({ unique: 1_025, lost: 1_025, forgotten: 513 });
    expect(take(2_048)).toBe(ARRIVED_FIRST);
    expect(take(0)).toBe(ARRIVED_AGAIN);
  });

  test('counts gaps that there is no memory for', () => {
    const book = new ArrivalBook({ maxGaps: 1 });
    for (const seq of [1, 3]) book.take({ subject: 0, stage: 0, publisher: 0, seq });
    expect(book).toMatchObject({ unique: 2, lost: 2, forgotten: 1 });
  });

  test('follows clients whose numbers are beyond the first places', () => {
    const book = new ArrivalBook();
    for (let publisher = 0; publisher < 1_000; publisher++) {
      book.take({ subject: 65_535, stage: 255, publisher: publisher + 4_000_000_000, seq: 1 });
    }
    expect(book).toMatchObject({ pairs: 1_000, unique: 1_000, lost: 1_000 });
  });
});
