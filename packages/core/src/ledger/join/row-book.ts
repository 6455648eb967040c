import { MAX_EXAMPLES } from '../../metrics/frame.ts';
import { type LedgerExample, type LedgerFigure, ledgerFigures, type LedgerRow } from '../row.ts';
import type { PairFigures } from './pair-figures.ts';

/** Which row something belongs to. */
export interface RowKey {
  readonly from: string;
  readonly to: string;
  readonly qos: number;
  readonly stage: number;
}

/** A row while it grows. `duplicated`, `copies` and `received` are known when it is finished. */
interface Row extends Record<LedgerFigure, number> {
  readonly key: RowKey;
  pairs: number;
  /** Messages that came again, where one filter matched. */
  again: number;
  /** The same where several did, and how many of them as many filters would explain. */
  overlapAgain: number;
  overlapCopies: number;
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

/** What is counted message by message, apart from pairs. */
export type CountedKind =
  | 'corrupted'
  | 'foreign'
  | 'unexpected'
  | 'retained'
  | 'queued'
  | 'wrongTopic'
  | 'wrongQos';

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
    const { expected, unresolved, expired, unexpected } = figures;
    if (expected + unresolved + expired + unexpected + figures.again === 0) return;
    const row = this.#row(key);
    const { unique, unresolvedArrived, again } = figures;
    if (expected + unresolved + expired > 0) row.pairs += 1;
    row.expected += expected;
    row.unique += unique;
    row.lost += figures.lost;
    row.lostDisconnected += figures.lostDisconnected;
    row.lostSession += figures.lostSession;
    row.expired += figures.expired;
    row.reordered += figures.reordered;
    row.unexpected += unexpected;
    row.unresolved += unresolved;
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

  count(key: RowKey, kind: CountedKind, messages: number): void {
    this.#row(key)[kind] += messages;
  }

  /**
   * The same, of what is counted apart from pairs and does not know which QoS was granted: it belongs
   * to the row of its sender and receiver, where there is one.
   */
  tally(key: RowKey, kind: CountedKind, messages: number): void {
    this.#row(this.nearest(key))[kind] += messages;
  }

  /** The row of the same sender, receiver and stage, by whatever QoS; one of its own where there is none. */
  nearest(key: RowKey): RowKey {
    if (this.#rows.has(nameOf(key))) return key;
    for (let qos = key.qos - 1; qos >= 0; qos--) {
      const lower = { ...key, qos };
      if (this.#rows.has(nameOf(lower))) return lower;
    }
    return key;
  }

  refused(key: RowKey, messages: number): void {
    this.#row(key).refused += messages;
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
    const name = nameOf(key);
    let row = this.#rows.get(name);
    if (row === undefined) {
      row = emptyRow(key);
      this.#rows.set(name, row);
    }
    return row;
  }
}

function nameOf({ from, to, qos, stage }: RowKey): string {
  return `${from}\n${to}\n${qos}\n${stage}`;
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
    ...ledgerFigures(() => 0),
    again: 0,
    overlapAgain: 0,
    overlapCopies: 0,
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
