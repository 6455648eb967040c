import { describe, expect, test } from 'vitest';
import { judgeLedger, type LedgerResult, type LedgerRow } from '@squall/core/ledger';
import {
  type EntrySketch,
  type GroupSketch,
  sketchPlan,
  type StageSketch,
} from './ledger-plans.ts';
import { item, type Message, Simulation } from './simulation.ts';

const AGENTS = [
  { agent: 'a', workers: 2 },
  { agent: 'b', workers: 1 },
];
const SECOND = 1_000_000;
const STAGES: StageSketch[] = [
  { name: 'subscribe', run: { readers: ['subscribe'] } },
  { name: 'publish', run: { devices: ['publish'] } },
];
const READER = { group: 1, client: 0 };

type Stream = NonNullable<GroupSketch['publish']>[number];

function begun(stream: Partial<Stream> = {}, entry: Partial<EntrySketch> = {}): Simulation {
  const devices = { name: 'devices', clients: 2, publish: [{ topic: 'd/{{n}}/up', ...stream }] };
  const readers = { name: 'readers', clients: 1, subscribe: [{ topics: ['d/#'], ...entry }] };
  const simulation = new Simulation(sketchPlan([devices, readers], STAGES), AGENTS);
  simulation.reconnect(1, 0, false);
  simulation.subscribe(1, 0);
  return simulation;
}

function send(simulation: Simulation, client = 0): Message {
  simulation.tick();
  return simulation.publish(0, 1, client);
}

function finish(simulation: Simulation): LedgerResult {
  return simulation.join(simulation.pages());
}

function only(result: LedgerResult): LedgerRow {
  expect(result.rows).toHaveLength(1);
  return item(result.rows, 0);
}

function failuresOf(result: LedgerResult): readonly string[] {
  return judgeLedger(result, { stages: [] }).failures;
}

function peers(noLocal: readonly boolean[]): Simulation {
  const group: GroupSketch = {
    name: 'peers',
    clients: 3,
    publish: [{ topic: 'room' }],
    subscribe: noLocal.map((deaf, k) => ({
      name: `entry-${k}`,
      topics: [k === 0 ? 'room' : 'room/#'],
      options: { noLocal: deaf },
    })),
  };
  const plan = sketchPlan(
    [group],
    [
      { name: 'subscribe', run: { peers: ['subscribe'] } },
      { name: 'publish', run: { peers: ['publish'] } },
    ],
  );
  const simulation = new Simulation(plan, AGENTS);
  for (let client = 0; client < 3; client++) simulation.subscribe(0, client);
  return simulation;
}

/** Two messages while the client is away for so long. */
function away(simulation: Simulation, us: number): Message[] {
  simulation.receive(READER, send(simulation).bytes);
  simulation.disconnect(1, 0);
  const messages = [send(simulation), send(simulation)];
  simulation.tick(us);
  return messages;
}

describe('topic and QoS by which a message comes', () => {
  test('its own topic is right, another one is told with an example and fails', () => {
    const simulation = begun();
    const [right, wrong] = [send(simulation), send(simulation)];
    simulation.receive(READER, right.bytes, { topic: 'd/1/up' });
    simulation.receive(READER, wrong.bytes, { topic: 'd/2/up' });
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ expected: 2, unique: 2, lost: 0, wrongTopic: 1 });
    expect(only(result).examples['wrongTopic']).toEqual([
      { client: 'devices-1', subscriber: 'readers-1', seq: 1, sentAtUs: 2_000 },
    ]);
    expect(failuresOf(result)).toEqual([
      'devices → readers: 1 message on another topic than the one published to (for example message 1 of devices-1 at readers-1)',
    ]);
  });

  test.for([
    [2, 2, 2, 0],
    [2, 1, 1, 0],
    [1, 2, 1, 0],
    [0, 2, 0, 0],
    [1, 2, 2, 1],
    [2, 2, 1, 1],
    [1, 1, 0, 1],
  ] as const)(
    'published at QoS %i, granted %i, delivered %i: %i of them wrong',
    ([sent, granted, delivered, wrongQos]) => {
      const simulation = begun({ qos: sent }, { qos: granted });
      simulation.receive(READER, send(simulation).bytes, { qos: delivered });
      const result = finish(simulation);
      expect(only(result)).toMatchObject({ qos: Math.min(sent, granted), unique: 1, wrongQos });
      // Some brokers raise it to what was granted, by their configuration: told, and no failure.
      expect(failuresOf(result)).toEqual([]);
    },
  );

  test('where filters overlap, either of their QoS is right', () => {
    const simulation = begun({ qos: 1 }, { topics: ['d/#', 'd/+/up'], qos: 1 });
    simulation.subscribe(1, 0, { filter: 1, qos: 0 });
    const message = send(simulation);
    for (const qos of [0, 1, 2]) simulation.receive(READER, message.bytes, { qos });
    expect(only(finish(simulation))).toMatchObject({ wrongQos: 0 });
  });

  test('a duplicate at QoS 2 fails by itself, and at QoS 1 it does not', () => {
    for (const qos of [2, 1] as const) {
      const simulation = begun({ qos }, { qos });
      const message = send(simulation);
      simulation.receive(READER, message.bytes);
      simulation.receive(READER, message.bytes);
      const result = finish(simulation);
      expect(only(result)).toMatchObject({ qos, duplicated: 1 });
      expect(failuresOf(result)).toHaveLength(qos === 2 ? 1 : 0);
    }
  });
});

