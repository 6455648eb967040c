import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LedgerResult, LedgerRow } from '@squall/core/ledger';
import {
  type EntrySketch,
  type GroupSketch,
  sketchPlan,
  type StageSketch,
} from './ledger-plans.ts';
import { readRuns, runsOf } from '../../src/ledger/share-runs.ts';
import { SHARE_AGAIN, SHARE_FULL, ShareTable } from '../../src/ledger/share-table.ts';
import { item, type Message, Simulation } from './simulation.ts';

const AGENTS = [
  { agent: 'a', workers: 2 },
  { agent: 'b', workers: 1 },
  { agent: 'c', workers: 1 },
];
const DEVICES: GroupSketch = { name: 'devices', clients: 3, publish: [{ topic: 'd/{{n}}/up' }] };
const STAGES: StageSketch[] = [
  { name: 'subscribe', run: { readers: ['subscribe'] } },
  { name: 'publish', run: { devices: ['publish'] } },
];

/** Members of shares, one a client, over four workers. */
function simulate(subscribe: readonly EntrySketch[], clients = 4): Simulation {
  const readers = { name: 'readers', clients, subscribe };
  const simulation = new Simulation(sketchPlan([DEVICES, readers], STAGES), AGENTS);
  for (let client = 0; client < clients; client++) simulation.subscribe(1, client);
  return simulation;
}

function publish(simulation: Simulation, client = 0): Message {
  simulation.tick();
  return simulation.publish(0, 1, client);
}

function give(simulation: Simulation, client: number, message: Message): void {
  simulation.receive({ group: 1, client }, message.bytes, { topic: message.topic });
}

function finish(simulation: Simulation): LedgerResult {
  return simulation.join(simulation.pages());
}

function only(result: LedgerResult): LedgerRow {
  expect(result.rows).toHaveLength(1);
  return item(result.rows, 0);
}

const SHARED = [{ topics: ['$share/s/d/#'] }];

