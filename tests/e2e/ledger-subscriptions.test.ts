import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import {
  connectionOf,
  count,
  deliver,
  LAST,
  MESSAGES,
  notLast,
  row,
  sentBy,
  seqOf,
} from '../fixtures/deliveries.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';

/** Who is entitled to what: each shape of subscription, with losses that must be found in it. */
describe.concurrent('subscriptions that the ledger follows', { timeout: 90_000 }, () => {
  test('one topic a client, point to point, over three agents', async ({ broker, workspace }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: 30 } },
        subscribers: { twins: { clients: 30, topic: 'devices/{{n}}/up' } },
      },
      { faults: [{ way: 'toSubscriber', kind: 'drop', every: 20 }] },
    );
    const lost = count(delivery, 0);
    expect(lost).toBe((30 * MESSAGES) / 20);
    expect(delivery.rows).toEqual([
      row({ from: 'devices', to: 'twins', pairs: 30, expected: 30 * MESSAGES, lost }),
    ]);
  });

  test('wildcards of every kind, each client its own share', async ({ broker, workspace }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: {
          devices: { clients: 12, topic: 'site/{{n % 3}}/device/{{n:03}}/up' },
          noise: { clients: 3, topic: 'noise/{{n}}', qos: 0 },
        },
        subscribers: {
          all: { clients: 2, topic: '#' },
          // {{n - 1}} is 0, 1, 2: four devices each.
          sites: { clients: 3, topic: 'site/{{n - 1}}/#' },
          middle: { clients: 2, topic: 'site/+/device/+/up' },
          one: { clients: 1, topic: '+/1/device/004/+' },
          nobody: { clients: 1, topic: 'site/+/up' },
        },
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 10, where: connectionOf('all') },
          { way: 'toSubscriber', kind: 'drop', every: 10, where: connectionOf('sites') },
          { way: 'toSubscriber', kind: 'corrupt', at: -1, every: 9, where: connectionOf('one') },
        ],
      },
    );
    const lossesOfAll = delivery.report.ledger
      .filter(({ to }) => to === 'all')
      .reduce((sum, { lost }) => sum + lost, 0);
    expect(lossesOfAll).toBe(count(delivery, 0));
    const rest = delivery.rows.filter(({ to }) => to !== 'all');
    const [sites, one] = [count(delivery, 1), count(delivery, 2)];
    const from = 'devices';
    expect(rest).toEqual([
      row({ from, to: 'middle', pairs: 24, expected: 24 * MESSAGES }),
      row({ from, to: 'one', pairs: 1, expected: MESSAGES, corrupted: one, lost: one }),
      row({ from, to: 'sites', pairs: 12, expected: 12 * MESSAGES, lost: sites }),
    ]);
    expect(delivery.rows.filter(({ to }) => to === 'all')).toMatchObject([
      { from: 'devices', qos: 1, pairs: 24, expected: 24 * MESSAGES, duplicated: 0 },
      { from: 'noise', qos: 0, pairs: 6, expected: 6 * MESSAGES, duplicated: 0 },
    ]);
  });

  test('several filters of one client, apart from each other', async ({ broker, workspace }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { red: { clients: 4 }, blue: { clients: 4 }, green: { clients: 4 } },
        subscribers: { watchers: { clients: 3, topic: ['red/+/up', 'blue/+/up'] } },
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 11, where: sentBy('red') },
          { way: 'toSubscriber', kind: 'duplicate', every: 13, where: sentBy('blue') },
        ],
      },
    );
    const base = { to: 'watchers', pairs: 12, expected: 12 * MESSAGES };
    expect(delivery.rows).toEqual([
      row({ from: 'blue', ...base, duplicated: count(delivery, 1) }),
      row({ from: 'red', ...base, lost: count(delivery, 0) }),
    ]);
  });

  test('overlapping filters of one client: one copy each, and what is lost or comes twice shows', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: 6 } },
        subscribers: {
          watchers: { clients: 3, topic: ['devices/1/up', 'devices/+/up', 'devices/#'] },
        },
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 12 },
          { way: 'toSubscriber', kind: 'duplicate', every: 17 },
        ],
      },
    );
    const [lost, duplicated] = [count(delivery, 0), count(delivery, 1)];
    expect(delivery.rows).toEqual([
      row({
        from: 'devices',
        to: 'watchers',
        pairs: 18,
        expected: 18 * MESSAGES,
        lost,
        duplicated,
      }),
    ]);
  });

  test('a broker that sends a copy for each filter: copies, not duplicates, and a loss is a loss', async ({
    workspace,
    skip,
  }) => {
    const missing = mosquittoMissing();
    if (missing !== null) skip(missing);
    const broker = await Mosquitto.start(['allow_duplicate_messages true']);
    try {
      const delivery = await deliver(
        { broker, workspace },
        {
          publishers: { devices: { clients: 5 } },
          subscribers: { watchers: { clients: 2, topic: ['devices/+/up', 'devices/#'] } },
        },
        {
          faults: [
            // Both copies of the last message of each device, at one watcher.
            {
              way: 'toSubscriber',
              kind: 'drop',
              where: (packet) => seqOf(packet) === LAST && connectionOf('watchers', 2)(packet),
            },
            // One of two copies, which is no loss.
            { way: 'toSubscriber', kind: 'drop', every: 23, where: notLast },
          ],
        },
      );
      expect(count(delivery, 0)).toBe(10);
      const lost = 5;
      const copies = 10 * MESSAGES - lost - count(delivery, 1);
      expect(delivery.rows).toEqual([
        row({ from: 'devices', to: 'watchers', pairs: 10, expected: 10 * MESSAGES, lost, copies }),
      ]);
    } finally {
      await broker.dispose();
    }
  });

  test('several entries of a group and several streams of one, over two stages', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: {
          devices: {
            clients: 6,
            streams: [
              { name: 'telemetry', topic: 'telemetry/{{n}}' },
              { name: 'beat', topic: 'beat/{{n}}', qos: 0, every: '500ms' },
            ],
          },
        },
        subscribers: {
          watchers: {
            clients: 2,
            topic: '',
            entries: [
              { name: 'figures', topic: 'telemetry/+' },
              { name: 'beats', topic: 'beat/#' },
            ],
          },
        },
        stages: [
          { name: 'subscribe', run: { watchers: 'subscribe' } },
          { name: 'both', run: { devices: 'publish' }, for: '2s' },
          { name: 'one', run: { devices: 'publish.telemetry' }, for: '1s' },
        ],
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 8, where: sentBy('telemetry') },
          { way: 'toSubscriber', kind: 'drop', every: 8, where: sentBy('beat') },
        ],
      },
    );
    const [telemetry, beat] = [count(delivery, 0), count(delivery, 1)];
    expect(delivery.rows).toEqual([
      row({
        from: 'devices.beat',
        to: 'watchers.beats',
        qos: 0,
        pairs: 12,
        expected: 12 * 4,
        lost: beat,
      }),
      row({
        from: 'devices.telemetry',
        to: 'watchers.figures',
        pairs: 12,
        expected: 12 * (8 + 4),
        lost: telemetry,
      }),
    ]);
  });

  test('QoS is the lower one of what was published and what was granted', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { sure: { clients: 4, qos: 1 }, fast: { clients: 4, qos: 0 } },
        subscribers: {
          'at-least-once': { clients: 1, topic: '+/+/up', qos: 1 },
          'at-most-once': { clients: 1, topic: '+/+/up', qos: 0 },
        },
      },
      { faults: [{ way: 'toSubscriber', kind: 'drop', every: 7, where: notQos1 }] },
    );
    const rows = delivery.rows.map(({ from, to, qos, expected }) => [from, to, qos, expected]);
    expect(rows).toEqual([
      ['fast', 'at-least-once', 0, 4 * MESSAGES],
      ['fast', 'at-most-once', 0, 4 * MESSAGES],
      ['sure', 'at-least-once', 1, 4 * MESSAGES],
      ['sure', 'at-most-once', 0, 4 * MESSAGES],
    ]);
    const lost = delivery.rows.reduce((sum, each) => sum + each.lost, 0);
    expect(lost).toBe(count(delivery, 0));
    expect(delivery.rows[2]).toMatchObject({ lost: 0 });
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('clients that publish and subscribe at once, each in its own room', async ({
    broker,
    workspace,
  }) => {
    const peers = {
      target: 'broker',
      clients: 12,
      clientId: 'peer.{{n}}',
      subscribe: { topic: 'room/{{n % 4}}/#', qos: 1 },
      publish: { topic: 'room/{{n % 4}}/{{n}}', qos: 1, payload: '100B', every: '250ms' },
    };
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: {},
        subscribers: {},
        more: { groups: { peers } },
        stages: [
          { name: 'subscribe', run: { peers: 'subscribe' } },
          { name: 'publish', run: { peers: 'publish' }, for: '3s' },
        ],
      },
      { faults: [{ way: 'toSubscriber', kind: 'swap', every: 15, where: notLast }] },
    );
    // Four rooms with three clients, of which each hears all three.
    expect(delivery.rows).toEqual([
      row({
        from: 'peers',
        to: 'peers',
        pairs: 36,
        expected: 36 * MESSAGES,
        reordered: count(delivery, 0),
      }),
    ]);
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });
});

function notQos1({ qos }: { readonly qos: number }): boolean {
  return qos === 0;
}
