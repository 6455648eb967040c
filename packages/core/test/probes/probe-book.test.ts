import { describe, expect, test } from 'vitest';
import { ProbeBook } from '../../src/probes/index.ts';

const reading = (atUs: number, value: number, kind: 'counter' | 'gauge' = 'counter') => ({
  probe: 'p',
  atUs,
  figures: new Map([['f', { value, kind, unit: 'count' as const }]]),
});

function bookOf(values: readonly number[], kind: 'counter' | 'gauge' = 'counter'): ProbeBook {
  const book = new ProbeBook(['p']);
  for (const [index, value] of values.entries()) book.add(reading(index * 1e6, value, kind));
  return book;
}

describe('the book of probes', () => {
  test('a counter counts from its first reading', () => {
    expect(bookOf([100, 150, 150, 400]).figure('p', 'f')).toMatchObject({
      first: 100,
      last: 400,
      increase: 300,
      decreases: 0,
      readings: 4,
    });
  });

  test('a counter that began again counts on from 0, and that is told', () => {
    expect(bookOf([100, 150, 20, 30]).figure('p', 'f')).toMatchObject({
      increase: 50 + 20 + 10,
      decreases: 1,
    });
  });

  test('a gauge may fall: its change is told as it is, and its extremes', () => {
    expect(bookOf([5, 2, 8], 'gauge').figure('p', 'f')).toMatchObject({
      min: 2,
      max: 8,
      sum: 15,
      increase: 6,
      decreases: 1,
    });
  });

  test('failures are counted by reason, of which only so many are told apart', () => {
    const book = new ProbeBook(['p']);
    for (let n = 0; n < 80; n++) book.failed('p', `reason ${n}`, `detail ${n}`);
    book.failed('p', 'reason 0', 'the last one');
    const record = book.records().get('p');
    expect(record).toMatchObject({ errors: 81, lastError: 'the last one' });
    expect(record?.reasons['reason 0']).toBe(2);
    expect(record?.reasons['other reasons']).toBe(30);
    expect(Object.keys(record?.reasons ?? {})).toHaveLength(51);
  });

  test('a day of readings stays small, and keeps its ends', () => {
    const book = bookOf(Array.from({ length: 20_000 }, (_, n) => n));
    const figure = book.figure('p', 'f');
    expect(figure?.points.length).toBeLessThanOrEqual(4_096);
    expect(figure?.points.at(0)).toEqual([0, 0]);
    expect(figure?.points.at(-1)).toEqual([19_999e6, 19_999]);
    // No part of the day is told more of than another by much.
    const gaps = figure?.points.map(([us], n, all) => us - (all[n - 1]?.[0] ?? 0)) ?? [];
    expect(Math.max(...gaps)).toBeLessThanOrEqual(20e6);
    expect(figure?.increase).toBe(19_999);
  });

  test('comes back from its JSON as it was', () => {
    const book = bookOf([1, 2, 1]);
    book.failed('p', 'timed out', 'timed out');
    book.skipped('p');
    const again = new ProbeBook(['p'], JSON.parse(JSON.stringify(book)));
    expect(again.toJSON()).toEqual(book.toJSON());
  });
});
