import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import {
  connectionOf,
  count,
  deliver,
  deliveryPlan,
  type DeliveryNeeds,
  ledgerOf,
  MESSAGES,
  row,
  seqOf,
} from '../fixtures/deliveries.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { reportOf } from '../fixtures/squall.ts';

const [CLIENTS, WATCHERS] = [6, 2];
const PAIRS = CLIENTS * WATCHERS;
const EXPECTED = PAIRS * MESSAGES;
const DEVICES = { devices: { clients: CLIENTS } };
const WATCHING = { watchers: { clients: WATCHERS, topic: 'devices/+/up' } };
const USUAL = { from: 'devices', to: 'watchers', pairs: PAIRS };
const KEPT = { cleanStart: false, retries: 9, backoff: { min: '500ms', max: '500ms' } };

/** Connections, sessions and subscriptions that come and go: what is lost then, and what is not. */
describe.concurrent('sessions that the broker keeps', { timeout: 90_000 }, () => {
  test('a subscriber comes back to its session: nothing is lost', async ({ broker, workspace }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: DEVICES,
        subscribers: { watchers: { ...WATCHING.watchers, connect: KEPT } },
      },
      {
        faults: [
          {
            way: 'toSubscriber',
            kind: 'cut',
            where: (packet) => seqOf(packet) === 5 && connectionOf('watchers', 1)(packet),
            most: 1,
          },
        ],
      },
    );
    expect(count(delivery, 0)).toBe(1);
    const [only] = delivery.rows;
    expect(only).toMatchObject({ ...USUAL, expected: EXPECTED, lost: 0, unique: EXPECTED });
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('a publisher sends again what was not acknowledged: it came twice, and is not unresolved', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, connect: KEPT } },
        subscribers: WATCHING,
        length: '4s',
        more: { backlog: '10s', drain: '5s' },
      },
      {
        faults: [
          {
            way: 'ackToPublisher',
            kind: 'cut',
            where: connectionOf('devices', 3),
            every: 5,
            most: 1,
          },
        ],
      },
    );
    expect(count(delivery, 0)).toBe(1);
    expect(delivery.rows).toEqual([row({ ...USUAL, expected: PAIRS * 16, duplicated: WATCHERS })]);
    expect(delivery.report.groups['devices']?.counters).toMatchObject({ retransmitted: 1 });
    expect(delivery.result.code, delivery.result.output).toBe(0);
  });
});

describe.concurrent('subscriptions that begin and end', { timeout: 90_000 }, () => {
  test('begun while messages are on their way: only what came later is expected', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: DEVICES,
        subscribers: WATCHING,
        stages: [
          { name: 'alone', run: { devices: 'publish' }, for: '2s' },
          { name: 'heard', run: { devices: 'publish', watchers: 'subscribe' }, for: '4s' },
        ],
      },
      {
        faults: [
          {
            way: 'toSubscriber',
            kind: 'drop',
            every: 5,
            // Subscribers are there when the clock of their stage starts; it runs for 16 messages more.
            where: (packet) => packet.stamp?.stage === 1 && seqOf(packet) > 15,
          },
        ],
      },
    );
    const lost = count(delivery, 0);
    const [only, ...others] = delivery.rows;
    expect(others).toEqual([]);
    expect(only).toEqual(row({ ...USUAL, expected: only?.expected ?? 0, lost }));
    expect(only?.expected).toBeGreaterThanOrEqual(PAIRS * 16);
    expect(delivery.result.code, delivery.result.output).toBe(99);
  });

  test('ended by the plan and begun again: what went by meanwhile is no loss', async ({
    broker,
    workspace,
  }) => {
    const publish = { devices: 'publish' };
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: DEVICES,
        subscribers: WATCHING,
        stages: [
          { name: 'first', run: { ...publish, watchers: 'subscribe' }, for: '2s' },
          { name: 'away', run: { ...publish, watchers: 'disconnect' }, for: '2s' },
          { name: 'again', run: { ...publish, watchers: 'subscribe' }, for: '2s' },
        ],
      },
    );
    expect(delivery.rows).toHaveLength(1);
    expect(delivery.rows[0]).toMatchObject({
      lost: 0,
      duplicated: 0,
      reordered: 0,
      unexpected: 0,
      foreign: 0,
      unresolved: 0,
      unverifiable: 0,
      undecidedPairs: 0,
      inexactPairs: 0,
    });
    // Both stages with subscribers, but for what was on its way when they went.
    expect(delivery.rows[0]?.unique).toBeGreaterThan(PAIRS * 14);
    expect(delivery.rows[0]?.unique).toBeLessThanOrEqual(delivery.came('toSubscriber'));
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });

  test('retained copies for a late subscriber are arrivals, neither losses nor duplicates', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, more: { retain: true } } },
        subscribers: { ...WATCHING, late: { clients: 3, topic: 'devices/#' } },
        stages: [
          { name: 'load', run: { devices: 'publish', watchers: 'subscribe' }, for: '2s' },
          { name: 'late', run: { late: 'subscribe' }, for: '1s' },
        ],
      },
    );
    expect(delivery.rows).toEqual([
      row({
        from: 'devices',
        to: 'late',
        pairs: 3 * CLIENTS,
        expected: 3 * CLIENTS,
        retained: 3 * CLIENTS,
      }),
      row({ ...USUAL, expected: PAIRS * 8 }),
    ]);
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });
});

