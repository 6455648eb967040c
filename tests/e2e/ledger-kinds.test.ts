import { connectAsync } from 'mqtt';
import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import { hiveMqMissing, startHiveMq } from '../fixtures/brokers/hivemq.ts';
import {
  count,
  deliver,
  type Delivery,
  deliveryPlan,
  type DeliveryNeeds,
  type DeliveryScene,
  type Fault,
  type LedgerFigures,
  ledgerOf,
  MESSAGES,
  row,
  type SeenPacket,
} from '../fixtures/deliveries.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { reportOf } from '../fixtures/squall.ts';

const [CLIENTS, WATCHERS] = [4, 2];
const PAIRS = CLIENTS * WATCHERS;
const SENT = CLIENTS * MESSAGES;
const DEVICES = { devices: { clients: CLIENTS } };
const USUAL = { from: 'devices', to: 'watchers', pairs: PAIRS };

/** With as few processes as it takes: what is shown here is no matter of several agents. */
function deliverByOne(scene: DeliveryScene, needs: DeliveryNeeds, faults: readonly Fault[] = []) {
  return deliver(scene, needs, { faults, agents: 1 });
}

/** Messages of the first two publishers. */
function isOfFirstTwo({ stamp }: SeenPacket): boolean {
  return stamp?.publisher === 0 || stamp?.publisher === 1;
}

function isSeldom({ topic }: SeenPacket): boolean {
  return topic.startsWith('seldom/');
}

/** Two clients that subscribe when messages are there already. */
function late(options: object) {
  return { clients: 2, topic: 'devices/#', options: { options } };
}

/** Two entries of each watcher match every message; some are dropped, others come twice. */
async function overlapping(
  scene: DeliveryScene,
): Promise<[Delivery, all: LedgerFigures, up: LedgerFigures]> {
  const options = { identifier: true };
  const entries = [
    { name: 'all', topic: 'devices/#', options },
    { name: 'up', topic: 'devices/+/up', options },
  ];
  const delivery = await deliverByOne(
    scene,
    {
      publishers: DEVICES,
      // At QoS 0, since HiveMQ holds messages back while one of them is not acknowledged.
      subscribers: { watchers: { clients: WATCHERS, qos: 0, topic: '', entries } },
      version: '5',
    },
    [
      { way: 'toSubscriber', kind: 'drop', every: 7, where: isOfFirstTwo },
      { way: 'toSubscriber', kind: 'duplicate', every: 5, where: (one) => !isOfFirstTwo(one) },
    ],
  );
  const [all, up, ...others] = delivery.rows;
  if (all === undefined || up === undefined) throw new Error(delivery.result.output);
  expect(others).toEqual([]);
  const base = { from: 'devices', qos: 0, pairs: PAIRS, expected: PAIRS * MESSAGES };
  const rowOf = (to: string, { lost, duplicated }: LedgerFigures) =>
    row({ ...base, to, lost, duplicated });
  expect([all, up]).toEqual([rowOf('watchers.all', all), rowOf('watchers.up', up)]);
  return [delivery, all, up];
}

