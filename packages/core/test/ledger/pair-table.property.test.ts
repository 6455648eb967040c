import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ARRIVED_AGAIN,
  ARRIVED_LATE,
  ARRIVED_NEW,
  ARRIVED_REPLAY,
  PairTable,
} from '../../src/ledger/pair-table.ts';
import { MAX_GAPS_A_PAIR, MAX_PAIRS } from '../../src/ledger/limits.ts';
import { RangeLists } from '../../src/ledger/range-lists.ts';

const connected = { losses: 0, absence: 0, retained: false };

function key(subscriber: number, publisher: number, stage = 0) {
  return { subscriber, stream: 3, stage, publisher };
}

function missingOf(table: PairTable, record: number): number[] {
  const missing: number[] = [];
  for (let node = table.gapsOf(record); node !== 0; node = table.gaps.next(node)) {
    for (let seq = table.gaps.from(node); seq < table.gaps.to(node); seq++) missing.push(seq);
  }
  return missing.toSorted((a, b) => a - b);
}

describe('the table of pairs', () => {
  test('knows of every pair what a list of its arrivals would tell', () => {
    const arrival = fc.record({ pair: fc.nat(4), seq: fc.nat(30), retained: fc.boolean() });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 150 }), (arrivals) => {
        const table = new PairTable();
        const seen = new Map<number, number[]>();
        for (const { pair, seq, retained } of arrivals) {
          const record = table.open(key(pair % 2, pair));
          const before = seen.get(pair) ?? [];
          const known = before.includes(seq);
          const below = before.length > 0 && seq < Math.max(...before);
          const late = below && !retained ? ARRIVED_LATE : ARRIVED_NEW;
          const again = retained ? ARRIVED_REPLAY : ARRIVED_AGAIN;
          expect(table.arrive(record, seq, { losses: 0, absence: 0, retained })).toBe(
            known ? again : late,
          );
          seen.set(pair, known ? before : [...before, seq]);
        }
        expect(table.count).toBe(seen.size);
        for (const [pair, numbers] of seen) {
          const record = table.find(key(pair % 2, pair));
          const next = Math.max(...numbers) + 1;
          expect(table.nextOf(record)).toBe(next);
          expect(table.uniqueOf(record)).toBe(numbers.length);
          const all = Array.from({ length: next }, (_, seq) => seq);
          expect(missingOf(table, record)).toEqual(all.filter((seq) => !numbers.includes(seq)));
        }
      }),
    );
  });

  test('finds every pair while and after it grows', () => {
    const table = new PairTable();
    const pairs = 20_000;
    for (let n = 0; n < pairs; n++) {
      const earlier = n >> 1;
      expect(table.open(key(n % 7, n, n % 3))).toBe(n);
      expect(table.find(key(earlier % 7, earlier, earlier % 3))).toBe(earlier);
    }
    for (let n = 0; n < pairs; n++) expect(table.find(key(n % 7, n, n % 3))).toBe(n);
    expect(table.find(key(8, 1))).toBe(-1);
    expect(table.find(key(1, 8, 1))).toBe(-1);
  });

  test('beyond its limit it opens no pair and still knows those it has', () => {
    const table = new PairTable(3);
    for (let n = 0; n < 3; n++) table.open(key(0, n));
    expect(table.open(key(0, 3))).toBe(-1);
    expect(table.open(key(0, 2))).toBe(2);
  });

  test('a pair with more gaps than are kept counts on, and says where it could not tell', () => {
    const table = new PairTable();
    const record = table.open(key(0, 0));
    const messages = 3 * MAX_GAPS_A_PAIR;
    for (let seq = 1; seq < 2 * messages; seq += 2) table.arrive(record, seq, connected);
    expect(table.uniqueOf(record)).toBe(messages);
    expect(table.gapCountOf(record)).toBeLessThanOrEqual(MAX_GAPS_A_PAIR);
    expect(table.horizonOf(record)).toBeGreaterThan(0);
    expect(table.isAmbiguous(record)).toBe(false);
    expect(table.arrive(record, 2 * messages - 2, connected)).toBe(ARRIVED_LATE);
    expect(table.isAmbiguous(record)).toBe(false);
    expect(table.arrive(record, 0, connected)).toBe(ARRIVED_AGAIN);
    expect(table.isAmbiguous(record)).toBe(true);
  });

  test('without place for another gap a pair closes its own, and its sums stay exact', () => {
    const table = new PairTable(10, new RangeLists(2));
    const record = table.open(key(0, 0));
    for (const seq of [1, 3, 5, 7]) table.arrive(record, seq, connected);
    expect(table.nextOf(record) - table.uniqueOf(record)).toBe(4);
    expect(table.horizonOf(record)).toBe(5);
    expect(missingOf(table, record)).toEqual([6]);
  });
});

describe('the memory of the table of pairs', { timeout: 60_000 }, () => {
  const MB = 1_000_000;

  test('a million pairs, each with a gap, stay below 200 MB at every moment of their growth', () => {
    const table = new PairTable();
    for (let n = 0; n < 1_000_000; n++) {
      const record = table.open(key(n % 1000, Math.floor(n / 1000)));
      table.arrive(record, 1, connected);
    }
    expect(table.count).toBe(1_000_000);
    expect(table.gaps.live).toBe(1_000_000);
    expect(table.peakBytes).toBeLessThan(110 * MB);
  });

  test('a full table with as many gaps as there are places stays below 200 MB', () => {
    const table = new PairTable();
    for (let n = 0; n <= MAX_PAIRS; n++) {
      const record = table.open(key(n & 1023, n >> 10));
      if (record >= 0) table.arrive(record, 1, connected);
    }
    expect(table.count).toBe(MAX_PAIRS);
    expect(table.peakBytes).toBeLessThan(200 * MB);
  });

  test('in eight workers of an agent a million pairs stay below 200 MB together', () => {
    let bytes = 0;
    for (let worker = 0; worker < 8; worker++) {
      const table = new PairTable();
      for (let n = 0; n < 125_000; n++) table.open(key(n % 1000, Math.floor(n / 1000)));
      bytes += table.peakBytes;
    }
    expect(bytes).toBeLessThan(100 * MB);
  });
});
