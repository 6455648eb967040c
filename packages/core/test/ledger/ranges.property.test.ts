import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RangeLists } from '../../src/ledger/range-lists.ts';
import { item } from './simulation.ts';

function numbersOf(lists: RangeLists, head: number): number[] {
  const numbers: number[] = [];
  for (let node = head; node !== 0; node = lists.next(node)) {
    expect(lists.to(node)).toBeGreaterThan(lists.from(node));
    for (let seq = lists.to(node) - 1; seq >= lists.from(node); seq--) numbers.push(seq);
  }
  return numbers;
}

describe('lists of ranges', () => {
  test('hold what a set holds, whatever is added and taken, in several lists at once', () => {
    const operation = fc.record({
      list: fc.nat(2),
      kind: fc.constantFrom('add', 'take'),
      seq: fc.nat(40),
    });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
        const lists = new RangeLists();
        const heads = [0, 0, 0];
        const found: boolean[] = [];
        const sets = [new Set<number>(), new Set<number>(), new Set<number>()];
        for (const { list, kind, seq } of operations) {
          const set = item(sets, list);
          if (kind === 'add') {
            heads[list] = lists.add(item(heads, list), seq);
            set.add(seq);
          } else {
            heads[list] = lists.take(item(heads, list), seq);
            found.push(lists.found === set.delete(seq));
          }
        }
        expect(found).not.toContain(false);
        for (const [k, head] of heads.entries()) {
          expect(numbersOf(lists, head)).toEqual([...(sets[k] ?? [])].toSorted((a, b) => b - a));
        }
      }),
    );
  });

  test('neighbours are one range, so that numbers in a row cost one place', () => {
    const lists = new RangeLists();
    let head = 0;
    for (const seq of [5, 9, 7, 6, 8]) head = lists.add(head, seq);
    expect(lists.live).toBe(1);
    expect([lists.from(head), lists.to(head)]).toEqual([5, 10]);
  });

  test('refuse beyond their limit and give back what is dropped', () => {
    const lists = new RangeLists(2);
    let head = lists.push(0, 0, 1);
    head = lists.push(head, 2, 3);
    expect(lists.push(head, 4, 5)).toBe(head);
    expect(lists.refused).toBe(true);
    lists.drop(head);
    expect(lists.live).toBe(0);
    expect(lists.push(0, 7, 8)).not.toBe(0);
  });

  test('a range that cannot be split ends the list where it is cut', () => {
    const lists = new RangeLists(2);
    let head = lists.push(0, 0, 2);
    head = lists.push(head, 10, 20);
    expect(lists.take(head, 15)).toBe(head);
    expect(lists.found).toBe(true);
    expect(lists.closedBelow).toBe(15);
    expect(numbersOf(lists, head)).toEqual([19, 18, 17, 16]);
    expect(lists.grown).toBe(-1);
  });

  test('cut keeps the highest and says below what nothing is listed', () => {
    const lists = new RangeLists();
    let head = 0;
    for (const from of [0, 10, 20, 30]) head = lists.push(head, from, from + 5);
    expect(lists.cut(head, 2)).toBe(15);
    expect(lists.grown).toBe(-2);
    expect(lists.live).toBe(2);
    expect(lists.cut(head, 2)).toBe(0);
  });
});