describe('messages that a client publishes and subscribes to itself', () => {
  test('are not owed to it with no-local, and unexpected should they come', () => {
    const simulation = peers([true]);
    const [first, second] = [send(simulation, 1), send(simulation, 1)];
    for (const client of [0, 2]) {
      simulation.receive({ group: 0, client }, first.bytes);
      simulation.receive({ group: 0, client }, second.bytes);
    }
    expect(only(finish(simulation))).toMatchObject({ pairs: 2, expected: 4, lost: 0 });
    simulation.receive({ group: 0, client: 1 }, first.bytes);
    const row = only(finish(simulation));
    expect(row).toMatchObject({ expected: 4, unexpected: 1 });
    expect(row.examples['unexpected']).toMatchObject([
      { client: 'peers-2', subscriber: 'peers-2' },
    ]);
  });

  test('are owed to it without, and by another filter of its own without', () => {
    for (const options of [[false], [true, false]]) {
      const simulation = peers(options);
      send(simulation, 1);
      const { rows } = finish(simulation);
      expect(rows.reduce((sum, { lost }) => sum + lost, 0)).toBe(3);
    }
  });
});

describe('overlapping subscriptions with identifiers', () => {
  const plan = sketchPlan(
    [
      { name: 'devices', clients: 1, publish: [{ topic: 'd/{{n}}/up' }] },
      {
        name: 'readers',
        clients: 1,
        subscribe: [
          { name: 'all', topics: ['d/#'], options: { identifier: 1 } },
          { name: 'one', topics: ['d/1/up'], options: { identifier: 7 } },
          { name: 'shared', topics: ['$share/s/d/+/up'], options: { identifier: 9 } },
        ],
      },
    ],
    STAGES,
  );

  test('are receivers of their own: a loss and a duplicate of each are told apart from copies', () => {
    const simulation = new Simulation(plan, AGENTS);
    simulation.subscribe(1, 0);
    const messages = Array.from({ length: 6 }, () => send(simulation));
    for (const [n, { bytes, topic }] of messages.entries()) {
      for (const entry of [0, 1, 2]) {
        // The first entry misses one, the second gets one twice, the share misses the last one.
        if ((entry === 0 && n === 2) || (entry === 2 && n === 5)) continue;
        const times = entry === 1 && n === 3 ? 2 : 1;
        for (let k = 0; k < times; k++) simulation.receive(READER, bytes, { entry, topic });
      }
    }
    const result = finish(simulation);
    expect(result.rows).toMatchObject([
      { to: 'readers.all', pairs: 1, expected: 6, lost: 1, duplicated: 0, copies: 0 },
      { to: 'readers.one', pairs: 1, expected: 6, lost: 0, duplicated: 1, copies: 0 },
      { to: 'readers.shared', pairs: 1, expected: 6, lost: 1, duplicated: 0, copies: 0 },
    ]);
    expect(result.outside).toEqual([]);
  });
});

describe('retained copies', () => {
  test('are told apart from live messages that keep their flag', () => {
    const options = { retainAsPublished: true };
    const simulation = begun({ retain: true }, { options });
    const messages = Array.from({ length: 5 }, () => send(simulation));
    for (const { bytes } of messages) simulation.receive(READER, bytes, { retained: true });
    // One of them twice: with its flag kept, a duplicate like any other.
    simulation.receive(READER, item(messages, 2).bytes, { retained: true });
    // Back after a while, the client subscribes anew and gets the last one as a retained copy.
    simulation.disconnect(1, 0);
    simulation.tick();
    simulation.reconnect(1, 0, false, 0);
    simulation.subscribe(1, 0);
    simulation.receive(READER, item(messages, 4).bytes, { retained: true });
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ unique: 5, duplicated: 1, reordered: 0, retained: 1 });
    expect(result.apart.replayed).toBe(1);
  });

  test('that nobody asked for are unexpected, with an example', () => {
    const simulation = begun({ retain: true }, { options: { retainHandling: 2 } });
    const [kept, live] = [send(simulation), send(simulation)];
    simulation.receive(READER, kept.bytes, { retained: true });
    simulation.receive(READER, live.bytes);
    const row = only(finish(simulation));
    expect(row).toMatchObject({ unexpected: 1, unique: 1, retained: 0 });
    expect(row.examples['unexpected']).toMatchObject([{ client: 'devices-1', seq: 0 }]);
  });
});

