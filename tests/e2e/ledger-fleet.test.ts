import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import {
  connectionOf,
  count,
  deliver,
  deliveryPlan,
  type DeliveryNeeds,
  type Fault,
  ledgerOf,
  row,
  type SeenPacket,
  seqOf,
} from '../fixtures/deliveries.ts';
import { redisTest as test } from '../fixtures/redis-test.ts';
import type { ReportJson } from '../fixtures/report-laws.ts';
import { reportOf } from '../fixtures/squall.ts';

/** `SQUALL_LONG=1` runs the minute-long form that a release is shown by. */
const LONG = process.env['SQUALL_LONG'] === '1';
const SECONDS = LONG ? 60 : 12;
const [CLIENTS, WATCHERS] = [700, 7];
const PAIRS = CLIENTS * WATCHERS;
const MESSAGES = CLIENTS * SECONDS;

const NEEDS: DeliveryNeeds = {
  publishers: { devices: { clients: CLIENTS } },
  subscribers: { watchers: { clients: WATCHERS, topic: 'devices/+/up' } },
  every: '1s',
  length: `${SECONDS}s`,
  more: { settle: { quiet: '3s', max: '30s' }, drain: '5s' },
};

describe('700 publishers and 7 subscribers over 5 agents', {
  timeout: (SECONDS + 90) * 1e3,
}, () => {
  test('nothing is lost, and broker, counters and ledger agree, through Redis', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis();
    const plan = deliveryPlan(broker.url, {
      ...NEEDS,
      more: { ...NEEDS.more, thresholds: ['lost: count == 0', 'publish_failed: count == 0'] },
    });
    const file = workspace.plan(plan);
    const result = await workspace.run([file, '--agents', '5', '--redis', redis.url]);
    const report = reportOf(result);
    const expected = MESSAGES * WATCHERS;
    expect(ledgerOf(report), result.output).toEqual([
      row({ from: 'devices', to: 'watchers', pairs: PAIRS, expected }),
    ]);
    expect(report.groups['devices']?.counters).toMatchObject({ sent: MESSAGES, acked: MESSAGES });
    expect(report.groups['watchers']?.counters).toMatchObject({
      received: expected,
      expected,
      lost: 0,
    });
    expect(report.verdict).toBe('pass');
    expect(result.code).toBe(0);
    expect(await broker.publishesReceived(MESSAGES)).toBe(MESSAGES);
  });

  test('single faults among tens of thousands of messages are counted one by one', async ({
    broker,
    workspace,
  }) => {
    const faults: Fault[] = [
      { way: 'toSubscriber', kind: 'drop', every: 9_001 },
      { way: 'toSubscriber', kind: 'duplicate', every: 7_001, where: notTheLast },
      { way: 'toSubscriber', kind: 'swap', every: 5_003, where: notTheLast },
      { way: 'toSubscriber', kind: 'corrupt', at: 90, every: 8_009, where: notTheLast },
      { way: 'ackToPublisher', kind: 'drop', every: 1_009 },
      { way: 'ackToBroker', kind: 'drop', every: 1_013, where: connectionOf('watchers') },
    ];
    const delivery = await deliver({ broker, workspace }, NEEDS, { faults, agents: 5 });
    const [dropped = 0, duplicated = 0, reordered = 0, corrupted = 0, unacked = 0] = faults.map(
      (_, k) => count(delivery, k),
    );
    const [seen] = delivery.rows;
    // A message whose acknowledgement is dropped may be one that was dropped, too: then it is not lost.
    expect(delivery.rows).toHaveLength(1);
    expect(seen).toMatchObject({
      from: 'devices',
      to: 'watchers',
      pairs: PAIRS,
      expected: (MESSAGES - unacked) * WATCHERS,
      unresolved: unacked * WATCHERS,
      duplicated,
      reordered,
      corrupted,
      unexpected: 0,
      foreign: 0,
      unverifiable: 0,
      inexactPairs: 0,
      undecidedPairs: 0,
    });
    const notArrived = unacked * WATCHERS - (seen?.unresolvedArrived ?? 0);
    expect((seen?.lost ?? 0) + notArrived).toBe(dropped + corrupted);
    expect(delivery.result.code, delivery.result.output).toBe(99);
  });

  test('an agent is killed: its pairs cannot be verified and name it, all others are, to the last', async ({
    broker,
    workspace,
  }) => {
    const plan = deliveryPlan(broker.url, {
      ...NEEDS,
      more: { ...NEEDS.more, limits: { onAgentLoss: 'degrade', agentGrace: '3s' } },
    });
    const running = workspace.start([workspace.plan(plan), '--agents', '5']);
    const match = await running.seen(/agent-2 \(pid (\d+)\)/);
    await running.seen(/stage publish/);
    await delay((SECONDS * 1000) / 3);
    process.kill(Number(match[1]), 'SIGKILL');
    const result = await running.result;
    const report = reportOf(result);
    const lost = sharesOf(report, 'agent-2');
    const [devices, watchers] = [CLIENTS - lost.devices, WATCHERS - lost.watchers];
    expect(lost.devices * lost.watchers).toBeGreaterThan(0);
    const [seen, ...others] = ledgerOf(report);
    expect(others).toEqual([]);
    expect(seen, result.output).toEqual(
      row({
        from: 'devices',
        to: 'watchers',
        pairs: devices * watchers,
        expected: devices * watchers * SECONDS,
        unverifiablePairs: PAIRS - devices * watchers,
        unverifiable: seen?.unverifiable ?? 0,
        unverifiableFrom: ['agent-2'],
      }),
    );
    expect(seen?.unverifiable).toBeGreaterThanOrEqual(lost.watchers * devices * SECONDS);
    expect(report.verdict).toBe('inconclusive');
    expect(report.reasons.join('\n')).toMatch(/agent agent-2/);
    expect(result.code).toBe(112);
  });
});

