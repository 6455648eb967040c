import { describe, expect, test } from 'vitest';
import type { LedgerResult, LedgerRow } from '@squall/core/ledger';
import { type GroupSketch, sketchPlan, type StageSketch } from './ledger-plans.ts';
import { item, type Message, Simulation } from './simulation.ts';

const AGENTS = [
  { agent: 'a', workers: 2 },
  { agent: 'b', workers: 1 },
];
const DEVICES: GroupSketch = { name: 'devices', clients: 3, publish: [{ topic: 'd/{{n}}/up' }] };
const STAGES: StageSketch[] = [
  { name: 'subscribe', run: { readers: ['subscribe'] } },
  { name: 'publish', run: { devices: ['publish'] } },
];
const READER = { group: 1, client: 0 };

function readersOf(topics: readonly string[], clients = 1): GroupSketch {
  return { name: 'readers', clients, subscribe: [{ topics }] };
}

function simulate(readers: GroupSketch, stages = STAGES, maxPairs?: number): Simulation {
  return new Simulation(sketchPlan([DEVICES, readers], stages), AGENTS, maxPairs);
}

function publishTo(simulation: Simulation, client: number, stage = 1): Message {
  simulation.tick();
  return simulation.publish(0, stage, client);
}

function finish(simulation: Simulation): LedgerResult {
  return simulation.join(simulation.pages());
}

function only(result: LedgerResult): LedgerRow {
  expect(result.rows).toHaveLength(1);
  return item(result.rows, 0);
}

describe('subscriptions that overlap', () => {
  const overlapping = readersOf(['d/#', 'd/+/up', 'd/1/up']);

  test('one copy of each message is enough, and what comes again is a duplicate', () => {
    const simulation = simulate(overlapping);
    simulation.subscribe(1, 0);
    for (let n = 0; n < 20; n++) {
      const message = publishTo(simulation, 0);
      simulation.receive(READER, message.bytes);
      if (n === 7) simulation.receive(READER, message.bytes);
    }
    const result = finish(simulation);
    expect(result.perSubscription).toBe(false);
    expect(only(result)).toMatchObject({ expected: 20, unique: 20, duplicated: 1, copies: 0 });
  });

  test('a copy for each subscription is no duplicate either', () => {
    const simulation = simulate(overlapping);
    simulation.subscribe(1, 0);
    for (const client of [0, 1, 1, 2]) {
      const message = publishTo(simulation, client);
      const copies = client === 0 ? 3 : 2;
      for (let k = 0; k < copies; k++) simulation.receive(READER, message.bytes);
    }
    const result = finish(simulation);
    expect(result.perSubscription).toBe(true);
    expect(only(result)).toMatchObject({
      expected: 4,
      received: 4,
      unique: 4,
      lost: 0,
      duplicated: 0,
      copies: 5,
    });
    expect(only(result).examples).toEqual({});
  });

  test('more copies than subscriptions are duplicates', () => {
    const simulation = simulate(overlapping);
    simulation.subscribe(1, 0);
    const message = publishTo(simulation, 0);
    for (let k = 0; k < 5; k++) simulation.receive(READER, message.bytes);
    expect(only(finish(simulation))).toMatchObject({ copies: 2, duplicated: 2 });
  });

  test('the same filter twice is one subscription', () => {
    const simulation = simulate(readersOf(['d/1/up', 'd/{{n}}/up']));
    simulation.subscribe(1, 0);
    const message = publishTo(simulation, 0);
    simulation.receive(READER, message.bytes);
    simulation.receive(READER, message.bytes);
    expect(only(finish(simulation))).toMatchObject({ copies: 0, duplicated: 1, unique: 1 });
  });

  test('the highest QoS granted on a match counts, under the first entry that matches', () => {
    const simulation = simulate({
      name: 'readers',
      clients: 1,
      subscribe: [
        { name: 'all', topics: ['d/#'], qos: 0 },
        { name: 'one', topics: ['d/1/up'], qos: 1 },
      ],
    });
    simulation.subscribe(1, 0);
    for (const client of [0, 1]) simulation.receive(READER, publishTo(simulation, client).bytes);
    const rows = finish(simulation).rows.map(({ to, qos, unique }) => ({ to, qos, unique }));
    expect(rows).toEqual([
      { to: 'readers.all', qos: 0, unique: 1 },
      { to: 'readers.all', qos: 1, unique: 1 },
    ]);
  });

  test('a granted QoS below the one asked for is what a pair is judged by', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0, { qos: 0 });
    publishTo(simulation, 0);
    expect(only(finish(simulation))).toMatchObject({ qos: 0, lost: 1 });
  });
});

