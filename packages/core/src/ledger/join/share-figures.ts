import { at } from '../element.ts';
import type { PairFigures } from './pair-figures.ts';
import { contains, countWithin, type RangeList, type Window } from './range-sums.ts';

/** What one publisher sent in one stage, and what of it came to the members of a share. */
export interface ShareCase {
  readonly handed: number;
  readonly unresolved: RangeList;
  /** From this number on everything must have come to one of them. */
  readonly start: number;
  /** Nobody held the subscription to the end: what did not come says nothing. */
  readonly open: boolean;
  /** A bit for each message that came. */
  readonly bits: Uint32Array;
  /** Messages that came once more, to whichever member. */
  readonly again: number;
}

export function shareFigures(share: ShareCase): PairFigures {
  const { bits, handed, unresolved, start } = share;
  const all = { from: 0, to: handed };
  const late = { from: start, to: handed };
  const unresolvedArrived = arrivedIn(unresolved, bits, all);
  const unresolvedLate = arrivedIn(unresolved, bits, late);
  const unique = countBits(bits, all) - unresolvedArrived;
  const missing =
    handed - start - countBits(bits, late) - (countWithin(unresolved, late) - unresolvedLate);
  const lost = share.open ? 0 : missing;
  return {
    expected: unique + lost,
    unique,
    lost,
    lostDisconnected: 0,
    lostSession: 0,
    expired: 0,
    again: share.again,
    reordered: 0,
    unresolved: countWithin(unresolved, late) + (unresolvedArrived - unresolvedLate),
    unresolvedArrived,
    unexpected: countBits(bits, { from: handed, to: bits.length * 32 }),
    inexact: false,
  };
}

/** Numbers of lost messages, at most `most` of them. */
export function lostOfShare(share: ShareCase, most: number): number[] {
  const lost: number[] = [];
  if (share.open) return lost;
  for (let seq = share.start; seq < share.handed && lost.length < most; seq++) {
    if (!hasBit(share.bits, seq) && !contains(share.unresolved, seq)) lost.push(seq);
  }
  return lost;
}

/** The lowest number that came, -1 where none did. */
export function lowestBit(bits: Uint32Array): number {
  for (let place = 0; place < bits.length; place++) {
    const word = at(bits, place);
    if (word !== 0) return place * 32 + (31 - Math.clz32(word & -word));
  }
  return -1;
}

export function countOnes(word: number): number {
  let ones = word - ((word >>> 1) & 0x5555_5555);
  ones = (ones & 0x3333_3333) + ((ones >>> 2) & 0x3333_3333);
  return Math.imul((ones + (ones >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}

function hasBit(bits: Uint32Array, seq: number): boolean {
  return (at(bits, seq >>> 5) & (1 << (seq & 31))) !== 0;
}

function arrivedIn({ lists, head }: RangeList, bits: Uint32Array, window: Window): number {
  let sum = 0;
  for (let node = head; node !== 0; node = lists.next(node)) {
    const from = Math.max(window.from, lists.from(node));
    const to = Math.min(window.to, lists.to(node));
    if (from < to) sum += countBits(bits, { from, to });
  }
  return sum;
}

function countBits(bits: Uint32Array, { from, to }: Window): number {
  const end = Math.min(to, bits.length * 32);
  if (from >= end) return 0;
  let sum = 0;
  for (let place = from >>> 5; place * 32 < end; place++) {
    sum += countOnes(at(bits, place) & maskOf(place, from, end));
  }
  return sum;
}

/** The bits of a word that lie in a window. */
function maskOf(place: number, from: number, end: number): number {
  const low = Math.max(0, from - place * 32);
  const high = Math.min(32, end - place * 32);
  const upTo = high === 32 ? -1 : (1 << high) - 1;
  return upTo & ~((1 << low) - 1);
}
