import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RequestCode } from '@squall/rocketmq/codec';
import { type Fault, FaultBroker, only } from '@squall/rocketmq/testing';
import { until } from '../fixtures/process.ts';
import { reportOf, squall, Workspace } from '../fixtures/squall.ts';

/**
 * What a RocketMQ broker does wrong, seen in the report of a whole run: each fault by its class and its
 * count, and nothing else.
 */
const { getRouteInfoByTopic, sendMessageV2 } = RequestCode;
const workspace = new Workspace();
let broker: FaultBroker;

beforeAll(async () => {
  broker = await FaultBroker.start();
});

afterAll(async () => {
  await broker.stop();
  workspace.dispose();
});

const MESSAGES = 200;
/** Several runs start at once, on a machine that may have other work. */
const START_MS = 60_000;

interface PlanParts {
  readonly topic: string;
  readonly consumes?: boolean;
  readonly nameServers?: readonly string[];
  readonly retries?: number;
  readonly count?: number;
  readonly rate?: string;
}

/** One sender, so that the n-th message is the n-th. */
function plan(parts: PlanParts) {
  const {
    topic,
    consumes = false,
    nameServers,
    retries = 3,
    count = MESSAGES,
    rate = 'max',
  } = parts;
  const consumers = {
    consumers: {
      target: 'rocketmq',
      clients: 1,
      consume: { topic, group: `${topic}-readers`, from: 'first' },
    },
  };
  return workspace.plan({
    squall: 1,
    name: topic,
    targets: {
      rocketmq: {
        protocol: 'rocketmq',
        nameServers: nameServers ?? ['127.0.0.1:9', broker.address],
      },
    },
    groups: {
      producers: {
        target: 'rocketmq',
        clients: 1,
        connect: { retries, timeout: '2s' },
        publish: { topic, payload: '100B', rate, count, ackTimeout: '500ms' },
      },
      ...(consumes ? consumers : {}),
    },
    stages: [
      {
        name: 'send',
        run: { producers: 'publish', ...(consumes ? { consumers: 'consume' } : {}) },
      },
    ],
    drain: '2s',
    settle: { quiet: '1s', max: '5s' },
  });
}

function inject(topic: string, nth: number, fault: object): void {
  const where: Fault['where'] = ({ ext }) => ext['b'] === topic;
  broker.inject({ code: sendMessageV2, where, ...only(nth), ...fault } as Fault);
}

test('check --connect names the groups of RocketMQ as those that it does not try', async () => {
  const result = await squall(['check', plan({ topic: 'untried' }), '--connect']);
  expect(result.code).toBe(112);
  expect(result.stdout).toMatch(/unknown {2}connect {4,}groups of RocketMQ are not tried yet/);
  expect(broker.requests).toEqual([]);
});