describe('what a subscriber is entitled to', () => {
  test('nothing where no filter was granted: what comes all the same is unexpected', () => {
    const simulation = simulate(readersOf(['d/1/up', 'd/2/up']));
    simulation.subscribe(1, 0, { filter: 0 });
    for (const client of [0, 1, 2, 2])
      simulation.receive(READER, publishTo(simulation, client).bytes);
    expect(only(finish(simulation))).toMatchObject({
      expected: 1,
      unique: 1,
      unexpected: 3,
      received: 4,
      lost: 0,
    });
  });

  test('a number that its publisher never gave is unexpected', () => {
    const one = simulate(readersOf(['d/#']));
    const other = simulate(readersOf(['d/#']));
    one.subscribe(1, 0);
    one.receive(READER, publishTo(one, 0).bytes);
    publishTo(other, 0);
    one.receive(READER, publishTo(other, 0).bytes);
    one.receive(READER, publishTo(other, 1).bytes);
    expect(only(finish(one))).toMatchObject({ expected: 1, unique: 1, unexpected: 2, received: 3 });
  });

  test('each of seven subscribers is expected to get everything, and the one that does not is found', () => {
    const simulation = simulate(readersOf(['d/#'], 7));
    for (let client = 0; client < 7; client++) simulation.subscribe(1, client);
    for (let n = 0; n < 30; n++) {
      const message = publishTo(simulation, n % 3);
      for (let client = 0; client < 7; client++) {
        // The last message of a publisher is missing at one of them.
        if (n === 29 && client === 4) continue;
        simulation.receive({ group: 1, client }, message.bytes);
      }
    }
    const row = only(finish(simulation));
    expect(row).toMatchObject({ pairs: 21, expected: 210, unique: 209, lost: 1 });
    expect(row.examples).toEqual({
      lost: [{ client: 'devices-3', subscriber: 'readers-5', seq: 9, sentAtUs: 30_000 }],
    });
  });

  test('streams without stamp or with a topic of its own for each message are outside, by name', () => {
    const plan = sketchPlan(
      [
        {
          name: 'devices',
          clients: 1,
          publish: [
            { name: 'bare', topic: 'd/1', verify: false },
            { name: 'moving', topic: 'd/{{seq}}' },
          ],
        },
        readersOf(['d/#']),
      ],
      STAGES,
    );
    const simulation = new Simulation(plan, AGENTS);
    simulation.subscribe(1, 0);
    simulation.receive(READER, new Uint8Array(10));
    simulation.receive(READER, simulation.publish(1, 1, 0).bytes);
    const result = finish(simulation);
    expect(result.rows).toEqual([]);
    expect(result.apart).toEqual({ unstamped: 1, outside: 1, replayed: 0, untracked: 0 });
    expect(result.outside).toEqual([
      { subject: 'devices.bare', reason: 'its messages carry no stamp (verify: off)' },
      { subject: 'devices.moving', reason: 'its topic changes with every message' },
    ]);
  });
});

