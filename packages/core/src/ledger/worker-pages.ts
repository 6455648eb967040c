import { at } from './element.ts';
import { MAX_PAGE_NUMBERS } from './limits.ts';
import {
  type LedgerPage,
  type PageBody,
  type PageClock,
  PAIR_AMBIGUOUS,
  PAIR_CUT_OFF,
} from './page.ts';
import type { PairTable } from './pair-table.ts';
import type { PublisherBook, PublisherLedger } from './publisher-ledger.ts';
import type { RangeLists } from './range-lists.ts';
import type { SubscriberBook } from './subscriber-book.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';
import { UNTRACKED } from './tallies.ts';

export interface WorkerPagesOptions {
  readonly worker: number;
  readonly clock: PageClock;
  readonly publishers: PublisherLedger;
  readonly subscribers: SubscriberLedger;
  /** `MAX_PAGE_NUMBERS` unless a test wants shorter pages. */
  readonly maxNumbers?: number;
}

/**
 * The pages of one worker, made one at a time as they are asked for: publishers first, since pairs
 * are judged by them. There is always a last page, if only to say that there is nothing.
 */
export function* workerPages(options: WorkerPagesOptions): Generator<LedgerPage, void> {
  const { worker, publishers, subscribers, maxNumbers = MAX_PAGE_NUMBERS } = options;
  const { domain, startUs } = options.clock;
  const clock = { domain, startUs: Math.floor(startUs) };
  let page = 0;
  for (const body of bodies(publishers, subscribers, maxNumbers)) {
    yield { worker, page, last: false, clock, ...body };
    page += 1;
  }
  const tallies = subscribers.tallies.list();
  const full = tallies.some(({ kind }) => kind === UNTRACKED);
  const examples = subscribers.examples.list.map((example) => ({
    ...example,
    sentUs: Math.floor(example.sentUs),
  }));
  yield { worker, page, last: true, clock, kind: 'tallies', full, tallies, examples };
}

function* bodies(
  publishers: PublisherLedger,
  subscribers: SubscriberLedger,
  maxNumbers: number,
): Generator<PageBody, void> {
  const { streams, entries } = subscribers.plan;
  // Where nobody subscribes there is nothing to compare with.
  for (const book of entries.length === 0 ? [] : publishers.books) {
    const { stream, stage } = book;
    if (streams[stream]?.outside !== null) continue;
    const marksUs = book.marksUs.map(Math.floor);
    for (const rows of cut(publisherRows(book, publishers.unresolved), maxNumbers)) {
      yield { kind: 'publishers', stream, stage, marksUs, rows };
    }
  }
  for (const book of subscribers.books) {
    const { group, filters } = book;
    if (filters === 0) continue;
    for (const rows of cut(subscriberRows(book), maxNumbers)) {
      yield { kind: 'subscribers', group, filters, rows };
    }
  }
  const losses = lossesOf(subscribers);
  for (const rows of cut(pairRows(subscribers.pairs, losses), maxNumbers)) {
    yield { kind: 'pairs', rows };
  }
}

/** Joins rows into lists of about `maxNumbers`; a row is never cut. */
function* cut(rows: Iterable<readonly number[]>, maxNumbers: number): Generator<number[], void> {
  let page: number[] = [];
  for (const row of rows) {
    for (const number of row) page.push(number);
    if (page.length < maxNumbers) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function* publisherRows(book: PublisherBook, unresolved: RangeLists): Generator<number[], void> {
  for (let position = 0; position < book.numbers.length; position++) {
    const handed = at(book.handedOf, position);
    if (handed === 0) continue;
    const row = [at(book.numbers, position), handed];
    // Rounded down, as subscriptions are rounded up: rounding never makes a message one too many.
    row.push(Math.floor(at(book.firstUs, position)), book.unlistedOf(position));
    for (const mark of book.marks) row.push(at(mark, position));
    const ranges: number[] = [];
    let node = at(book.heads, position);
    for (; node !== 0; node = unresolved.next(node)) {
      ranges.push(unresolved.from(node), unresolved.to(node) - unresolved.from(node));
    }
    row.push(ranges.length / 2);
    for (const number of ranges) row.push(number);
    yield row;
  }
}

function* subscriberRows(book: SubscriberBook): Generator<number[], void> {
  for (let position = 0; position < book.numbers.length; position++) {
    const row = [at(book.numbers, position), at(book.losses, position)];
    for (let filter = 0; filter < book.filters; filter++) {
      const place = position * book.filters + filter;
      row.push(at(book.states, place), Math.ceil(at(book.sinceUs, place)));
    }
    yield row;
  }
}

function* pairRows(
  pairs: PairTable,
  losses: (subscriber: number) => number,
): Generator<number[], void> {
  for (let record = 0; record < pairs.count; record++) {
    const next = pairs.nextOf(record);
    const cutOff = pairs.lossesOf(record) !== losses(pairs.subscriberOf(record));
    const row = [
      pairs.subscriberOf(record),
      pairs.streamOf(record),
      pairs.stageOf(record),
      pairs.publisherOf(record),
      next,
    ];
    if (isPlain(pairs, record) && !cutOff) row.push(0);
    else {
      row.push(1, pairs.uniqueOf(record), pairs.duplicatesOf(record), pairs.reorderedOf(record));
      row.push(pairs.lowestOf(record) + 1, pairs.horizonOf(record));
      row.push((pairs.isAmbiguous(record) ? PAIR_AMBIGUOUS : 0) | (cutOff ? PAIR_CUT_OFF : 0));
      pushGaps(row, pairs, record);
    }
    yield row;
  }
}

/** Everything below `next` came once and in order. */
function isPlain(pairs: PairTable, record: number): boolean {
  return (
    pairs.uniqueOf(record) === pairs.nextOf(record) &&
    pairs.duplicatesOf(record) === 0 &&
    pairs.reorderedOf(record) === 0 &&
    pairs.lowestOf(record) === 0
  );
}

function pushGaps(row: number[], pairs: PairTable, record: number): void {
  const { gaps } = pairs;
  row.push(pairs.gapCountOf(record));
  for (let node = pairs.gapsOf(record); node !== 0; node = gaps.next(node)) {
    row.push(gaps.from(node), (gaps.to(node) - gaps.from(node)) * 2 + gaps.flag(node));
  }
}

/** Lost connections by the number of a subscriber in the plan. */
function lossesOf(ledger: SubscriberLedger): (subscriber: number) => number {
  const losses = new Map<number, number>();
  for (const book of ledger.books) {
    const first = ledger.plan.firstClient[book.group] ?? 0;
    for (let position = 0; position < book.numbers.length; position++) {
      const lost = at(book.losses, position);
      if (lost > 0) losses.set(first + at(book.numbers, position), lost);
    }
  }
  return (subscriber) => losses.get(subscriber) ?? 0;
}