describe.concurrent('clients that come and go', { timeout: 90_000 }, () => {
  test('churn, takeovers and storms of kept sessions lose nothing, and nothing is made up', async ({
    broker,
    workspace,
  }) => {
    const connect = { ...KEPT, retries: 3 };
    const publish = { devices: 'publish' };
    const topic = 'devices/+/up';
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: DEVICES,
        subscribers: {
          kept: { clients: 4, topic, connect },
          clean: { clients: 4, topic },
          guests: { clients: 6, topic, connect: { rate: '50/s' } },
        },
        every: '100ms',
        stages: [
          { name: 'all', run: { ...publish, kept: 'subscribe', clean: 'subscribe' }, for: '1s' },
          {
            name: 'churn',
            run: { ...publish, guests: [{ churn: { rate: '6/s', stay: '400ms' } }, 'subscribe'] },
            for: '2s',
          },
          {
            name: 'takeover',
            run: {
              ...publish,
              kept: { takeover: { rate: '4/s' } },
              clean: { takeover: { rate: '4/s' } },
            },
            for: '2s',
          },
          {
            name: 'storm',
            run: { ...publish, kept: { disconnect: { share: '50%', reconnect: '10/s' } } },
            for: '2s',
          },
        ],
      },
      { agents: 2 },
    );
    const by = new Map(delivery.rows.map((each) => [each.to, each]));
    // Their sessions are kept over all of it: every message, and perhaps again what was not acknowledged.
    const all = 70 * CLIENTS * 4;
    expect(by.get('kept')).toMatchObject({ expected: all, unique: all, lost: 0, lostSession: 0 });
    for (const to of ['clean', 'guests']) {
      expect(by.get(to)?.unique, to).toBeGreaterThan(0);
      expect(by.get(to), to).toMatchObject({ lost: 0, duplicated: 0, unexpected: 0, foreign: 0 });
    }
    expect(delivery.report.verdict, delivery.result.output).toBe('pass');
  });
});

