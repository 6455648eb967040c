import { cut } from './cut-rows.ts';
import { at } from './element.ts';
import { MAX_ROW_WORDS } from './limits.ts';
import { type PageBody, PAIR_AMBIGUOUS, PAIR_TAIL_SHIFT, type TalliesBody } from './page.ts';
import { streamIn } from './pair-stream.ts';
import { GAP_FLAGS, type PairTable } from './pair-table.ts';
import { runsOf } from './share-runs.ts';
import type { ShareColumn } from './share-table.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';
import type { SubscriptionStates } from './subscription-states.ts';
import { UNTRACKED } from './tallies.ts';

/** What a worker's subscribers were granted and got. The last body is that of the tallies. */
export function* subscriberBodies(
  subscribers: SubscriberLedger,
  maxNumbers: number,
): Generator<PageBody, void> {
  for (const { states } of subscribers.books) {
    const { group, filters } = states;
    if (filters === 0) continue;
    let { sessionsLost } = states;
    for (const rows of cut(subscriberRows(states), maxNumbers)) {
      yield { kind: 'subscribers', group, filters, sessionsLost, rows };
      sessionsLost = 0;
    }
  }
  for (const rows of cut(pairRows(subscribers), maxNumbers)) yield { kind: 'pairs', rows };
  for (const column of subscribers.shares.columns) {
    const { receiver, stream, stage } = column.place;
    const share = subscribers.shareNames[receiver] ?? '';
    for (const rows of cut(shareRows(column), maxNumbers)) {
      yield { kind: 'shares', share, stream, stage, rows };
    }
  }
  yield talliesOf(subscribers);
}

function talliesOf(subscribers: SubscriberLedger): TalliesBody {
  const tallies = subscribers.tallies.list();
  const full = tallies.some(({ kind }) => kind === UNTRACKED);
  const examples = subscribers.examples.list.map((example) => ({
    ...example,
    sentUs: Math.floor(example.sentUs),
  }));
  return { kind: 'tallies', full, tallies, examples };
}

function* subscriberRows(book: SubscriptionStates): Generator<number[], void> {
  for (let position = 0; position < book.numbers.length; position++) {
    const row = [at(book.numbers, position), at(book.losses, position)];
    row.push(at(book.sessionLostAt, position) > 0 ? 1 : 0);
    row.push(Math.ceil(book.longestAwayUs(position) / 1000));
    for (let filter = 0; filter < book.filters; filter++) {
      const place = position * book.filters + filter;
      row.push(at(book.states, place), Math.ceil(at(book.sinceUs, place)));
    }
    yield row;
  }
}

function* pairRows(subscribers: SubscriberLedger): Generator<number[], void> {
  const { pairs } = subscribers;
  const absence = absenceIn(subscribers);
  for (let record = 0; record < pairs.count; record++) {
    const next = pairs.nextOf(record);
    // One of which there was only what nobody asked for.
    if (next === 0) continue;
    const stream = pairs.streamOf(record);
    const tail = absence(pairs.subscriberOf(record), pairs.lossesOf(record), streamIn(stream));
    const row = [
      pairs.subscriberOf(record),
      stream,
      pairs.stageOf(record),
      pairs.publisherOf(record),
      next,
    ];
    if (isPlain(pairs, record) && tail === 0) row.push(0);
    else {
      row.push(1, pairs.uniqueOf(record), pairs.duplicatesOf(record), pairs.reorderedOf(record));
      row.push(pairs.lowestOf(record) + 1, pairs.horizonOf(record));
      row.push((pairs.isAmbiguous(record) ? PAIR_AMBIGUOUS : 0) | (tail << PAIR_TAIL_SHIFT));
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
    row.push(gaps.from(node), (gaps.to(node) - gaps.from(node)) * GAP_FLAGS + gaps.flag(node));
  }
}

/** `SubscriptionStates.absence` by the number of a subscriber in the plan. */
function absenceIn(
  ledger: SubscriberLedger,
): (subscriber: number, before: number, stream: number) => number {
  const places = new Map<number, { states: SubscriptionStates; position: number }>();
  for (const { states } of ledger.books) {
    const first = ledger.plan.firstClient[states.group] ?? 0;
    for (let position = 0; position < states.losses.length; position++) {
      if (at(states.losses, position) === 0) continue;
      places.set(first + at(states.numbers, position), { states, position });
    }
  }
  return (subscriber, before, stream) => {
    const place = places.get(subscriber);
    return place === undefined ? 0 : place.states.absence(place.position, before, stream);
  };
}

/** The bits of a publisher with very many messages are in several rows. */
function* shareRows({ bits, again }: ShareColumn): Generator<number[], void> {
  for (const [publisher, words] of bits.entries()) {
    if (words === undefined) continue;
    for (let from = 0; from < words.length; from += MAX_ROW_WORDS) {
      const runs = runsOf(words, from, Math.min(words.length, from + MAX_ROW_WORDS));
      const twice = from === 0 ? (again.get(publisher) ?? 0) : 0;
      yield [publisher, twice, from, runs.length, ...runs];
    }
  }
}
