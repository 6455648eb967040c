import { setTimeout as delay } from 'node:timers/promises';
import { connectAsync } from 'mqtt';
import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import {
  connectionOf,
  count,
  deliver,
  deliveryPlan,
  type Fault,
  LAST,
  MESSAGES,
  only,
  row,
  seqOf,
} from '../fixtures/deliveries.ts';
import { reportOf } from '../fixtures/squall.ts';

const [CLIENTS, WATCHERS] = [6, 2];
const EXPECTED = CLIENTS * WATCHERS * MESSAGES;
const DEVICES = { devices: { clients: CLIENTS } };
const WATCHING = { watchers: { clients: WATCHERS, topic: 'devices/+/up' } };
const USUAL = { from: 'devices', to: 'watchers', pairs: CLIENTS * WATCHERS, expected: EXPECTED };
const oneLost: Fault = { way: 'toSubscriber', kind: 'drop', ...only(20) };

/** What the ledger does to a run's verdict when nobody asks, and when somebody does. */
describe.concurrent('judged without being asked', { timeout: 90_000 }, () => {
  test('one message lost at QoS 1 fails the run, and is shown by its number', async ({
    broker,
    workspace,
  }) => {
    const last: Fault = {
      way: 'toSubscriber',
      kind: 'drop',
      where: (packet) =>
        seqOf(packet) === LAST &&
        packet.stamp?.publisher === 2 &&
        connectionOf('watchers', 2)(packet),
    };
    const { report, result, rows } = await deliver(
      { broker, workspace },
      { publishers: DEVICES, subscribers: WATCHING },
      { faults: [last] },
    );
    expect(rows).toEqual([row({ ...USUAL, lost: 1 })]);
    expect(report.verdict, result.output).toBe('fail');
    expect(result.code).toBe(99);
    expect(report.ledger[0]).toMatchObject({
      state: 'fail',
      examples: { lost: [{ client: 'devices.3', subscriber: 'watchers.2', seq: LAST }] },
    });
    expect(report.reasons.join('\n')).toMatch(
      /devices → watchers: 1 of 144 messages lost at QoS 1/,
    );
    expect(result.stdout).toMatch(/devices → watchers/);
    expect(result.junit).toMatch(/<failure[^>]*lost/);
  });

  test('one message corrupted fails the run even at QoS 0', async ({ broker, workspace }) => {
    const { report, result, rows } = await deliver(
      { broker, workspace },
      { publishers: { devices: { clients: CLIENTS, qos: 0 } }, subscribers: WATCHING },
      { faults: [{ way: 'toSubscriber', kind: 'corrupt', at: 55, ...only(30) }] },
    );
    expect(rows).toEqual([row({ ...USUAL, qos: 0, lost: 1, corrupted: 1 })]);
    expect(report.reasons.join('\n'), result.output).toMatch(/1 message corrupted/);
    expect(result.code).toBe(99);
    const counters = report.groups['watchers']?.counters;
    expect(counters).toMatchObject({ corrupted: 1, lost: 1, expected: EXPECTED });
  });

  test.for([
    ['lost at QoS 0', { ...oneLost }, 0, { lost: 1 }],
    ['duplicated at QoS 1', { ...oneLost, kind: 'duplicate' }, 1, { duplicated: 1 }],
    ['reordered', { ...oneLost, kind: 'swap' }, 1, { reordered: 1 }],
  ] as [string, Fault, 0 | 1, object][])(
    '%s is told and fails nothing',
    async ([, fault, qos, figures], { broker, workspace }) => {
      const { report, result, rows } = await deliver(
        { broker, workspace },
        { publishers: { devices: { clients: CLIENTS, qos } }, subscribers: WATCHING },
        { faults: [fault] },
      );
      expect(rows).toEqual([row({ ...USUAL, qos, ...figures })]);
      expect(report.verdict, result.output).toBe('pass');
      expect(result.code).toBe(0);
    },
  );

  test('what is lost in a warm-up is told and fails nothing', async ({ broker, workspace }) => {
    const { report, result, rows } = await deliver(
      { broker, workspace },
      {
        publishers: DEVICES,
        subscribers: WATCHING,
        stages: [
          { name: 'subscribe', run: { watchers: 'subscribe' } },
          { name: 'warm', run: { devices: 'publish' }, for: '1s', warmup: true },
          { name: 'load', run: { devices: 'publish' }, for: '2s' },
        ],
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 5, where: ({ stamp }) => stamp?.stage === 1 },
        ],
      },
    );
    expect(rows[0]?.lost).toBe(9);
    expect(report.verdict, result.output).toBe('pass');
    expect(result.code).toBe(0);
  });

  test('`verify: off` switches it off: nothing is checked, and that is said', async ({
    broker,
    workspace,
  }) => {
    const { report, result, rows } = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, more: { verify: 'off' } } },
        subscribers: WATCHING,
      },
      {
        faults: [
          { way: 'toSubscriber', kind: 'drop', every: 9 },
          { way: 'toSubscriber', kind: 'corrupt', at: -1, every: 10 },
        ],
      },
    );
    expect(rows.filter(({ from }) => from === 'devices')).toEqual([]);
    expect(report.verdict, result.output).toBe('pass');
    expect(result.code).toBe(0);
    expect(JSON.stringify(report)).toMatch(/devices is outside the ledger/);
  });

  test('thresholds may allow what is usual, in counts and shares', async ({
    broker,
    workspace,
  }) => {
    const { report, result } = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, qos: 0 } },
        subscribers: WATCHING,
        more: {
          thresholds: [
            'lost: share < 10%',
            'lost: count == 0',
            'duplicated: count == 0',
            `expected: count == ${EXPECTED}`,
          ],
        },
      },
      { faults: [{ way: 'toSubscriber', kind: 'drop', every: 24 }] },
    );
    expect(report.thresholds.map(({ state }) => state)).toEqual(['pass', 'fail', 'pass', 'pass']);
    expect(result.code, result.output).toBe(99);
  });
});

