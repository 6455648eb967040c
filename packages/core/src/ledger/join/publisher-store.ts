import { at } from '../element.ts';
import type { LedgerPlan, LedgerStream } from '../ledger-plan.ts';
import { MAX_JOINED_RANGES, MAX_MARKS, MAX_SORTED_UNRESOLVED } from '../limits.ts';
import { PUBLISHER_FIELDS, type PublishersBody } from '../page.ts';
import { RangeLists } from '../range-lists.ts';
import type { TopicTurns } from '../topic-turns.ts';
import { outOfPlan } from './out-of-plan.ts';

/** What all clients of one stream sent in one stage, by client. */
export interface PublisherColumn {
  readonly handed: Uint32Array;
  readonly firstUs: Float64Array;
  readonly lastUs: Float64Array;
  /** Of the unresolved: refused by the broker. */
  readonly refused: Uint32Array;
  /** 1 where unresolved messages were not listed. */
  readonly unlisted: Uint8Array;
  /** Heads of unresolved ranges. */
  readonly heads: Uint32Array;
  /** By client × `MAX_MARKS` + mark. */
  readonly marks: Uint32Array;
  /** Moments of a worker's marks. */
  readonly marksUs: Map<number, readonly number[]>;
}

interface RangesOfClient {
  readonly client: number;
  readonly rows: readonly number[];
  readonly place: number;
}

interface PublisherRow {
  readonly rows: readonly number[];
  readonly place: number;
  readonly marks: number;
}

/** The publishing side of all workers. */
export class PublisherStore {
  readonly unresolved = new RangeLists(MAX_JOINED_RANGES);
  readonly #plan: LedgerPlan;
  readonly #columns = new Map<number, PublisherColumn>();

  constructor(plan: LedgerPlan) {
    this.#plan = plan;
  }

  /** Null where nobody sent anything of the stream in the stage. */
  column(stream: number, stage: number): PublisherColumn | null {
    return this.#columns.get(stream * 256 + stage) ?? null;
  }

  /** @throws SquallError SQ_FRAME for a stream, stage or client that the plan does not have. */
  add(body: PublishersBody, source: number): void {
    const parts = this.#plan.stamped[body.stream];
    if (parts === undefined) throw outOfPlan('stream', body.stream);
    for (const part of parts) {
      const column = this.#open(part.index, body.stage);
      column.marksUs.set(source, body.marksUs);
      let place = 0;
      while (place < body.rows.length) {
        place = this.#addRow(part, column, { rows: body.rows, place, marks: body.marksUs.length });
      }
    }
  }

  /** Gives the place behind the row. */
  #addRow(part: LedgerStream, column: PublisherColumn, row: PublisherRow): number {
    const { rows, place, marks } = row;
    const client = at(rows, place);
    if (client >= column.handed.length) throw outOfPlan('publisher', client);
    const countOf = (count: number): number =>
      part.turns === null ? count : part.turns.countOf(client, part.choice, count);
    column.handed[client] = countOf(at(rows, place + 1));
    column.firstUs[client] = at(rows, place + 2);
    column.lastUs[client] = at(rows, place + 3);
    column.unlisted[client] = at(rows, place + 4) > 0 ? 1 : 0;
    column.refused[client] = at(rows, place + 5);
    const from = place + PUBLISHER_FIELDS;
    for (let k = 0; k < marks; k++) {
      column.marks[client * MAX_MARKS + k] = countOf(at(rows, from + k));
    }
    const ranges = { client, rows, place: from + marks };
    if (part.turns === null) this.#addRanges(column, ranges);
    else this.#addTurns(part.turns, part.choice, { column, ranges });
    return from + marks + 1 + 2 * at(rows, from + marks);
  }

  /** Ranges fall in the row; the lowest is pushed first. */
  #addRanges(column: PublisherColumn, row: RangesOfClient): void {
    const count = at(row.rows, row.place);
    let head = 0;
    for (let k = count - 1; k >= 0; k--) {
      const from = at(row.rows, row.place + 1 + 2 * k);
      head = this.unresolved.push(head, from, from + at(row.rows, row.place + 2 + 2 * k));
      if (this.unresolved.refused) column.unlisted[row.client] = 1;
    }
    column.heads[row.client] = head;
  }

  /** The same where topics take turns: of each range the messages to one topic, by their ranks. */
  #addTurns(
    turns: TopicTurns,
    choice: number,
    { column, ranges }: { readonly column: PublisherColumn; readonly ranges: RangesOfClient },
  ): void {
    const { client, rows, place } = ranges;
    let head = 0;
    let looked = 0;
    let own = 0;
    for (let k = at(rows, place) - 1; k >= 0; k--) {
      const from = at(rows, place + 1 + 2 * k);
      const to = from + at(rows, place + 2 + 2 * k);
      looked += to - from;
      if (looked > MAX_SORTED_UNRESOLVED) {
        column.unlisted[client] = 1;
        break;
      }
      for (let seq = from; seq < to; seq++) {
        if (turns.topicOf(client, seq) !== choice) continue;
        own += 1;
        head = this.unresolved.add(head, turns.rankOf(client, seq));
        if (this.unresolved.refused) column.unlisted[client] = 1;
      }
    }
    column.heads[client] = head;
    // Which of them were refused is known where all were.
    column.refused[client] = at(column.refused, client) === looked ? own : 0;
  }

  #open(stream: number, stage: number): PublisherColumn {
    const known = this.column(stream, stage);
    if (known !== null) return known;
    const spec = this.#plan.streams[stream];
    if (spec === undefined) throw outOfPlan('stream', stream);
    if (stage >= this.#plan.plan.stages.length) throw outOfPlan('stage', stage);
    const clients = this.#plan.plan.groups[spec.group]?.clients ?? 0;
    const made = {
      handed: new Uint32Array(clients),
      firstUs: new Float64Array(clients),
      lastUs: new Float64Array(clients),
      refused: new Uint32Array(clients),
      unlisted: new Uint8Array(clients),
      heads: new Uint32Array(clients),
      marks: new Uint32Array(clients * MAX_MARKS),
      marksUs: new Map<number, readonly number[]>(),
    };
    this.#columns.set(stream * 256 + stage, made);
    return made;
  }
}