/** What MQTT 5 and kept sessions do to deliveries, on a real broker. */
describe.concurrent('kinds of subscriptions', { timeout: 90_000 }, () => {
  test.for([['5'], ['3.1.1']])(
    'a shared subscription of MQTT %s over three agents is one receiver, whose losses and duplicates count once',
    async ([version = ''], { broker, workspace }) => {
      const delivery = await deliver(
        { broker, workspace },
        {
          publishers: DEVICES,
          subscribers: {
            watchers: { clients: 6, topic: 'devices/+/up', options: { share: 'crew' } },
          },
          version,
        },
        {
          faults: [
            { way: 'toSubscriber', kind: 'drop', every: 5, where: isOfFirstTwo },
            { way: 'toBroker', kind: 'duplicate', every: 4, where: (one) => !isOfFirstTwo(one) },
          ],
        },
      );
      const [lost, duplicated] = [count(delivery, 0), count(delivery, 1)];
      const from = { from: 'devices', to: 'watchers', pairs: CLIENTS, expected: SENT };
      expect(delivery.rows).toEqual([row({ ...from, lost, duplicated })]);
      expect(delivery.result.code, delivery.result.output).toBe(99);
    },
  );

  test('QoS 2 from end to end comes exactly once, and QoS is the lower one', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliverByOne(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, qos: 2 } },
        subscribers: {
          exactly: { clients: 2, topic: '+/+/up', qos: 2 },
          'at-least': { clients: 1, topic: '+/+/up', qos: 1 },
        },
        version: '5',
      },
      [{ way: 'toSubscriber', kind: 'drop', every: 11, where: ({ qos }) => qos === 2 }],
    );
    const from = 'devices';
    expect(delivery.rows).toEqual([
      row({ from, to: 'at-least', qos: 1, pairs: CLIENTS, expected: SENT }),
      row({
        from,
        to: 'exactly',
        qos: 2,
        pairs: 2 * CLIENTS,
        expected: 2 * SENT,
        lost: count(delivery, 0),
      }),
    ]);
  });

  test('clients that do not hear themselves: their own messages are nobody’s loss', async ({
    broker,
    workspace,
  }) => {
    const peers = {
      target: 'broker',
      clients: 5,
      clientId: 'peer.{{n}}',
      subscribe: { topic: 'room/#', qos: 1, options: { noLocal: true } },
      publish: { topic: 'room/{{n}}', qos: 1, payload: '100B', every: '250ms' },
    };
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: {},
        subscribers: {},
        version: '5',
        more: { groups: { peers } },
        stages: [
          { name: 'subscribe', run: { peers: 'subscribe' } },
          { name: 'publish', run: { peers: 'publish' }, for: '3s' },
        ],
      },
    );
    expect(delivery.rows).toEqual([
      row({ from: 'peers', to: 'peers', pairs: 20, expected: 20 * MESSAGES }),
    ]);
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('retained copies for those who subscribe late, as each of them asks for', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliverByOne(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, more: { retain: true } } },
        subscribers: {
          watchers: {
            clients: WATCHERS,
            topic: 'devices/+/up',
            options: { options: { retainAsPublished: true } },
          },
          always: late({ retainHandling: 0 }),
          kept: late({ retainAsPublished: true }),
          never: late({ retainHandling: 2 }),
        },
        version: '5',
        stages: [
          { name: 'load', run: { devices: 'publish', watchers: 'subscribe' }, for: '2s' },
          {
            name: 'late',
            run: { always: 'subscribe', kept: 'subscribe', never: 'subscribe' },
            for: '1s',
          },
        ],
      },
    );
    const copies = {
      from: 'devices',
      pairs: 2 * CLIENTS,
      expected: 2 * CLIENTS,
      retained: 2 * CLIENTS,
    };
    expect(delivery.rows).toEqual([
      row({ ...copies, to: 'always' }),
      row({ ...copies, to: 'kept' }),
      row({ ...USUAL, expected: PAIRS * 8 }),
    ]);
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('overlapping entries with identifiers, over a broker that sends a copy for each: every one is exact', async ({
    broker,
    workspace,
  }) => {
    const [delivery, all, up] = await overlapping({ broker, workspace });
    expect(all.lost + up.lost).toBe(count(delivery, 0));
    expect(all.duplicated + up.duplicated).toBe(count(delivery, 1));
  });

  test('the same over a broker that sends one copy and names all of them', async ({
    workspace,
    skip,
  }) => {
    const missing = await hiveMqMissing();
    if (missing !== null) skip(missing);
    const broker = await startHiveMq();
    try {
      const [delivery, all, up] = await overlapping({ broker, workspace });
      // What befalls the one copy befalls both entries.
      expect([all.lost, up.lost]).toEqual([count(delivery, 0), count(delivery, 0)]);
      expect([all.duplicated, up.duplicated]).toEqual([count(delivery, 1), count(delivery, 1)]);
    } finally {
      await broker.dispose();
    }
  });

  test('topics that take turns are followed one by one, each with its own numbers', async ({
    broker,
    workspace,
  }) => {
    const topic = [
      { topic: 'often/{{n}}', weight: 3 },
      { topic: 'seldom/{{n}}', weight: 1 },
    ];
    const delivery = await deliverByOne(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, more: { topic } } },
        subscribers: {
          all: { clients: 1, topic: '#' },
          seldom: { clients: 2, topic: 'seldom/+' },
        },
      },
      [{ way: 'toSubscriber', kind: 'drop', every: 5, where: isSeldom }],
    );
    const from = 'devices';
    const [all, seldom, ...others] = delivery.rows;
    expect(others).toEqual([]);
    const pairs = { all: 2 * CLIENTS, seldom: 2 * CLIENTS };
    const [lost, lostToo] = [all?.lost ?? 0, seldom?.lost ?? 0];
    expect(all).toEqual(row({ from, to: 'all', pairs: pairs.all, expected: SENT, lost }));
    const expected = (2 * SENT) / 4;
    expect(seldom).toEqual(
      row({ from, to: 'seldom', pairs: pairs.seldom, expected, lost: lostToo }),
    );
    expect(lost + lostToo).toBe(count(delivery, 0));
  });

  test('a broker that raises the QoS to what was granted is told, and fails nothing', async ({
    workspace,
    skip,
  }) => {
    const missing = mosquittoMissing();
    if (missing !== null) skip(missing);
    const broker = await Mosquitto.start(['upgrade_outgoing_qos true']);
    try {
      const delivery = await deliverByOne(
        { broker, workspace },
        {
          publishers: { devices: { clients: CLIENTS, qos: 0 } },
          subscribers: { watchers: { clients: WATCHERS, topic: 'devices/+/up', qos: 1 } },
        },
      );
      const wrongQos = PAIRS * MESSAGES;
      expect(delivery.rows).toEqual([row({ ...USUAL, qos: 0, expected: wrongQos, wrongQos })]);
      expect(delivery.report.notes.join('\n')).toContain('by another QoS than the lower one');
      expect(delivery.report.verdict, delivery.result.output).toBe('pass');
    } finally {
      await broker.dispose();
    }
  });
});