describe.concurrent('loads that are hard on a ledger', { timeout: 90_000 }, () => {
  test('as fast as it goes: every acknowledged message is expected, every fault counted', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: {
          devices: {
            clients: 3,
            streams: [{ topic: 'devices/{{n}}/up', every: undefined, ...MAX }],
          },
        },
        subscribers: WATCHING,
        length: '2s',
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 397 },
          { way: 'toSubscriber', kind: 'duplicate', every: 401 },
          { way: 'toSubscriber', kind: 'corrupt', at: 77, every: 409 },
        ],
      },
    );
    const [dropped, duplicated, corrupted] = [0, 1, 2].map((k) => count(delivery, k));
    const { acked = 0, publish_failed: failed = 0 } =
      delivery.report.groups['devices']?.counters ?? {};
    expect(failed).toBe(0);
    expect(delivery.rows).toEqual([
      row({
        ...USUAL,
        pairs: 3 * WATCHERS,
        expected: acked * WATCHERS,
        lost: (dropped ?? 0) + (corrupted ?? 0),
        duplicated: duplicated ?? 0,
        corrupted: corrupted ?? 0,
      }),
    ]);
  });

  test('more gaps than a pair may list: the sums stay exact', async ({ broker, workspace }) => {
    const delivery = await deliver(
      { broker, workspace },
      { ...ONE_BY_ONE, length: '6s' },
      { faults: [{ way: 'toSubscriber', kind: 'drop', every: 2 }] },
    );
    const lost = count(delivery, 0);
    expect(lost).toBe(1_500);
    expect(delivery.rows).toEqual([row({ ...USUAL, pairs: 1, expected: 3_000, lost })]);
  });

  test('a message from a gap that is listed no longer: said to be inexact, not made up', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      { ...ONE_BY_ONE, length: '6s', more: { settle: { quiet: '4s', max: '20s' } } },
      {
        faults: [
          { way: 'toSubscriber', kind: 'hold', ms: 6_500, where: (p) => seqOf(p) === 20 },
          { way: 'toSubscriber', kind: 'drop', every: 2 },
        ],
      },
    );
    const [only] = delivery.rows;
    expect(only?.inexactPairs).toBe(1);
    expect(only?.expected).toBe(3_000);
    expect(Math.abs((only?.lost ?? 0) - count(delivery, 1))).toBeLessThanOrEqual(1);
    expect(delivery.report.ledger[0]?.remark).toMatch(/bounds/);
  });

  test('a broker that drops QoS 1 in silence because its queues are short is found out', async ({
    workspace,
    skip,
  }) => {
    const missing = mosquittoMissing();
    if (missing !== null) skip(missing);
    const broker = await Mosquitto.start(['max_inflight_messages 5', 'max_queued_messages 10']);
    try {
      const delivery = await deliver(
        { broker, workspace },
        { publishers: DEVICES, subscribers: WATCHING, more: { settle: SLOW } },
        // Subscribers that take their time to acknowledge.
        { faults: [{ way: 'ackToBroker', kind: 'hold', ms: 1_200 }] },
      );
      const lost = delivery.came('toBroker') * WATCHERS - delivery.came('toSubscriber');
      expect(lost).toBeGreaterThan(0);
      expect(delivery.rows).toEqual([row({ ...USUAL, expected: EXPECTED, lost })]);
      expect(delivery.result.code, delivery.result.output).toBe(99);
    } finally {
      await broker.dispose();
    }
  });

  test('a run that is interrupted: what was sent until then is accounted for', async ({
    broker,
    workspace,
  }) => {
    const plan = deliveryPlan(broker.url, {
      publishers: DEVICES,
      subscribers: WATCHING,
      length: '60s',
    });
    const running = workspace.start([workspace.plan(plan), '--agents', '2', '--workers', '1']);
    await running.seen(/stage publish\n/);
    await delay(2_000);
    running.child.kill('SIGINT');
    const result = await running.result;
    const report = reportOf(result);
    const { acked = 0 } = report.groups['devices']?.counters ?? {};
    expect(acked).toBeGreaterThan(0);
    expect(ledgerOf(report), result.output).toEqual([
      row({ ...USUAL, expected: acked * WATCHERS }),
    ]);
    expect(report.verdict).toBe('cancelled');
  });
});

const MAX = { rate: 'max', inflight: 4 };
const SLOW = { quiet: '3s', max: '30s' };
/** One publisher, 500 messages a second, one subscriber. */
const ONE_BY_ONE: DeliveryNeeds = {
  publishers: { devices: { clients: 1, more: { inflight: 1_000 } } },
  subscribers: { watchers: { clients: 1, topic: 'devices/1/up' } },
  every: '2ms',
};