describe('messages that are not what they should be', () => {
  test('any damaged byte makes a message corrupted, and none of another kind', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    const { bytes } = publishTo(simulation, 1);
    for (let place = 0; place < bytes.length; place++) {
      const damaged = bytes.slice();
      damaged[place] = (damaged[place] ?? 0) ^ 0xff;
      simulation.receive(READER, damaged, { stage: 1 });
    }
    simulation.receive(READER, bytes);
    const { rows } = finish(simulation);
    const corrupted = rows.reduce((sum, row) => sum + row.corrupted, 0);
    expect(corrupted).toBe(bytes.length);
    expect(rows.reduce((sum, row) => sum + row.foreign + row.unexpected, 0)).toBe(0);
    // Nearly always the stamp still says whose it was.
    expect(rows.find(({ from }) => from === 'devices')?.corrupted).toBeGreaterThan(36);
    expect(rows.find(({ from }) => from === 'devices')).toMatchObject({ unique: 1, lost: 0 });
  });

  test('a corrupted message is lost to its subscriber as well', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    const { bytes } = publishTo(simulation, 1);
    bytes[47] = (bytes[47] ?? 0) + 1;
    simulation.receive(READER, bytes);
    const row = only(finish(simulation));
    expect(row).toMatchObject({ expected: 1, lost: 1, corrupted: 1, received: 1 });
    expect(row.examples['corrupted']).toEqual([
      { client: 'devices-2', subscriber: 'readers-1', seq: 0, sentAtUs: null },
    ]);
  });

  test('a retained copy counts once where it is news, and never as a duplicate or out of order', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    const [first, second] = [publishTo(simulation, 0), publishTo(simulation, 0)];
    simulation.receive(READER, second.bytes);
    simulation.receive(READER, second.bytes, { retained: true });
    simulation.receive(READER, first.bytes, { retained: true });
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ unique: 2, duplicated: 0, reordered: 0, lost: 0 });
    expect(result.apart.replayed).toBe(1);
  });

  test('when a duplicate was sent stands in its example, on the timeline of the run', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    const { bytes } = publishTo(simulation, 1);
    simulation.receive(READER, bytes);
    simulation.receive(READER, bytes);
    expect(only(finish(simulation)).examples['duplicated']).toEqual([
      { client: 'devices-2', subscriber: 'readers-1', seq: 0, sentAtUs: 1_000 },
    ]);
  });
});

describe('subscriptions that begin or end while messages are on their way', () => {
  const running: StageSketch[] = [
    { name: 'all at once', run: { readers: ['subscribe'], devices: ['publish'] } },
  ];

  test('what was sent before the first SUBACK is not expected', () => {
    const simulation = simulate(readersOf(['d/#']), running);
    for (let n = 0; n < 5; n++) publishTo(simulation, 0, 0);
    simulation.subscribe(1, 0);
    for (let n = 0; n < 5; n++) simulation.receive(READER, publishTo(simulation, 0, 0).bytes);
    expect(only(finish(simulation))).toMatchObject({ expected: 5, unique: 5, lost: 0 });
  });

  test('from the first message that came on, every other one is expected', () => {
    const simulation = simulate(readersOf(['d/#']), running);
    publishTo(simulation, 0, 0);
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0, 0).bytes);
    publishTo(simulation, 0, 0);
    publishTo(simulation, 0, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 3, unique: 1, lost: 2 });
  });

  test('from a mark after the SUBACK on, everything is expected even where nothing came', () => {
    const simulation = simulate(readersOf(['d/#']), running);
    publishTo(simulation, 0, 0);
    simulation.tick();
    simulation.subscribe(1, 0);
    publishTo(simulation, 0, 0);
    simulation.mark(0);
    for (let n = 0; n < 3; n++) publishTo(simulation, 0, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 3, lost: 3, undecidedPairs: 0 });
  });

  test('without a mark nobody can tell, and the pair is named as undecided', () => {
    const simulation = simulate(readersOf(['d/#']), running);
    publishTo(simulation, 0, 0);
    simulation.tick();
    simulation.subscribe(1, 0);
    publishTo(simulation, 0, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 0, lost: 0, undecidedPairs: 1 });
  });

  test('a message that overtakes the SUBACK is welcome', () => {
    const simulation = simulate(readersOf(['d/#']), running);
    const early = publishTo(simulation, 0, 0);
    simulation.receive(READER, early.bytes);
    simulation.tick();
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0, 0).bytes);
    expect(only(finish(simulation))).toMatchObject({ expected: 2, unique: 2, unexpected: 0 });
  });

  test('after its end nothing more is expected, but gaps before it are losses', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    publishTo(simulation, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    simulation.end(1, 0);
    for (let n = 0; n < 4; n++) publishTo(simulation, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 3, unique: 2, lost: 1 });
  });

  test('what was sent between its end and a new beginning is not expected', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    simulation.end(1, 0);
    for (let n = 0; n < 4; n++) publishTo(simulation, 0);
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    expect(only(finish(simulation))).toMatchObject({ expected: 2, unique: 2, lost: 0 });
  });

  test('a refusal after a grant ends the subscription', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    simulation.refuse(1, 0, 0);
    publishTo(simulation, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 1, unique: 1, lost: 0 });
  });

  test('what a lost connection costs is lost, and says so', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    publishTo(simulation, 0);
    simulation.receive(READER, publishTo(simulation, 0).bytes);
    simulation.disconnect(1, 0);
    publishTo(simulation, 0);
    publishTo(simulation, 1);
    const row = only(finish(simulation));
    expect(row).toMatchObject({ expected: 5, lost: 3, lostDisconnected: 2 });
    expect(row.examples['lost']).toEqual([
      { client: 'devices-1', subscriber: 'readers-1', seq: 1, sentAtUs: 2_000 },
      {
        client: 'devices-1',
        subscriber: 'readers-1',
        seq: 3,
        sentAtUs: 4_000,
        while: 'disconnected',
      },
      {
        client: 'devices-2',
        subscriber: 'readers-1',
        seq: 0,
        sentAtUs: 5_000,
        while: 'disconnected',
      },
    ]);
  });
});

