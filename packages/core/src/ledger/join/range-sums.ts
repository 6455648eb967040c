import type { RangeLists } from '../range-lists.ts';

/** A list of falling ranges in a pool. */
export interface RangeList {
  readonly lists: RangeLists;
  readonly head: number;
}

/** Numbers from `from` up to `to`, the last not included. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** How many numbers of a list lie in a window; with `flag`, of the ranges with that flag only. */
export function countWithin({ lists, head }: RangeList, window: Window, flag?: number): number {
  let sum = 0;
  for (let node = head; node !== 0; node = lists.next(node)) {
    if (lists.to(node) <= window.from) break;
    if (flag !== undefined && lists.flag(node) !== flag) continue;
    sum += overlap(lists.from(node), lists.to(node), window);
  }
  return sum;
}

/** How many numbers lie in both lists and in the window; `flag` as above, of `a`. */
export function countInBoth(
  [a, b]: readonly [RangeList, RangeList],
  window: Window,
  flag?: number,
): number {
  let sum = 0;
  let left = a.head;
  let right = b.head;
  while (left !== 0 && right !== 0) {
    const from = Math.max(a.lists.from(left), b.lists.from(right));
    const to = Math.min(a.lists.to(left), b.lists.to(right));
    if (flag === undefined || a.lists.flag(left) === flag) sum += overlap(from, to, window);
    // The range that reaches down less far can meet nothing further below.
    if (a.lists.from(left) > b.lists.from(right)) left = a.lists.next(left);
    else right = b.lists.next(right);
  }
  return sum;
}

/** Whether a number lies in a list. */
export function contains({ lists, head }: RangeList, seq: number): boolean {
  let node = head;
  while (node !== 0 && lists.from(node) > seq) node = lists.next(node);
  return node !== 0 && seq < lists.to(node);
}

function overlap(from: number, to: number, window: Window): number {
  return Math.max(0, Math.min(to, window.to) - Math.max(from, window.from));
}