describe.concurrent('what may be mistaken for a loss', { timeout: 90_000 }, () => {
  test('an acknowledgement that comes too late: unresolved, arrived, and counted nowhere else', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS, more: { ackTimeout: '2s' } } },
        subscribers: WATCHING,
      },
      { faults: [{ way: 'ackToPublisher', kind: 'hold', ms: 3_500, every: 10 }] },
    );
    const times = count(delivery, 0);
    const unresolved = times * WATCHERS;
    expect(delivery.rows).toEqual([
      row({
        ...USUAL,
        expected: EXPECTED - unresolved,
        unresolved,
        unresolvedArrived: unresolved,
      }),
    ]);
    expect(delivery.report.groups['devices']?.counters).toMatchObject({
      sent: CLIENTS * MESSAGES,
      acked: CLIENTS * MESSAGES - times,
      publish_failed: times,
    });
    expect(delivery.result.code, delivery.result.output).toBe(0);
  });

  test('a message that comes within the settling time, long after all others', async ({
    broker,
    workspace,
  }) => {
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: DEVICES,
        subscribers: WATCHING,
        more: { settle: { quiet: '4s', max: '20s' }, drain: '1s' },
      },
      {
        faults: [
          {
            way: 'toSubscriber',
            kind: 'hold',
            ms: 2_500,
            where: (packet) => seqOf(packet) === LAST,
            most: 1,
          },
        ],
      },
    );
    expect(count(delivery, 0)).toBe(1);
    expect(delivery.rows).toEqual([row(USUAL)]);
    expect(delivery.result.code, delivery.result.output).toBe(0);
  });

  test('messages of others on the same topics: foreign, and nothing of ours', async ({
    broker,
    workspace,
  }) => {
    const plan = deliveryPlan(broker.url, { publishers: DEVICES, subscribers: WATCHING });
    const running = workspace.start([workspace.plan(plan), '--agents', '2', '--workers', '1']);
    const client = await connectAsync(broker.url);
    await running.seen(/stage publish/);
    await delay(1_000);
    for (let k = 0; k < 5; k++) await client.publishAsync('devices/3/up', 'hello', { qos: 1 });
    await client.endAsync();
    const result = await running.result;
    const report = reportOf(result);
    const foreign = 5 * WATCHERS;
    const known = report.ledger.filter(({ from }) => from === 'devices');
    expect(known).toMatchObject([{ expected: EXPECTED, unique: EXPECTED, foreign: 0 }]);
    expect(report.ledger.find(({ from }) => from === '(unknown)')).toMatchObject({
      to: 'watchers',
      foreign,
      received: foreign,
      expected: 0,
    });
    expect(result.code, result.output).toBe(0);
  });

  test('another run on the same broker and topics is foreign to this one', async ({
    broker,
    workspace,
  }) => {
    const plan = (name: string, ids: string) => {
      const made = deliveryPlan(broker.url, { publishers: DEVICES, subscribers: WATCHING });
      const text = JSON.stringify({ ...made, name });
      return workspace.plan(JSON.parse(text.replaceAll('{{group}}.{{n}}', ids)));
    };
    const args = ['--agents', '2', '--workers', '1'];
    const results = await Promise.all(
      ['a', 'b'].map((name) => workspace.run([plan(name, `${name}.{{group}}.{{n}}`), ...args])),
    );
    for (const result of results) {
      const { ledger } = reportOf(result);
      expect(ledger.filter(({ from }) => from === 'devices')).toMatchObject([
        { expected: EXPECTED, unique: EXPECTED, duplicated: 0, corrupted: 0, unexpected: 0 },
      ]);
      expect(ledger.find(({ from }) => from === '(unknown)')?.foreign).toBeGreaterThan(0);
      expect(result.code, result.output).toBe(0);
    }
  });

  test('a subscriber that loses its connection: what it misses is lost, and says why', async ({
    broker,
    workspace,
  }) => {
    const connect = { retries: 5, backoff: { min: '700ms', max: '1s' } };
    const delivery = await deliver(
      { broker, workspace },
      {
        publishers: { devices: { clients: CLIENTS } },
        subscribers: { watchers: { ...WATCHING.watchers, connect } },
      },
      {
        faults: [
          {
            way: 'toSubscriber',
            kind: 'cut',
            where: (packet) => seqOf(packet) === 4 && connectionOf('watchers', 1)(packet),
            most: 1,
          },
        ],
      },
    );
    expect(count(delivery, 0)).toBe(1);
    const [only1] = delivery.rows;
    expect(only1).toMatchObject({ expected: EXPECTED, duplicated: 0, reordered: 0 });
    expect(only1?.lost).toBeGreaterThanOrEqual(CLIENTS);
    expect(only1?.lost).toBeLessThan(CLIENTS * MESSAGES);
    expect(only1?.lostDisconnected).toBe(only1?.lost);
    expect(delivery.report.reasons.join('\n')).toMatch(/while the subscriber was disconnected/);
    expect(delivery.report.ledger[0]?.examples['lost']?.[0]).toMatchObject({
      subscriber: 'watchers.1',
      while: 'disconnected',
    });
    expect(delivery.result.code, delivery.result.output).toBe(99);
  });

  test('a publisher that loses its connection: what it never sent is nobody’s loss', async ({
    broker,
    workspace,
  }) => {
    const cut: Fault = {
      way: 'toBroker',
      kind: 'cut',
      where: (packet) => seqOf(packet) === 5 && connectionOf('devices', 2)(packet),
      most: 1,
    };
    const delivery = await deliver(
      { broker, workspace },
      { publishers: DEVICES, subscribers: WATCHING },
      { faults: [cut] },
    );
    // The packet itself was handed over, and went with the connection: nobody can know.
    expect(count(delivery, 0)).toBe(1);
    expect(delivery.rows).toEqual([
      row({ ...USUAL, expected: EXPECTED - WATCHERS, unresolved: WATCHERS }),
    ]);
    expect(delivery.result.code, delivery.result.output).toBe(0);
  });
});