describe('a shared subscription', () => {
  test('is one receiver: whoever gets a message, it arrived once', () => {
    const simulation = simulate(SHARED);
    for (let n = 0; n < 60; n++) give(simulation, (n * 7) % 4, publish(simulation, n % 3));
    const result = finish(simulation);
    expect(only(result)).toMatchObject({
      pairs: 3,
      expected: 60,
      unique: 60,
      received: 60,
      lost: 0,
    });
    expect(result.outside).toEqual([]);
  });

  test('a message that no member gets is lost, and one that two get came twice', () => {
    const simulation = simulate(SHARED);
    for (let n = 0; n < 40; n++) {
      const message = publish(simulation);
      // 3: nobody. 5: two members in two agents. 8: one member twice. 39, the last one: nobody.
      if (n === 3 || n === 39) continue;
      give(simulation, n % 4, message);
      if (n === 5) give(simulation, 3, message);
      if (n === 8) give(simulation, 0, message);
    }
    const row = only(finish(simulation));
    expect(row).toMatchObject({ expected: 40, lost: 2, duplicated: 2, reordered: 0, received: 40 });
    const subscriber = '$share/s/d/#';
    expect(row.examples['lost']).toEqual([
      { client: 'devices-1', subscriber, seq: 3, sentAtUs: 4_000 },
      { client: 'devices-1', subscriber, seq: 39, sentAtUs: 40_000 },
    ]);
    expect(row.examples['duplicated']).toEqual([
      { client: 'devices-1', subscriber, seq: 5, sentAtUs: 6_000 },
      { client: 'devices-1', subscriber: 'readers-1', seq: 8, sentAtUs: 9_000 },
    ]);
  });

  test('a message by another QoS than the lower one of published and granted is told', () => {
    const simulation = simulate(SHARED);
    const [right, wrong] = [publish(simulation), publish(simulation)];
    give(simulation, 0, right);
    simulation.receive({ group: 1, client: 1 }, wrong.bytes, { qos: 0 });
    const row = only(finish(simulation));
    expect(row).toMatchObject({ expected: 2, unique: 2, wrongQos: 1 });
    expect(row.examples['wrongQos']).toMatchObject([{ subscriber: 'readers-2', seq: 1 }]);
  });

  test('shares of other names, and of each client its own, are receivers of their own', () => {
    const simulation = simulate([{ topics: ['$share/s{{n % 2}}/d/+/up'] }]);
    for (let n = 0; n < 10; n++) {
      const message = publish(simulation);
      // Clients 1 and 3 are in one share, 2 and 4 in the other, which misses the last message.
      give(simulation, n % 2 === 0 ? 0 : 2, message);
      if (n < 9) give(simulation, n % 3 === 0 ? 1 : 3, message);
    }
    expect(only(finish(simulation))).toMatchObject({ pairs: 2, expected: 20, lost: 1 });
  });

  test('what was not acknowledged may come or not; what was refused is said to be', () => {
    const simulation = simulate(SHARED);
    const first = publish(simulation);
    const second = publish(simulation);
    const third = publish(simulation);
    simulation.unresolved(first);
    simulation.unresolved(second);
    simulation.refusePublish(third);
    give(simulation, 2, first);
    expect(only(finish(simulation))).toMatchObject({
      expected: 0,
      unresolved: 3,
      unresolvedArrived: 1,
      refused: 1,
      lost: 0,
    });
  });

  test('where a client holds another filter for the same topics, those are outside, by name', () => {
    const simulation = simulate([{ topics: ['$share/s/d/+/up', 'd/1/up'] }], 2);
    const [open, clear] = [publish(simulation, 0), publish(simulation, 1)];
    give(simulation, 0, open);
    give(simulation, 1, open);
    give(simulation, 1, clear);
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ pairs: 1, expected: 1, unique: 1, lost: 0 });
    expect(result.apart.outside).toBe(2);
    expect(result.outside).toEqual([{ subject: 'readers (shared)', reason: expect.any(String) }]);
  });

  test('a lost agent of one member makes what the share got unverifiable, never lost', () => {
    const simulation = simulate(SHARED);
    for (let n = 0; n < 12; n++) give(simulation, n % 4, publish(simulation));
    const pages = simulation.pages().filter(({ agent }) => agent !== 'c');
    expect(only(simulation.join(pages))).toMatchObject({
      expected: 0,
      lost: 0,
      unverifiable: 12,
      // What its publisher sent to the share is not known either.
      unverifiablePairs: 2,
      unverifiableFrom: ['c'],
    });
  });

  test('begun while messages are on their way: from its first arrival on, all are expected', () => {
    const readers = { name: 'readers', clients: 2, subscribe: SHARED };
    const stages = [
      { name: 'all', run: { readers: ['subscribe'], devices: ['publish'] } },
    ] as const;
    const simulation = new Simulation(sketchPlan([DEVICES, readers], stages), AGENTS);
    const send = () => {
      simulation.tick();
      return simulation.publish(0, 0, 0);
    };
    send();
    simulation.subscribe(1, 0);
    simulation.subscribe(1, 1);
    give(simulation, 1, send());
    send();
    give(simulation, 0, send());
    expect(only(finish(simulation))).toMatchObject({ expected: 3, unique: 2, lost: 1 });
  });

  test('counts what a list of all deliveries would, over any members, workers and pages', () => {
    const delivery = fc.record({
      publisher: fc.nat(2),
      to: fc.array(fc.nat(4), { maxLength: 3 }),
      acked: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false)),
    });
    fc.assert(
      fc.property(
        fc.array(delivery, { maxLength: 150 }),
        fc.integer({ min: 1, max: 60 }),
        (deliveries, length) => {
          const simulation = simulate(SHARED, 5);
          const counts = {
            expected: 0,
            lost: 0,
            duplicated: 0,
            unresolved: 0,
            unresolvedArrived: 0,
          };
          for (const { publisher, to, acked } of deliveries) {
            const message = publish(simulation, publisher);
            if (!acked) simulation.unresolved(message);
            for (const client of to) give(simulation, client, message);
            counts.duplicated += Math.max(0, to.length - 1);
            if (acked) counts.expected += 1;
            else counts.unresolved += 1;
            if (acked && to.length === 0) counts.lost += 1;
            if (!acked && to.length > 0) counts.unresolvedArrived += 1;
          }
          const { rows } = simulation.join(simulation.pages(length));
          expect(rows).toMatchObject(deliveries.length === 0 ? [] : [counts]);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('bits of shared subscriptions', () => {
  const place = { receiver: 0, stream: 0, stage: 0 };
  const size = { stages: 1, streams: 1 };

  test('take their room as messages come, and no more than there is', () => {
    const table = new ShareTable(size, 8);
    const column = table.column(place);
    expect(table.arrive(column, 0, 127)).toBe(0);
    expect(table.arrive(column, 1, 0)).toBe(0);
    expect(table.bytes).toBe(32);
    // Neither another publisher nor a higher number has a place; what is known is known.
    expect(table.arrive(column, 2, 0)).toBe(SHARE_FULL);
    expect(table.arrive(column, 0, 128)).toBe(SHARE_FULL);
    expect(table.arrive(column, 0, 127)).toBe(SHARE_AGAIN);
    expect(table.bytes).toBe(32);
  });

  test('a million messages of a share take 125 KB, whoever sent them', () => {
    const table = new ShareTable(size);
    const column = table.column(place);
    for (let publisher = 0; publisher < 8; publisher++) {
      for (let seq = 0; seq < 125_000; seq++) table.arrive(column, publisher, seq);
    }
    expect(table.bytes).toBeGreaterThanOrEqual(125_000);
    // Room doubles when it is short.
    expect(table.bytes).toBeLessThanOrEqual(250_000);
  });

  test('travel in runs, and come back as they were', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(0, 0xffff_ffff, 5, 0x8000_0001), { maxLength: 60 }),
        (list) => {
          const rows = runsOf(Uint32Array.from(list), 0, list.length);
          const read = Array<number>(list.length).fill(0);
          const words = readRuns({ rows, from: 0, to: rows.length }, (word, value) => {
            read[word] = value;
          });
          expect(words).toBe(list.length);
          expect(read).toEqual(list);
        },
      ),
    );
  });
});
