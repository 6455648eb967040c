import { cut } from './cut-rows.ts';
import { at } from './element.ts';
import { MAX_EDGE_ROWS } from './limits.ts';
import { type EdgeBody, FIRST_FIELDS, HELD_FIELDS, type PageBody } from './page.ts';
import type { PublisherBook, PublisherLedger } from './publisher-ledger.ts';
import type { RangeLists } from './range-lists.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';
import { GRANTED, INTERRUPTED } from './subscription-states.ts';

/**
 * What a worker's publishers sent, and the edge. All of it is final once nothing is sent any more.
 * Where nobody subscribes there is nothing to compare with, and nothing to say.
 */
export function* publisherBodies(
  publishers: PublisherLedger,
  subscribers: SubscriberLedger,
  maxNumbers: number,
): Generator<PageBody, void> {
  const { stamped, entries } = subscribers.plan;
  if (entries.length === 0) return;
  const books = publishers.books.filter(({ stream }) => stamped[stream]?.[0]?.outside === null);
  for (const book of books) {
    const { stream, stage } = book;
    const marksUs = book.marksUs.map(Math.floor);
    for (const rows of cut(publisherRows(book, publishers.unresolved), maxNumbers)) {
      yield { kind: 'publishers', stream, stage, marksUs, rows };
    }
  }
  yield edgeOf(books, subscribers);
}

function* publisherRows(book: PublisherBook, unresolved: RangeLists): Generator<number[], void> {
  for (let position = 0; position < book.numbers.length; position++) {
    const handed = at(book.handedOf, position);
    if (handed === 0) continue;
    const row = [at(book.numbers, position), handed];
    // Rounded down, as subscriptions are rounded up: rounding never makes a message one too many.
    row.push(Math.floor(at(book.firstUs, position)), Math.floor(at(book.lastUs, position)));
    row.push(book.unlistedOf(position), book.refusedOf(position));
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

function edgeOf(books: readonly PublisherBook[], subscribers: SubscriberLedger): EdgeBody {
  const firsts = books.flatMap((book) => {
    const firstUs = firstOf(book);
    return firstUs === null ? [] : [book.stream, book.stage, firstUs];
  });
  const held = subscribers.books.flatMap(({ states }) => {
    const rows: number[] = [];
    for (let filter = 0; filter < states.filters; filter++) {
      rows.push(states.group, filter, ...heldOf(states, filter));
    }
    return rows;
  });
  const rows = Math.max(firsts.length / FIRST_FIELDS, held.length / HELD_FIELDS);
  // An edge that says nothing lets nothing end early.
  if (rows > MAX_EDGE_ROWS) return { kind: 'edge', firsts: [], held: [] };
  return { kind: 'edge', firsts, held };
}

/** When the first client sent its first message; null where none did. */
function firstOf({ numbers, handedOf, firstUs }: PublisherBook): number | null {
  let first = Number.POSITIVE_INFINITY;
  for (let position = 0; position < numbers.length; position++) {
    if (at(handedOf, position) > 0) first = Math.min(first, at(firstUs, position));
  }
  return Number.isFinite(first) ? Math.floor(first) : null;
}

/** Clients that hold a filter and held it without a break, and when the last one of them was granted it. */
function heldOf(
  { numbers, filters, states, sinceUs }: SubscriberLedger['books'][number]['states'],
  filter: number,
): [number, number] {
  let clients = 0;
  let lastUs = 0;
  for (let position = 0; position < numbers.length; position++) {
    const place = position * filters + filter;
    if ((at(states, place) & (GRANTED | INTERRUPTED)) !== GRANTED) continue;
    clients += 1;
    lastUs = Math.max(lastUs, at(sinceUs, place));
  }
  return [clients, Math.ceil(lastUs)];
}