describe.concurrent('sessions that sleep and wake', { timeout: 90_000 }, () => {
  const kept = { cleanStart: false, sessionExpiry: '1h' };
  const asleep = (more: Partial<DeliveryNeeds> = {}): DeliveryNeeds => ({
    publishers: DEVICES,
    subscribers: { watchers: { clients: WATCHERS, topic: 'devices/+/up', connect: kept } },
    version: '5',
    stages: [
      { name: 'awake', run: { devices: 'publish', watchers: 'subscribe' }, for: '1s' },
      { name: 'asleep', run: { watchers: 'sleep' } },
      { name: 'alone', run: { devices: 'publish' }, for: '1s' },
      { name: 'woken', run: { watchers: 'wake', devices: 'publish' }, for: '1s' },
    ],
    ...more,
  });

  test('what was queued for them is all there, and said to be', async ({ broker, workspace }) => {
    const delivery = await deliverByOne({ broker, workspace }, asleep());
    const [only, ...others] = delivery.rows;
    expect(others).toEqual([]);
    expect(only).toMatchObject({ ...USUAL, lost: 0, duplicated: 0, lostSession: 0, expired: 0 });
    // Those of a whole stage, and of the moments around it.
    expect(only?.queued).toBeGreaterThanOrEqual(PAIRS * 4);
    expect(only?.queued).toBeLessThan(only?.expected ?? 0);
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('messages that expire while they sleep are told apart from lost ones', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliverByOne(
      { broker, workspace },
      asleep({
        publishers: { devices: { clients: CLIENTS, more: { expiry: '1s' } } },
        stages: [
          { name: 'awake', run: { devices: 'publish', watchers: 'subscribe' }, for: '1s' },
          { name: 'asleep', run: { watchers: 'sleep' } },
          { name: 'alone', run: { devices: 'publish' }, for: '1s' },
          { name: 'silence', run: { devices: 'idle' }, for: '3s' },
          { name: 'woken', run: { watchers: 'wake', devices: 'publish' }, for: '1s' },
        ],
      }),
    );
    const [only] = delivery.rows;
    expect(only).toMatchObject({ ...USUAL, lost: 0, duplicated: 0 });
    expect(only?.expired).toBeGreaterThanOrEqual(PAIRS * 4);
    expect(delivery.report.notes.join('\n')).toContain('may have expired');
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('a session that is gone when they wake is named, and so is what went with it', async ({
    broker,
    workspace,
  }) => {
    const plan = deliveryPlan(broker.url, asleep());
    const running = workspace.start([workspace.plan(plan), '--agents', '1', '--workers', '1']);
    await running.seen(/stage alone/);
    // Somebody else takes the session of one of them, and ends it.
    const options = { clientId: 'watchers.1', clean: true, protocolVersion: 5 } as const;
    const thief = await connectAsync(broker.url, options);
    await thief.endAsync();
    const result = await running.result;
    const report = reportOf(result);
    const [only] = ledgerOf(report);
    expect(only).toMatchObject({ ...USUAL, duplicated: 0, unexpected: 0 });
    expect(only?.lostSession, result.output).toBeGreaterThanOrEqual(CLIENTS);
    expect(only?.lostSession).toBe(only?.lost);
    const { examples } = report.ledger[0] ?? {};
    expect(examples?.['lost']?.[0]).toMatchObject({
      subscriber: 'watchers.1',
      while: 'session lost',
      sentAt: expect.any(String),
    });
    expect(report.notes.join('\n')).toContain('watchers: 1 session that should have been kept');
    expect(report.reasons.join('\n')).toContain('as the broker had lost its session');
    expect(result.code).toBe(99);
  });
});

describe('messages that come on another topic than their own', { timeout: 90_000 }, () => {
  test('fail the run, with an example', async ({ broker, workspace }) => {
    const plan = deliveryPlan(broker.url, {
      publishers: DEVICES,
      subscribers: { watchers: { clients: WATCHERS, topic: '+/+/up' } },
    });
    const client = await connectAsync(broker.url);
    await client.subscribeAsync('devices/2/up', { qos: 1 });
    // A rule in the broker that is wrong: what comes on one topic is sent on to another.
    client.on('message', (_, payload, { qos }) => {
      client.publish('elsewhere/2/up', payload, { qos });
    });
    const result = await workspace.run([workspace.plan(plan), '--agents', '1', '--workers', '1']);
    await client.endAsync();
    const report = reportOf(result);
    const copies = MESSAGES * WATCHERS;
    expect(report.ledger).toMatchObject([{ wrongTopic: copies, duplicated: copies, lost: 0 }]);
    expect(report.reasons.join('\n')).toContain('on another topic than the one published to');
    expect(result.code, result.output).toBe(99);
  });
});
