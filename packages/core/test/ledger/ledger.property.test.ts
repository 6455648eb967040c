import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LedgerResult, LedgerRow } from '@squall/core/ledger';
import { type Count, emptyCounts } from './oracle.ts';
import { type Delivery, type Event, type Fate, play, type Topology } from './played-run.ts';

const topology: fc.Arbitrary<Topology> = fc
  .record({
    publishers: fc.integer({ min: 1, max: 5 }),
    readers: fc.integer({ min: 1, max: 4 }),
    topics: fc.constantFrom(
      { publish: 'd/{{n}}/up', filter: 'd/{{n}}/up' },
      { publish: 'd/{{n}}/up', filter: 'd/+/up' },
      { publish: 'd/{{n % 2}}', filter: 'd/#' },
      { publish: 'all', filter: 'all' },
    ),
    second: fc.boolean(),
    qos: fc.constantFrom(0 as const, 1 as const),
    agents: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
  })
  .map(({ publishers, readers, topics, second, qos, agents }) => ({
    groups: [
      {
        name: 'devices',
        clients: publishers,
        publish: [
          { name: 'data', topic: topics.publish, qos: 1 as const },
          ...(second ? [{ name: 'beat', topic: 'beat/{{n}}', qos: 0 as const }] : []),
        ],
      },
      {
        name: 'readers',
        clients: readers,
        subscribe: [{ topics: [topics.filter, 'beat/#'], qos }],
      },
    ],
    agents: agents.map((workers, k) => ({ agent: `agent-${k}`, workers })),
  }));

const delivery = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Delivery>('once') },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Delivery>('drop', 'twice', 'later', 'corrupt', 'again later'),
  },
);
const fate: fc.Arbitrary<Fate> = fc.record({
  stream: fc.nat(1),
  stage: fc.constantFrom(0 as const, 1 as const),
  client: fc.nat(4),
  ack: fc.oneof(
    { weight: 6, arbitrary: fc.constant('acked' as const) },
    { weight: 2, arbitrary: fc.constantFrom('kept' as const, 'gone' as const) },
  ),
  delivery: fc.array(delivery, { minLength: 1, maxLength: 4 }),
});
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 12, arbitrary: fate.map((each) => ({ kind: 'publish' as const, fate: each })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('away' as const),
      subscriber: fc.nat(3),
      kept: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('back' as const), subscriber: fc.nat(3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('foreign' as const), subscriber: fc.nat(3) }),
  },
);

function countsOf(row: LedgerRow): Record<Count, number> {
  const counts = emptyCounts();
  for (const key of Object.keys(counts) as Count[]) counts[key] = row[key];
  return counts;
}

function rowsOf(result: LedgerResult): Record<Count, number>[] {
  return result.rows.map(countsOf);
}

function sumOf(result: LedgerResult, key: Count): number {
  return result.rows.reduce((total, row) => total + row[key], 0);
}

function byName(counts: ReadonlyMap<string, Record<Count, number>>) {
  return Object.fromEntries(counts);
}

function expectBooksToBalance(result: LedgerResult): void {
  for (const row of result.rows) {
    expect(row.expected).toBe(row.unique + row.lost);
    expect(row.received).toBe(
      row.unique +
        row.duplicated +
        row.unresolvedArrived +
        row.unexpected +
        row.foreign +
        row.corrupted,
    );
    expect(row.lostDisconnected).toBeLessThanOrEqual(row.lost);
    for (const kind of ['lost', 'duplicated', 'reordered', 'corrupted', 'foreign'] as const) {
      const examples = row.examples[kind] ?? [];
      expect(examples.length > 0).toBe(row[kind] > 0);
      expect(examples.length).toBeLessThanOrEqual(20);
    }
  }
}

function shuffled<T>(list: readonly T[], seed: number): T[] {
  let state = seed >>> 0;
  return list
    .map((value) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return { value, state };
    })
    .toSorted((a, b) => a.state - b.state)
    .map(({ value }) => value);
}

describe('the ledger of a simulated run', { timeout: 30_000 }, () => {
  test('names exactly what went wrong, over any workers, pages of any length in any order', () => {
    fc.assert(
      fc.property(
        topology,
        fc.array(event, { maxLength: 120 }),
        fc.record({ length: fc.integer({ min: 1, max: 200 }), seed: fc.nat() }),
        (place, events, { length, seed }) => {
          const { simulation, counts } = play(place, events);
          const pages = shuffled(simulation.pages(length), seed);
          // A page that comes twice counts once.
          const result = simulation.join([...pages, ...pages.slice(0, 3)]);
          expectBooksToBalance(result);
          const found = new Map(
            result.rows.map((row) => [
              `${row.from} ${row.to} ${row.qos} ${row.stage}`,
              countsOf(row),
            ]),
          );
          expect(byName(found)).toEqual(byName(counts));
          expect(result.missing).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('is the same whoever carries the clients', () => {
    fc.assert(
      fc.property(topology, fc.array(event, { maxLength: 60 }), (place, events) => {
        const alone = { ...place, agents: [{ agent: 'only', workers: 1 }] };
        const one = play(alone, events).simulation;
        const many = play(place, events).simulation;
        expect(rowsOf(many.join(many.pages()))).toEqual(rowsOf(one.join(one.pages())));
      }),
      { numRuns: 50 },
    );
  });

  test('without an agent, its pairs are unverifiable and the others are as exact as before', () => {
    fc.assert(
      fc.property(
        topology.filter(({ agents }) => agents.length > 1),
        fc.array(event, { maxLength: 60 }),
        fc.nat(),
        (place, events, pick) => {
          const { simulation } = play(place, events);
          const lost = place.agents[pick % place.agents.length]?.agent ?? '';
          const pages = simulation.pages(50);
          const whole = simulation.join(pages);
          const result = simulation.join(pages.filter(({ agent }) => agent !== lost));
          expectBooksToBalance(result);
          for (const key of ['lost', 'expected', 'unique'] as const) {
            expect(sumOf(result, key)).toBeLessThanOrEqual(sumOf(whole, key));
          }
          for (const { unverifiablePairs, unverifiableFrom } of result.rows) {
            expect(unverifiableFrom).toEqual(unverifiablePairs > 0 ? [lost] : []);
          }
          expect(result.missing.every((each) => each.startsWith(`agent ${lost},`))).toBe(true);
          expect(result.missing.length).toBeGreaterThan(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});
