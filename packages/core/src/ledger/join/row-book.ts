import { MAX_EXAMPLES } from '../../metrics/frame.ts';
import type { LedgerExample, LedgerRow } from '../row.ts';
import type { PairFigures } from './pair-figures.ts';

/** Which row something belongs to. */
export interface RowKey {
  readonly from: string;
  readonly to: string;
  readonly qos: number;
  readonly stage: number;
}

interface Row {
  readonly key: RowKey;
  pairs: number;
  expected: number;
  unique: number;
  lost: number;
  lostDisconnected: number;
  /** Messages that came again, where one filter matched. */
  again: number;
  /** The same where several did, and how many of them as many filters would explain. */
  overlapAgain: number;
  overlapCopies: number;
  reordered: number;
  corrupted: number;
  unexpected: number;
  foreign: number;
  unresolved: number;
  unresolvedArrived: number;
  unverifiable: number;
  unverifiablePairs: number;
  readonly unverifiableFrom: Set<string>;
  inexactPairs: number;
  undecidedPairs: number;
  readonly examples: Map<string, LedgerExample[]>;
}

/**
 * Brokers that send a copy for each matching subscription do so with every message. So as soon as
 * this share of the copies that would make is there, all of them count as that, and none as a
 * duplicate; below it, single copies were meant and what came again came again.
 */
const PER_SUBSCRIPTION_SHARE = 0.25;

/** The rows of a ledger while it is being joined. */
export class RowBook {
  readonly #rows = new Map<string, Row>();
  #overlapAgain = 0;
  #overlapRoom = 0;

  /**
   * Adds a pair; `filters` of its subscriber's matched. One of which there is nothing to say (of a
   * stage before the subscription, say) opens no row.
   */
  add(key: RowKey, figures: PairFigures, filters: number): void {
    if (figures.expected + figures.unresolved + figures.again + figures.unexpected === 0) return;
    const row = this.#row(key);
    const { unique, unresolvedArrived, again } = figures;
    if (figures.expected > 0 || figures.unresolved > 0) row.pairs += 1;
    row.expected += figures.expected;
    row.unique += unique;
    row.lost += figures.lost;
    row.lostDisconnected += figures.lostDisconnected;
    row.reordered += figures.reordered;
    row.unexpected += figures.unexpected;
    row.unresolved += figures.unresolved;
    row.unresolvedArrived += unresolvedArrived;
    if (figures.inexact) row.inexactPairs += 1;
    if (filters === 1) {
      row.again += again;
      return;
    }
    const room = (filters - 1) * (unique + unresolvedArrived);
    row.overlapAgain += again;
    row.overlapCopies += Math.min(again, room);
    this.#overlapAgain += again;
    this.#overlapRoom += room;
  }

  count(key: RowKey, kind: 'corrupted' | 'foreign' | 'unexpected', messages: number): void {
    this.#row(key)[kind] += messages;
  }

  undecided(key: RowKey): void {
    this.#row(key).undecidedPairs += 1;
  }

  unverifiable(key: RowKey, pair: { readonly messages: number; readonly from: string }): void {
    const row = this.#row(key);
    row.unverifiable += pair.messages;
    row.unverifiablePairs += 1;
    row.unverifiableFrom.add(pair.from);
  }

  /** How many more examples of a kind a row takes. */
  roomFor(key: RowKey, kind: string): number {
    return MAX_EXAMPLES - (this.#row(key).examples.get(kind)?.length ?? 0);
  }

  example(key: RowKey, kind: string, example: LedgerExample): void {
    const { examples } = this.#row(key);
    const list = examples.get(kind) ?? [];
    if (list.length < MAX_EXAMPLES) list.push(example);
    examples.set(kind, list);
  }

  /** Whether brokers sent one copy for each matching subscription; null where none overlapped. */
  get perSubscription(): boolean | null {
    if (this.#overlapRoom === 0) return null;
    return this.#overlapAgain >= PER_SUBSCRIPTION_SHARE * this.#overlapRoom;
  }

  /** All rows, in the order of their names. */
  rows(): LedgerRow[] {
    const perSubscription = this.perSubscription === true;
    return [...this.#rows.values()]
      .toSorted((a, b) => compare(a.key, b.key))
      .map((row) => finished(row, perSubscription));
  }

  #row(key: RowKey): Row {
    const name = `${key.from}\n${key.to}\n${key.qos}\n${key.stage}`;
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = emptyRow(key);
      this.#rows.set(name, row);
    }
    return row;
  }
}

function finished(row: Row, perSubscription: boolean): LedgerRow {
  const { key, again, overlapAgain, overlapCopies, unverifiableFrom, examples, ...counts } = row;
  const copies = perSubscription ? overlapCopies : 0;
  const duplicated = again + overlapAgain - copies;
  const { unique, unresolvedArrived, unexpected, foreign, corrupted } = counts;
  const figures: Readonly<Record<string, number>> = { ...counts, duplicated };
  // What came again may turn out to be a copy that MQTT allows: then it is no example of anything.
  const shown = [...examples].filter(([kind]) => (figures[kind] ?? 0) > 0);
  return {
    ...key,
    ...counts,
    duplicated,
    copies,
    received: unique + duplicated + unresolvedArrived + unexpected + foreign + corrupted,
    unverifiableFrom: [...unverifiableFrom].toSorted(),
    examples: Object.fromEntries(
      shown.map(([kind, list]) => [kind, list.toSorted(compareExamples)]),
    ),
  };
}

function emptyRow(key: RowKey): Row {
  const { from, to, qos, stage } = key;
  return {
    key: { from, to, qos, stage },
    pairs: 0,
    expected: 0,
    unique: 0,
    lost: 0,
    lostDisconnected: 0,
    again: 0,
    overlapAgain: 0,
    overlapCopies: 0,
    reordered: 0,
    corrupted: 0,
    unexpected: 0,
    foreign: 0,
    unresolved: 0,
    unresolvedArrived: 0,
    unverifiable: 0,
    unverifiablePairs: 0,
    unverifiableFrom: new Set(),
    inexactPairs: 0,
    undecidedPairs: 0,
    examples: new Map(),
  };
}

function compare(a: RowKey, b: RowKey): number {
  if (a.stage !== b.stage) return a.stage - b.stage;
  if (a.from !== b.from) return a.from < b.from ? -1 : 1;
  if (a.to !== b.to) return a.to < b.to ? -1 : 1;
  return a.qos - b.qos;
}

function compareExamples(a: LedgerExample, b: LedgerExample): number {
  if (a.client !== b.client) return a.client < b.client ? -1 : 1;
  return a.seq - b.seq;
}