describe('sessions that sleep and wake', () => {
  test('what was queued for a resumed session is said to be', () => {
    const simulation = begun();
    const queued = away(simulation, SECOND);
    simulation.reconnect(1, 0, true);
    for (const { bytes } of queued) simulation.receive(READER, bytes);
    simulation.receive(READER, send(simulation).bytes);
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ expected: 4, unique: 4, queued: 2, lost: 0 });
    expect(result.sessionsLost).toEqual([]);
  });

  test('a session that the broker lost is named, and so is what went with it', () => {
    const simulation = begun();
    away(simulation, SECOND);
    simulation.reconnect(1, 0, false, 10 * SECOND);
    simulation.subscribe(1, 0);
    simulation.receive(READER, send(simulation).bytes);
    const result = finish(simulation);
    const row = only(result);
    expect(row).toMatchObject({ expected: 4, lost: 2, lostDisconnected: 2, lostSession: 2 });
    expect(row.examples['lost']).toMatchObject([
      { seq: 1, while: 'session lost' },
      { seq: 2, while: 'session lost' },
    ]);
    expect(result.sessionsLost).toEqual([{ subject: 'readers', clients: 1 }]);
    expect(judgeLedger(result, { stages: [] }).notes).toContain(
      'readers: 1 session that should have been kept lost by the broker',
    );
    expect(failuresOf(result).join()).toContain('2 as the broker had lost its session');
  });

  test('also where nothing came any more after it', () => {
    const simulation = begun();
    away(simulation, SECOND);
    simulation.reconnect(1, 0, false, 10 * SECOND);
    simulation.subscribe(1, 0);
    send(simulation, 1);
    expect(only(finish(simulation))).toMatchObject({ lost: 3, lostSession: 3 });
  });

  test('one that had expired was not lost by the broker', () => {
    const simulation = begun();
    away(simulation, 10 * SECOND);
    simulation.reconnect(1, 0, false, 5 * SECOND);
    simulation.subscribe(1, 0);
    simulation.receive(READER, send(simulation).bytes);
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ lost: 2, lostDisconnected: 2, lostSession: 0 });
    expect(result.sessionsLost).toEqual([]);
  });

  test.for([
    ['longer', 3 * SECOND, { expected: 2, lost: 0, expired: 2 }],
    ['less long', SECOND, { expected: 4, lost: 2, expired: 0 }],
  ] as const)(
    'away %s than messages last: they may have expired, or are lost',
    ([, us, figures]) => {
      const simulation = begun({ expiryS: 2 });
      away(simulation, us);
      simulation.reconnect(1, 0, true);
      simulation.receive(READER, send(simulation).bytes);
      const result = finish(simulation);
      expect(only(result)).toMatchObject(figures);
      expect(failuresOf(result)).toHaveLength(figures.lost > 0 ? 1 : 0);
    },
  );

  test('the same holds for one that never comes back, and for pairs of which nothing came', () => {
    const simulation = begun({ expiryS: 2 });
    away(simulation, SECOND);
    send(simulation, 1);
    simulation.tick(2 * SECOND);
    expect(only(finish(simulation))).toMatchObject({ pairs: 2, expected: 1, lost: 0, expired: 3 });
  });

  test('a short absence after a long one forgives nothing', () => {
    const simulation = begun({ expiryS: 2 });
    away(simulation, 5 * SECOND);
    simulation.reconnect(1, 0, true);
    simulation.receive(READER, send(simulation).bytes);
    away(simulation, SECOND);
    simulation.reconnect(1, 0, true);
    simulation.receive(READER, send(simulation).bytes);
    expect(only(finish(simulation))).toMatchObject({ expired: 2, lost: 2 });
  });
});

describe('what the broker refused', () => {
  test('is not expected, and told', () => {
    const simulation = begun();
    simulation.receive(READER, send(simulation).bytes);
    simulation.refusePublish(send(simulation));
    const result = finish(simulation);
    expect(only(result)).toMatchObject({ expected: 1, lost: 0, unresolved: 1, refused: 1 });
    expect(judgeLedger(result, { stages: [] }).notes).toEqual([
      'devices → readers: 1 message not expected, as the broker refused them',
    ]);
  });
});
