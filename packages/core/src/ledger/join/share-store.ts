import { MAX_EXAMPLES } from '../../metrics/frame.ts';
import { at } from '../element.ts';
import type { LedgerPlan } from '../ledger-plan.ts';
import { MAX_JOINED_SHARED_WORDS } from '../limits.ts';
import { SHARE_FIELDS, type SharesBody } from '../page.ts';
import { readRuns } from '../share-runs.ts';
import { outOfPlan } from './out-of-plan.ts';
import { countOnes } from './share-figures.ts';

/** What came through one share, of one stream in one stage, to members in any worker. */
export interface SharedColumn {
  /** A bit a message, by publisher. */
  readonly bits: (Uint32Array | undefined)[];
  /** Messages that came again, by publisher. */
  readonly again: Map<number, number>;
  /** Some that came to members in two workers. */
  readonly examples: { readonly publisher: number; readonly seq: number }[];
}

/** The shares of all workers: the union of what their members got, and what more than one of them did. */
export class ShareStore {
  /** Some share had no place any more. */
  full = false;
  readonly #plan: LedgerPlan;
  readonly #limit: number;
  readonly #columns = new Map<string, SharedColumn>();
  #words = 0;

  constructor(plan: LedgerPlan, limit = MAX_JOINED_SHARED_WORDS) {
    this.#plan = plan;
    this.#limit = limit;
  }

  /** Null where nothing came. */
  column(share: string, stream: number, stage: number): SharedColumn | null {
    return this.#columns.get(`${stream} ${stage} ${share}`) ?? null;
  }

  /** @throws SquallError SQ_FRAME for a stream, stage or client that the plan does not have. */
  add({ share, stream, stage, rows }: SharesBody): void {
    const spec = this.#plan.streams[stream];
    if (spec === undefined) throw outOfPlan('stream', stream);
    if (stage >= this.#plan.plan.stages.length) throw outOfPlan('stage', stage);
    const clients = this.#plan.plan.groups[spec.group]?.clients ?? 0;
    const column = this.#open(`${stream} ${stage} ${share}`);
    let place = 0;
    while (place < rows.length) {
      const publisher = at(rows, place);
      if (publisher >= clients) throw outOfPlan('publisher', publisher);
      const again = at(rows, place + 1);
      if (again > 0) column.again.set(publisher, (column.again.get(publisher) ?? 0) + again);
      const from = place + SHARE_FIELDS;
      const to = from + at(rows, place + 3);
      const first = at(rows, place + 2);
      readRuns({ rows, from, to }, (word, value) => {
        this.#unite(column, publisher, { place: first + word, value });
      });
      place = to;
    }
  }

  #unite(
    column: SharedColumn,
    publisher: number,
    { place, value }: { readonly place: number; readonly value: number },
  ): void {
    const bits = this.#bitsFor(column, publisher, place);
    if (bits === null) return;
    const before = at(bits, place);
    bits[place] = before | value;
    const both = before & value;
    if (both === 0) return;
    column.again.set(publisher, (column.again.get(publisher) ?? 0) + countOnes(both));
    if (column.examples.length >= MAX_EXAMPLES) return;
    column.examples.push({ publisher, seq: place * 32 + (31 - Math.clz32(both & -both)) });
  }

  #bitsFor(column: SharedColumn, publisher: number, place: number): Uint32Array | null {
    const known = column.bits[publisher];
    if (known !== undefined && place < known.length) return known;
    const before = known?.length ?? 0;
    const length = Math.max(4, place + 1, before * 2);
    if (this.#words - before + length > this.#limit) {
      this.full = true;
      return null;
    }
    this.#words += length - before;
    const grown = new Uint32Array(length);
    if (known !== undefined) grown.set(known);
    column.bits[publisher] = grown;
    return grown;
  }

  #open(key: string): SharedColumn {
    const known = this.#columns.get(key);
    if (known !== undefined) return known;
    const made = { bits: [], again: new Map<number, number>(), examples: [] };
    this.#columns.set(key, made);
    return made;
  }
}