describe('clocks of different hosts', () => {
  const hosts = [
    { agent: 'a', workers: 1, domain: 1 },
    { agent: 'b', workers: 1, domain: 2 },
  ];
  const groups: GroupSketch[] = [
    { name: 'devices', clients: 2, publish: [{ topic: 'all' }] },
    { name: 'readers', clients: 2, subscribe: [{ topics: ['all'] }] },
  ];

  test('a subscription a second and more before the first message is sure', () => {
    const simulation = new Simulation(sketchPlan(groups, STAGES), hosts);
    simulation.subscribe(1, 0);
    simulation.subscribe(1, 1);
    simulation.tick(2_000_000);
    publishTo(simulation, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 2, lost: 2 });
  });

  test('one that is closer is not: only the pair on one host is', () => {
    const simulation = new Simulation(sketchPlan(groups, STAGES), hosts);
    simulation.subscribe(1, 0);
    simulation.subscribe(1, 1);
    simulation.tick(500_000);
    publishTo(simulation, 0);
    expect(only(finish(simulation))).toMatchObject({ expected: 1, lost: 1 });
  });
});

describe('a table of pairs that is full', () => {
  test('counts what it cannot follow, and no pair that it does not know is called lost', () => {
    const simulation = simulate(readersOf(['d/#']), STAGES, 2);
    simulation.subscribe(1, 0);
    for (const client of [0, 1, 2]) simulation.receive(READER, publishTo(simulation, client).bytes);
    const result = finish(simulation);
    expect(only(result)).toMatchObject({
      expected: 2,
      unique: 2,
      lost: 0,
      unverifiable: 1,
      unverifiablePairs: 1,
      unverifiableFrom: ['a'],
    });
    expect(result.apart.untracked).toBe(1);
  });

  test('the same holds for the table of the controller', () => {
    const simulation = simulate(readersOf(['d/#']));
    simulation.subscribe(1, 0);
    for (const client of [0, 1, 2]) simulation.receive(READER, publishTo(simulation, client).bytes);
    const result = simulation.join(simulation.pages(), 2);
    expect(only(result)).toMatchObject({ expected: 2, lost: 0, unverifiable: 1 });
  });
});
