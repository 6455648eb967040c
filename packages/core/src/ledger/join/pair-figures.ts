import { GAP_DISCONNECTED, type PairTable } from '../pair-table.ts';
import { contains, countInBoth, countWithin, type RangeList, type Window } from './range-sums.ts';

/** One pair in one stage, with all that is known of both sides. */
export interface PairCase {
  /** Messages that the publisher handed over, numbered from 0. */
  readonly handed: number;
  readonly unresolved: RangeList;
  readonly pairs: PairTable;
  /** The pair's record, -1 where nothing came. */
  readonly record: number;
  /** From this number on the subscriber must have got everything; below, what it got is welcome. */
  readonly start: number;
  /** The subscription ended within the run, so only gaps between messages tell of losses. */
  readonly open: boolean;
  /** The subscriber lost its connection after its last message of the pair. */
  readonly cutOff: boolean;
}

/** `expected = unique + lost`; arrivals are `unique + unresolvedArrived + unexpected + again`. */
export interface PairFigures {
  readonly expected: number;
  readonly unique: number;
  readonly lost: number;
  readonly lostDisconnected: number;
  /** Messages that came once more: duplicates, or copies through overlapping subscriptions. */
  readonly again: number;
  readonly reordered: number;
  readonly unresolved: number;
  readonly unresolvedArrived: number;
  /** Numbers that the publisher never gave. */
  readonly unexpected: number;
  /** More gaps than are kept, so that some figures above are bounds. */
  readonly inexact: boolean;
}

export function pairFigures(pair: PairCase): PairFigures {
  const { pairs, record, handed, unresolved, start } = pair;
  const came = record >= 0;
  const next = came ? pairs.nextOf(record) : 0;
  const distinct = came ? pairs.uniqueOf(record) : 0;
  const gaps = gapsOf(pair);
  const inside = Math.min(next, handed);
  const beyond = Math.max(0, next - handed - countWithin(gaps, { from: handed, to: next }));
  const closed = closedMissing(pair, gaps);
  const both = [gaps, unresolved] as const;
  const all = { from: 0, to: inside };
  const unresolvedClosed = Math.min(closed, countWithin(unresolved, belowHorizon(pair)));
  const unresolvedArrived =
    countWithin(unresolved, all) - countInBoth(both, all) - unresolvedClosed;
  const early = { from: 0, to: Math.min(start, inside) };
  const losses = lossesOf(pair, { inside, closed: closed - unresolvedClosed });
  const unique = Math.max(0, distinct - beyond - unresolvedArrived);
  return {
    expected: unique + losses.lost,
    unique,
    lost: losses.lost,
    lostDisconnected: losses.disconnected,
    again: came ? pairs.duplicatesOf(record) : 0,
    reordered: came ? pairs.reorderedOf(record) : 0,
    unresolved:
      countWithin(unresolved, { from: start, to: handed }) +
      countWithin(unresolved, early) -
      countInBoth(both, early),
    unresolvedArrived,
    unexpected: distinct - unique - unresolvedArrived,
    inexact:
      (came && pairs.isAmbiguous(record)) || unresolvedClosed > 0 || (closed > 0 && start > 0),
  };
}

/** Numbers of lost messages, at most `most` of them: those of gaps first, then those of the end. */
export function lostNumbers(pair: PairCase, most: number): { seq: number; cutOff: boolean }[] {
  const lost: { seq: number; cutOff: boolean }[] = [];
  const next = pair.record >= 0 ? pair.pairs.nextOf(pair.record) : 0;
  const { lists, head } = gapsOf(pair);
  for (let node = head; node !== 0 && lost.length < most; node = lists.next(node)) {
    const cutOff = lists.flag(node) === GAP_DISCONNECTED;
    if (pair.open && cutOff) continue;
    const to = Math.min(lists.to(node), pair.handed);
    collect(pair, { from: lists.from(node), to, cutOff }, { lost, most });
  }
  if (!pair.open) {
    collect(pair, { from: next, to: pair.handed, cutOff: pair.cutOff }, { lost, most });
  }
  return lost;
}

function collect(
  { start, unresolved }: PairCase,
  span: { readonly from: number; readonly to: number; readonly cutOff: boolean },
  { lost, most }: { readonly lost: { seq: number; cutOff: boolean }[]; readonly most: number },
): void {
  for (let seq = Math.max(start, span.from); seq < span.to && lost.length < most; seq++) {
    if (!contains(unresolved, seq)) lost.push({ seq, cutOff: span.cutOff });
  }
}

/** What is missing from `start` on, without what is unresolved. */
function lossesOf(
  pair: PairCase,
  known: { readonly inside: number; readonly closed: number },
): { lost: number; disconnected: number } {
  const { start, handed, unresolved } = pair;
  const gaps = gapsOf(pair);
  const inner = { from: start, to: Math.max(start, known.inside) };
  const both = [gaps, unresolved] as const;
  const disconnected =
    countWithin(gaps, inner, GAP_DISCONNECTED) - countInBoth(both, inner, GAP_DISCONNECTED);
  const connected = countWithin(gaps, inner, 0) - countInBoth(both, inner, 0);
  if (pair.open) return { lost: connected, disconnected: 0 };
  const end: Window = { from: inner.to, to: Math.max(inner.to, handed) };
  const tail = end.to - end.from - countWithin(unresolved, end);
  return {
    lost: connected + disconnected + known.closed + tail,
    disconnected: disconnected + (pair.cutOff ? tail : 0),
  };
}

function gapsOf({ pairs, record }: PairCase): RangeList {
  return { lists: pairs.gaps, head: record >= 0 ? pairs.gapsOf(record) : 0 };
}

/** Missing messages in gaps that are no longer listed. */
function closedMissing({ pairs, record }: PairCase, gaps: RangeList): number {
  if (record < 0 || pairs.horizonOf(record) === 0) return 0;
  const next = pairs.nextOf(record);
  const listed = countWithin(gaps, { from: 0, to: next });
  return Math.max(0, next - pairs.uniqueOf(record) - listed);
}

function belowHorizon({ pairs, record }: PairCase): Window {
  return { from: 0, to: record < 0 ? 0 : pairs.horizonOf(record) };
}
