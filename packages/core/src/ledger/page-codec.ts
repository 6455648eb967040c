import {
  type Fields,
  list,
  MAX_STAGES,
  record,
  refuse,
  text,
  whole,
} from '../metrics/frame-fields.ts';
import {
  MAX_EDGE_ROWS,
  MAX_MARKS,
  MAX_PAGE_NUMBERS_READ,
  MAX_PAGES,
  MAX_STREAMS,
  MAX_TALLIES,
  MAX_WORKER_EXAMPLES,
} from './limits.ts';
import {
  type ArrivalExample,
  EXAMPLE_KINDS,
  FIRST_FIELDS,
  HELD_FIELDS,
  type LedgerPage,
  PAIR_DETAILS,
  PAIR_FIELDS,
  type PageBody,
  type PageClock,
  PUBLISHER_FIELDS,
  SHARE_FIELDS,
  SUBSCRIBER_FIELDS,
  type Tally,
  TALLY_KINDS,
} from './page.ts';
import { GAP_FLAGS } from './pair-table.ts';
import { readRuns } from './share-runs.ts';

/** Pages of one frame. */
export const MAX_FRAME_PAGES = 64;
const MAX_FILTERS = 10_000;
const MAX_SEQ = 0xffff_ffff;

/**
 * Checks the pages of a frame as they came out of JSON: every field, and that rows are whole. What
 * depends on the plan (whether there is such a client) is for `LedgerJoin` to say.
 *
 * @throws SquallError SQ_FRAME with the field as its path.
 */
export function readLedgerPages(value: unknown): LedgerPage[] {
  return list(value, 'pages', MAX_FRAME_PAGES).map(readPage);
}

function readPage(value: unknown): LedgerPage {
  const page = record(value, 'pages[]');
  if (typeof page['last'] !== 'boolean') throw refuse('pages[].last', 'is not true or false');
  return {
    worker: whole(page['worker'], 'pages[].worker', 0),
    page: below(page['page'], 'pages[].page', MAX_PAGES),
    last: page['last'],
    clock: readClock(page['clock']),
    ...readBody(page),
  };
}

function readClock(value: unknown): PageClock {
  const clock = record(value, 'pages[].clock');
  return {
    domain: below(clock['domain'], 'pages[].clock.domain', 65_536),
    startUs: whole(clock['startUs'], 'pages[].clock.startUs', 0),
  };
}

function readBody(page: Fields): PageBody {
  switch (text(page['kind'], 'pages[].kind')) {
    case 'publishers':
      return readPublishers(page);
    case 'edge':
      return {
        kind: 'edge',
        firsts: numbersOf(page['firsts'], 'pages[].firsts', FIRST_FIELDS),
        held: numbersOf(page['held'], 'pages[].held', HELD_FIELDS),
      };
    case 'subscribers':
      return readSubscribers(page);
    case 'pairs':
      return { kind: 'pairs', rows: rowsOf(page, pairRowLength) };
    case 'shares':
      return readShares(page);
    case 'tallies':
      return readTallies(page);
    default:
      throw refuse(
        'pages[].kind',
        'is none of publishers, edge, subscribers, pairs, shares, tallies',
      );
  }
}

function readPublishers(page: Fields): PageBody {
  const marksUs = list(page['marksUs'], 'pages[].marksUs', MAX_MARKS).map((mark) =>
    whole(mark, 'pages[].marksUs', 0),
  );
  return {
    kind: 'publishers',
    stream: below(page['stream'], 'pages[].stream', MAX_STREAMS + 1),
    stage: below(page['stage'], 'pages[].stage', MAX_STAGES),
    marksUs,
    rows: rowsOf(page, (rows, at) => {
      const ranges = at + PUBLISHER_FIELDS + marksUs.length;
      checkFalling(rows, { at: ranges, top: rows[at + 1] ?? 0, shift: 1 });
      return PUBLISHER_FIELDS + marksUs.length + 1 + 2 * (rows[ranges] ?? 0);
    }),
  };
}

function readSubscribers(page: Fields): PageBody {
  const filters = below(page['filters'], 'pages[].filters', MAX_FILTERS);
  return {
    kind: 'subscribers',
    group: below(page['group'], 'pages[].group', MAX_FILTERS),
    filters,
    sessionsLost: whole(page['sessionsLost'], 'pages[].sessionsLost', 0),
    rows: rowsOf(page, () => SUBSCRIBER_FIELDS + 2 * filters),
  };
}

function readShares(page: Fields): PageBody {
  return {
    kind: 'shares',
    share: text(page['share'], 'pages[].share'),
    stream: below(page['stream'], 'pages[].stream', MAX_STREAMS + 1),
    stage: below(page['stage'], 'pages[].stage', MAX_STAGES),
    rows: rowsOf(page, (rows, at) => {
      const [first, count] = [rows[at + 2] ?? 0, rows[at + 3] ?? 0];
      const from = at + SHARE_FIELDS;
      if (from + count > rows.length) throw refuse('pages[].rows', 'ends in a row');
      const words = readRuns({ rows, from, to: from + count }, (_, word) => {
        if (word > MAX_SEQ) throw refuse('pages[].rows', 'has a word of more than 32 bits');
      });
      if (words < 0 || first > MAX_SEQ / 32) {
        throw refuse('pages[].rows', 'has bits that are not whole');
      }
      return SHARE_FIELDS + count;
    }),
  };
}

