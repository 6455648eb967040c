import { at } from '../element.ts';
import type { LedgerPlan } from '../ledger-plan.ts';
import { MAX_IDENTIFIED_ENTRIES, MAX_JOINED_PAIRS, MAX_JOINED_RANGES } from '../limits.ts';
import {
  PAIR_AMBIGUOUS,
  PAIR_DETAILS,
  PAIR_FIELDS,
  PAIR_TAIL_SHIFT,
  type PairsBody,
} from '../page.ts';
import { entryIn, streamIn } from '../pair-stream.ts';
import { GAP_FLAGS, type PairKey, PairTable } from '../pair-table.ts';
import { RangeLists } from '../range-lists.ts';
import { outOfPlan } from './out-of-plan.ts';

/**
 * The receiving side of all workers: the same table that a worker has. `lossesOf` of a record holds
 * the flags of what is missing after the pair's last message.
 */
export class PairStore {
  readonly table: PairTable;
  readonly #plan: LedgerPlan;
  readonly #clients: number;
  readonly #key: PairKey = { subscriber: 0, stream: 0, stage: 0, publisher: 0 };

  constructor(plan: LedgerPlan, maxPairs: number = MAX_JOINED_PAIRS) {
    this.#plan = plan;
    this.table = new PairTable(maxPairs, new RangeLists(MAX_JOINED_RANGES));
    this.#clients = plan.plan.groups.reduce((sum, { clients }) => sum + clients, 0);
  }

  /**
   * Gives whether every pair found a place.
   * @throws SquallError SQ_FRAME for a client, stream or stage that the plan does not have.
   */
  add({ rows }: PairsBody): boolean {
    let all = true;
    let place = 0;
    while (place < rows.length) {
      const detailed = at(rows, place + PAIR_FIELDS - 1) === 1;
      if (!this.#addRow(rows, place)) all = false;
      place += PAIR_FIELDS;
      if (detailed) place += PAIR_DETAILS + 2 * at(rows, place + PAIR_DETAILS - 1);
    }
    return all;
  }

  #addRow(rows: readonly number[], place: number): boolean {
    const key = this.#key;
    key.subscriber = at(rows, place);
    key.stream = at(rows, place + 1);
    key.stage = at(rows, place + 2);
    key.publisher = at(rows, place + 3);
    this.#check(key);
    const record = this.table.open(key);
    if (record < 0) return false;
    const next = at(rows, place + 4);
    if (at(rows, place + 5) === 0) {
      const plain = { duplicates: 0, reordered: 0, lowest: 0, horizon: 0, losses: 0 };
      this.table.load(record, { next, unique: next, ambiguous: false, ...plain });
      return true;
    }
    const from = place + PAIR_FIELDS;
    const state = at(rows, from + 5);
    this.table.load(record, {
      next,
      unique: at(rows, from),
      duplicates: at(rows, from + 1),
      reordered: at(rows, from + 2),
      lowest: at(rows, from + 3) - 1,
      horizon: at(rows, from + 4),
      ambiguous: (state & PAIR_AMBIGUOUS) !== 0,
      losses: state >>> PAIR_TAIL_SHIFT,
    });
    this.#addGaps(record, rows, from + PAIR_DETAILS - 1);
    return true;
  }

  #addGaps(record: number, rows: readonly number[], place: number): void {
    for (let k = at(rows, place) - 1; k >= 0; k--) {
      const gapFrom = at(rows, place + 1 + 2 * k);
      const lengthAndFlags = at(rows, place + 2 + 2 * k);
      const to = gapFrom + Math.floor(lengthAndFlags / GAP_FLAGS);
      this.table.loadGap(record, { from: gapFrom, to, flag: lengthAndFlags % GAP_FLAGS });
    }
  }

  #check(key: PairKey): void {
    const spec = this.#plan.streams[streamIn(key.stream)];
    if (entryIn(key.stream) > MAX_IDENTIFIED_ENTRIES) throw outOfPlan('entry', entryIn(key.stream));
    if (spec === undefined) throw outOfPlan('stream', key.stream);
    const { groups, stages } = this.#plan.plan;
    if (key.publisher >= (groups[spec.group]?.clients ?? 0)) {
      throw outOfPlan('publisher', key.publisher);
    }
    if (key.stage >= stages.length) throw outOfPlan('stage', key.stage);
    if (key.subscriber >= this.#clients) throw outOfPlan('subscriber', key.subscriber);
  }
}
