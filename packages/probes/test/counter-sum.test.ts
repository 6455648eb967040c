import { expect, test } from 'vitest';
import { CounterSum, MAX_PARTS } from '../src/counter-sum.ts';
import { ProbeError } from '../src/index.ts';

const parts = (values: Record<string, number>) => new Map(Object.entries(values));

test('parts are added up, new ones with all that they counted', () => {
  const sum = new CounterSum();
  expect(sum.add(parts({ a: 5, b: 7 }))).toEqual({ sum: 12, grown: null });
  expect(sum.add(parts({ a: 6, b: 7, c: 2 }))).toEqual({ sum: 15, grown: 3 });
});

test('a part that fell makes the sum fall, even where the others grew by more', () => {
  const sum = new CounterSum();
  sum.add(parts({ a: 100, b: 100 }));
  expect(sum.add(parts({ a: 250, b: 3 }))).toEqual({ sum: 153, grown: 153 });
});

test('growth past the old sum does not hide a restart', () => {
  const sum = new CounterSum();
  sum.add(parts({ a: 5, b: 5 }));
  expect(sum.add(parts({ a: 500, b: 1 }))).toEqual({ sum: 0, grown: 496 });
});

test('more parts than anybody means are refused', () => {
  const many = new Map(Array.from({ length: MAX_PARTS + 1 }, (_, k) => [`${k}`, 1]));
  expect(() => new CounterSum().add(many)).toThrow(ProbeError);
});