function numbersOf(value: unknown, path: string, fields: number): readonly number[] {
  const numbers = list(value, path, MAX_EDGE_ROWS * fields).map((number) => whole(number, path, 0));
  if (numbers.length % fields !== 0) throw refuse(path, 'ends in a row');
  return numbers;
}

function pairRowLength(rows: readonly number[], at: number): number {
  const next = rows[at + 4] ?? 0;
  if (next === 0 || next > MAX_SEQ) throw refuse('pages[].rows', 'has a pair without a message');
  const detail = rows[at + PAIR_FIELDS - 1];
  if (detail === 0) return PAIR_FIELDS;
  if (detail !== 1) throw refuse('pages[].rows', 'has a pair of another form');
  const unique = rows[at + PAIR_FIELDS] ?? 0;
  if (unique === 0 || unique > next)
    throw refuse('pages[].rows', 'has a pair that does not add up');
  const gaps = at + PAIR_FIELDS + PAIR_DETAILS - 1;
  const missing = checkFalling(rows, { at: gaps, top: next, shift: GAP_FLAGS });
  if (missing > next - unique) throw refuse('pages[].rows', 'has gaps that do not add up');
  return PAIR_FIELDS + PAIR_DETAILS + 2 * (rows[gaps] ?? 0);
}

/** Ranges must be disjoint and fall, all below `top`; gives how many numbers they hold. */
function checkFalling(
  rows: readonly number[],
  ranges: { readonly at: number; readonly top: number; readonly shift: number },
): number {
  const count = rows[ranges.at] ?? 0;
  let top = ranges.top;
  let sum = 0;
  if (ranges.at + 2 * count >= rows.length) throw refuse('pages[].rows', 'ends in a row');
  for (let k = 0; k < count; k++) {
    const from = rows[ranges.at + 1 + 2 * k] ?? 0;
    const length = Math.floor((rows[ranges.at + 2 + 2 * k] ?? 0) / ranges.shift);
    if (length === 0 || from + length > top)
      throw refuse('pages[].rows', 'has ranges that overlap');
    top = from;
    sum += length;
  }
  return sum;
}

function readTallies(page: Fields): PageBody {
  if (typeof page['full'] !== 'boolean') throw refuse('pages[].full', 'is not true or false');
  return {
    kind: 'tallies',
    full: page['full'],
    tallies: list(page['tallies'], 'pages[].tallies', 2 * MAX_TALLIES).map(readTally),
    examples: list(page['examples'], 'pages[].examples', MAX_WORKER_EXAMPLES).map(readExample),
  };
}

function readTally(value: unknown): Tally {
  const tally = record(value, 'tallies[]');
  return {
    kind: below(tally['kind'], 'tallies[].kind', TALLY_KINDS.length),
    ...readPlace(tally, 'tallies[]'),
    count: whole(tally['count'], 'tallies[].count', 1),
  };
}

function readExample(value: unknown): ArrivalExample {
  const example = record(value, 'examples[]');
  return {
    kind: below(example['kind'], 'examples[].kind', EXAMPLE_KINDS.length),
    ...readPlace(example, 'examples[]'),
    subscriber: whole(example['subscriber'], 'examples[].subscriber', 0),
    publisher: whole(example['publisher'], 'examples[].publisher', 0),
    seq: whole(example['seq'], 'examples[].seq', 0),
    sentUs: whole(example['sentUs'], 'examples[].sentUs', -1),
  };
}

function readPlace(fields: Fields, path: string) {
  const stream = whole(fields['stream'], `${path}.stream`, -1);
  if (stream > MAX_STREAMS) throw refuse(`${path}.stream`, 'is beyond the last possible stream');
  return {
    entry: whole(fields['entry'], `${path}.entry`, 0),
    stage: below(fields['stage'], `${path}.stage`, MAX_STAGES),
    stream,
  };
}

/** Rows of one after the other; `lengthOf` gives the length of the one at a place, or throws. */
function rowsOf(
  page: Fields,
  lengthOf: (rows: readonly number[], at: number) => number,
): readonly number[] {
  const rows = list(page['rows'], 'pages[].rows', MAX_PAGE_NUMBERS_READ).map((number) =>
    whole(number, 'pages[].rows', 0),
  );
  let at = 0;
  while (at < rows.length) at += lengthOf(rows, at);
  if (at !== rows.length) throw refuse('pages[].rows', 'ends in a row');
  return rows;
}

function below(value: unknown, path: string, limit: number): number {
  const number = whole(value, path, 0);
  if (number >= limit) throw refuse(path, `is not below ${limit}`);
  return number;
}