function notTheLast(packet: SeenPacket): boolean {
  return seqOf(packet) < SECONDS - 1;
}

describe('a worker of an agent is killed', { timeout: 90_000 }, () => {
  test('its clients alone cannot be verified', async ({ broker, workspace, skip }) => {
    if (!existsSync('/proc/self/task')) skip('needs /proc to find the workers');
    const plan = deliveryPlan(broker.url, {
      publishers: { devices: { clients: 40 } },
      subscribers: { watchers: { clients: 8, topic: 'devices/+/up' } },
      length: '6s',
      more: { limits: { onAgentLoss: 'degrade', agentGrace: '3s' } },
    });
    const file = workspace.plan(plan);
    const running = workspace.start([file, '--agents', '2', '--workers', '2']);
    const match = await running.seen(/agent-1 \(pid (\d+)\)/);
    await running.seen(/stage publish\n/);
    await delay(2_000);
    const [worker] = childrenOf(Number(match[1]));
    if (worker === undefined) throw new Error('agent-1 has no workers');
    process.kill(worker, 'SIGKILL');
    const result = await running.result;
    const report = reportOf(result);
    // A quarter of all clients was the worker's.
    const [seen, ...others] = ledgerOf(report);
    expect(others).toEqual([]);
    expect(seen, result.output).toEqual(
      row({
        from: 'devices',
        to: 'watchers',
        pairs: 30 * 6,
        expected: 30 * 6 * 24,
        unverifiablePairs: 40 * 8 - 30 * 6,
        unverifiable: seen?.unverifiable ?? 0,
        unverifiableFrom: ['agent-1'],
      }),
    );
    expect(report.verdict).toBe('inconclusive');
    expect(result.code).toBe(112);
  });
});

/** Ids of the processes that a process has started. */
function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** How many clients of each group an agent had. */
function sharesOf(report: ReportJson, agent: string): { devices: number; watchers: number } {
  const workers = report.split.find((share) => share.agent === agent)?.workers ?? [];
  const sum = (group: string) =>
    workers.reduce((clients, worker) => clients + (worker.groups[group]?.clients ?? 0), 0);
  return { devices: sum('devices'), watchers: sum('watchers') };
}
