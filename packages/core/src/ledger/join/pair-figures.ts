import {
  GAP_DISCONNECTED,
  GAP_EXPIRED,
  GAP_FLAGS,
  GAP_SESSION_LOST,
  type PairTable,
} from '../pair-table.ts';
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
  /** What befell the subscriber after its last message of the pair: flags of a gap. */
  readonly tail: number;
}

/** `expected = unique + lost`; arrivals are `unique + unresolvedArrived + unexpected + again`. */
export interface PairFigures {
  readonly expected: number;
  readonly unique: number;
  readonly lost: number;
  readonly lostDisconnected: number;
  readonly lostSession: number;
  /** Missing, and possibly expired: in no other figure. */
  readonly expired: number;
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

/** What of a pair is missing. */
interface Missing {
  lost: number;
  disconnected: number;
  session: number;
  expired: number;
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
  const missing = missingOf(pair, { inside, closed: closed - unresolvedClosed });
  const unique = Math.max(0, distinct - beyond - unresolvedArrived);
  return {
    expected: unique + missing.lost,
    unique,
    lost: missing.lost,
    lostDisconnected: missing.disconnected,
    lostSession: missing.session,
    expired: missing.expired,
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

/** A lost message, and what befell the subscriber around it: flags of a gap. */
export interface LostNumber {
  readonly seq: number;
  readonly flags: number;
}

/**
 * Numbers of lost messages, or of those that may have expired, at most `most` of them: those of gaps
 * first, then those of the end.
 */
export function missingNumbers(
  pair: PairCase,
  kind: 'lost' | 'expired',
  most: number,
): LostNumber[] {
  const expired = kind === 'expired' ? GAP_EXPIRED : 0;
  const lost: LostNumber[] = [];
  const next = pair.record >= 0 ? pair.pairs.nextOf(pair.record) : 0;
  const { lists, head } = gapsOf(pair);
  for (let node = head; node !== 0 && lost.length < most; node = lists.next(node)) {
    const flags = lists.flag(node);
    if (pair.open && flags !== 0) continue;
    if ((flags & GAP_EXPIRED) !== expired) continue;
    const to = Math.min(lists.to(node), pair.handed);
    collect(pair, { from: lists.from(node), to, flags }, { lost, most });
  }
  if (!pair.open && (pair.tail & GAP_EXPIRED) === expired) {
    collect(pair, { from: next, to: pair.handed, flags: pair.tail }, { lost, most });
  }
  return lost;
}

function collect(
  { start, unresolved }: PairCase,
  span: { readonly from: number; readonly to: number; readonly flags: number },
  { lost, most }: { readonly lost: LostNumber[]; readonly most: number },
): void {
  const { flags } = span;
  for (let seq = Math.max(start, span.from); seq < span.to && lost.length < most; seq++) {
    if (!contains(unresolved, seq)) lost.push({ seq, flags });
  }
}

/** What is missing from `start` on, without what is unresolved. */
function missingOf(
  pair: PairCase,
  known: { readonly inside: number; readonly closed: number },
): Missing {
  const { start, handed, unresolved, open } = pair;
  const gaps = gapsOf(pair);
  const inner = { from: start, to: Math.max(start, known.inside) };
  const both = [gaps, unresolved] as const;
  const missing: Missing = { lost: 0, disconnected: 0, session: 0, expired: 0 };
  const present = flagsIn(gaps);
  for (let flags = 0; flags < GAP_FLAGS; flags++) {
    if ((present & (1 << flags)) === 0 || (open && flags !== 0)) continue;
    const count = countWithin(gaps, inner, flags) - countInBoth(both, inner, flags);
    addMissing(missing, count, flags);
  }
  if (open) return missing;
  missing.lost += known.closed;
  const end: Window = { from: inner.to, to: Math.max(inner.to, handed) };
  addMissing(missing, end.to - end.from - countWithin(unresolved, end), pair.tail);
  return missing;
}

function addMissing(missing: Missing, count: number, flags: number): void {
  if ((flags & GAP_EXPIRED) !== 0) {
    missing.expired += count;
    return;
  }
  missing.lost += count;
  if ((flags & GAP_DISCONNECTED) !== 0) missing.disconnected += count;
  if ((flags & GAP_SESSION_LOST) !== 0) missing.session += count;
}

/** Which flags there are among gaps: bit `n` for flags `n`. */
function flagsIn({ lists, head }: RangeList): number {
  let present = 0;
  for (let node = head; node !== 0; node = lists.next(node)) present |= 1 << lists.flag(node);
  return present;
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