describe.concurrent('a run against a RocketMQ broker with faults', () => {
  test('each answer to a send is counted by its class', async () => {
    const topic = 'answers';
    const refusals: readonly [code: number, remark: string, reason: string][] = [
      [
        14,
        'service not available now. [CL:  0.95 CQ:  0.95 INDEX: -1.00]',
        'SERVICE_NOT_AVAILABLE (14): disk full or a slave',
      ],
      [2, '[OVERLOAD]system busy', 'SYSTEM_BUSY (2) [OVERLOAD]'],
      [2, '[TIMEOUT_CLEAN_QUEUE]broker busy', 'SYSTEM_BUSY (2) [TIMEOUT_CLEAN_QUEUE]'],
      [1, '[PC_SYNCHRONIZED]broker busy', 'SYSTEM_ERROR (1) [PC_SYNCHRONIZED]'],
      [16, 'sending message is forbidden', 'NO_PERMISSION (16)'],
      [17, 'topic not exist', 'TOPIC_NOT_EXIST (17)'],
      [13, 'the message is illegal', 'MESSAGE_ILLEGAL (13)'],
      [29, 'the topic is illegal', 'INVALID_PARAMETER (29)'],
      [1, 'Check signature failed', 'SYSTEM_ERROR (1): signature refused (wrong secret key)'],
    ];
    for (const [k, [code, remark]] of refusals.entries()) {
      inject(topic, 10 * (k + 1), { kind: 'refuse', with: code, remark });
    }
    for (const [k, code] of [10, 11, 12].entries()) {
      inject(topic, 101 + k, { kind: 'refuse', with: code, done: true });
    }
    inject(topic, 31, { kind: 'silent' });
    inject(topic, 41, { kind: 'cut', passing: 20 });
    inject(topic, 17, { kind: 'slow', ms: 100 });
    inject(topic, 18, { kind: 'pieces', bytes: 16 });
    inject(topic, 19, { kind: 'twice' });
    const result = await workspace.run([plan({ topic }), '--workers', '1', '--quiet']);
    const report = reportOf(result);
    const group = report.groups['producers'];
    const expected = Object.fromEntries(refusals.map(([, , reason]) => [reason, 1]));
    expect(group?.reasons['publish_failed']).toEqual({
      ...expected,
      'no acknowledgement within the time-out': 1,
      'connection lost': 1,
    });
    expect(group?.reasons['unconfirmed']).toEqual({
      'FLUSH_DISK_TIMEOUT (10)': 1,
      'SLAVE_NOT_AVAILABLE (11)': 1,
      'FLUSH_SLAVE_TIMEOUT (12)': 1,
    });
    expect(group?.counters).toMatchObject({
      sent: MESSAGES,
      acked: MESSAGES - 11,
      publish_failed: 11,
    });
    expect(broker.requestsOf(sendMessageV2).filter(({ ext }) => ext['b'] === topic)).toHaveLength(
      MESSAGES,
    );
  });

  test('messages that are lost, doubled or damaged after their acknowledgement are found', async () => {
    const topic = 'ledger';
    inject(topic, 50, { kind: 'lose' });
    inject(topic, 100, { kind: 'again' });
    inject(topic, 120, { kind: 'corrupt' });
    const result = await workspace.run([
      plan({ topic, consumes: true }),
      '--workers',
      '1',
      '--quiet',
    ]);
    const { ledger } = reportOf(result);
    expect(result.code).toBe(99);
    expect(ledger).toHaveLength(1);
    // What came damaged did not come as what it was.
    expect(ledger?.[0]).toMatchObject({ lost: 2, duplicated: 1, corrupted: 1 });
  });

  test('a route to an address that is not the broker’s says what is wrong with it', async () => {
    const lost = await FaultBroker.start();
    lost.routedTo = '127.0.0.1:9';
    const file = plan({ topic: 'nowhere', nameServers: [lost.address], retries: 0 });
    const result = await workspace.run([file, '--workers', '1']);
    await lost.stop();
    expect(result.code).not.toBe(0);
    expect(result.output).toContain('127.0.0.1:9 (connection refused)');
    expect(result.output).toContain('brokerIP1');
  });

  test('a route that appears late is waited for; a broker that leaves takes what was under way with it', async () => {
    const [stays, leaves] = await Promise.all([
      FaultBroker.start('stays'),
      FaultBroker.start('leaves'),
    ]);
    stays.peers.push(leaves);
    for (const each of [stays, leaves]) each.store.create('leaving', 2);
    const file = plan({
      topic: 'leaving',
      nameServers: [stays.address],
      rate: '400/s',
      count: 1_200,
    });
    stays.unrouted.add('leaving');
    const running = workspace.run([file, '--workers', '1', '--quiet']);
    await until(
      'the route is asked for, and again',
      () => stays.came(getRouteInfoByTopic) > 5,
      START_MS,
    );
    stays.unrouted.delete('leaving');
    await until(
      'both have some',
      () => stays.came(sendMessageV2) > 50 && leaves.came(sendMessageV2) > 50,
      START_MS,
    );
    leaves.inject({ code: sendMessageV2, ...only(1), kind: 'silent', done: true });
    await until('one is not answered', () => leaves.injected.some(({ count }) => count > 0));
    await leaves.stop();
    const result = await running;
    await stays.stop();
    const group = reportOf(result).groups['producers'];
    const { 'connection lost': lost = 0, ...others } = group?.reasons['publish_failed'] ?? {};
    expect(others).toEqual({});
    // The one that was held back, and what else was under way at that moment.
    expect(lost).toBeGreaterThanOrEqual(1);
    expect(lost).toBeLessThan(10);
    expect(group?.counters).toMatchObject({ sent: 1_200, acked: 1_200 - lost, connect_failed: 0 });
  });

  test('squall rocketmq producer: lines as theirs, and what theirs would have counted otherwise', async () => {
    const topic = 'official';
    inject(topic, 10, { kind: 'refuse', with: 10, done: true });
    inject(topic, 20, { kind: 'refuse', with: 14 });
    inject(topic, 30, { kind: 'refuse', with: 2, remark: '[OVERLOAD]' });
    const words = `rocketmq producer -n ${broker.address} -t ${topic} -w 1 -q ${MESSAGES} --workers 1`;
    const out = workspace.out();
    const result = await squall([...words.split(' '), '--official-output', '4.9', '--out', out]);
    expect(result.stdout).toMatch(
      /^topic: official threadCount: 1 messageSize: 128 aclEnable: false$/m,
    );
    expect(result.stdout).toMatch(
      /^\[Complete\] Send Total: 199 Send TPS: \d+ Max RT\(ms\): \d+ Average RT\(ms\): +\d+\.\d{3} Send Failed: 1 Response Failed: 1$/m,
    );
    expect(result.stderr).toMatch(/note {2}Producer would count 1 messages as sent/);
    expect(result.stderr).toMatch(
      /note {2}Producer would have sent 1 failed messages up to two times/,
    );
    expect(result.stderr).toMatch(/note {2}Producer would have slept 3 s .* each of 1 refusals/);
    expect(result.code).toBe(99);
  });
});
