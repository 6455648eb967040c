import { setTimeout as delay } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { devicesPlan, seriesOf } from '../fixtures/plans.ts';
import { freePort } from '../fixtures/process.ts';
import type { RedisServer } from '../fixtures/redis.ts';
import { redisTest as test } from '../fixtures/redis-test.ts';
import type { ReportJson } from '../fixtures/report-laws.ts';
import {
  type RunningSquall,
  reportOf,
  type SquallResult,
  startSquall,
} from '../fixtures/squall.ts';

/** `SQUALL_LONG=1` runs the minute-long form that a release is shown by. */
const LONG = process.env['SQUALL_LONG'] === '1';
const SECONDS = LONG ? 60 : 24;
const AWAY_MS = LONG ? 30_000 : 10_000;
const CLIENTS = 200;

describe('measurements through Redis', { timeout: (SECONDS + 60) * 1000 }, () => {
  test('5 agents, 700 publishers, 7 subscribers: every frame arrives, the broker agrees, Redis is left clean', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis({ password: 'a-good-secret' });
    const file = workspace.plan(deliveryPlan(broker.url));
    const result = await workspace.run([file, '--agents', '5', '--redis', redis.url]);
    const report = reportOf(result);
    const messages = (700 * SECONDS) / 2;
    expect(report.groups['devices']?.counters).toMatchObject({
      connected: 700,
      planned: messages,
      sent: messages,
      acked: messages,
    });
    expect(report.groups['readers']?.counters).toMatchObject({
      connected: 7,
      received: 7 * messages,
    });
    expectAllFrames(report);
    expect(report.validity, result.output).toMatchObject({ state: 'valid', findings: [] });
    expect(result.code).toBe(0);
    expect(await broker.publishesReceived(messages)).toBe(messages);
    expect(await redis.keys()).toEqual([]);
    // The address is shown, the secret is not, and stands in no file.
    expect(result.output).toContain(`redis://:…@127.0.0.1:${redis.port}`);
    expectNowhere(result, 'a-good-secret');
  });
});

describe.concurrent('Redis that fails in a run', { timeout: (SECONDS + 120) * 1000 }, () => {
  test.for([
    ['stopped and started with its data', { durable: true }],
    ['restarted empty', { durable: false }],
  ] as const)('%s: no gap in the frames', async ([, needs], { broker, workspace, startRedis }) => {
    const redis = await startRedis(needs);
    const running = workspace.start(over(redis, '5', workspace.plan(plan(broker.url))));
    await publishing(running);
    await redis.kill();
    await delay(AWAY_MS);
    await redis.restart();
    const result = await running.result;
    const report = reportOf(result);
    expectSound(report, result);
    expect(checks(report)).toContain('bus_interrupted');
    expect(result.stdout + result.stderr).toMatch(/no measurements come in.*the load goes on/);
    expect(await broker.publishesReceived(CLIENTS * SECONDS)).toBe(CLIENTS * SECONDS);
    expect(await redis.keys()).toEqual([]);
  });

  test('frozen for a while: no gap in the frames, nothing twice', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis();
    const running = workspace.start(over(redis, '5', workspace.plan(plan(broker.url))));
    await publishing(running);
    redis.freeze();
    await delay(AWAY_MS);
    redis.thaw();
    const result = await running.result;
    const report = reportOf(result);
    expectSound(report, result);
    expect(checks(report)).toContain('bus_interrupted');
  });

  test('full for a while: said by name, and no gap in the frames', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis();
    const running = workspace.start(over(redis, '2', workspace.plan(plan(broker.url))));
    await publishing(running);
    await redis.command('CONFIG', 'SET', 'maxmemory', '600kb');
    await delay(AWAY_MS);
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    const result = await running.result;
    const report = reportOf(result);
    expectSound(report, result);
    expect(JSON.stringify(report.validity.findings)).toContain('it is full');
  });

  test('emptied and set to evict: both are findings, and no gap in the frames', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis();
    const running = workspace.start(over(redis, '2', workspace.plan(plan(broker.url))));
    await publishing(running);
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    // Several times: what was read and is acknowledged already is not missed.
    for (let time = 0; time < 40; time++) {
      await redis.command('FLUSHALL');
      await delay(100);
    }
    const result = await running.result;
    const report = reportOf(result);
    expectSound(report, result);
    expect(JSON.stringify(report.validity.findings)).toContain('allkeys-lru');
  });

  test('gone for good: the load goes its whole way, and the report says what is missing', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis();
    const short = devicesPlan({ url: broker.url, clients: CLIENTS, length: '6s' });
    const running = workspace.start(over(redis, '2', workspace.plan(short)));
    await publishing(running);
    await redis.kill();
    const result = await running.result;
    const report = reportOf(result);
    expect(await broker.publishesReceived(CLIENTS * 6)).toBe(CLIENTS * 6);
    expect(report.validity.state).toBe('invalid');
    expect(checks(report)).toEqual(expect.arrayContaining(['frames_missing', 'bus_interrupted']));
    expect(result.code).toBe(111);
    await redis.restart();
  });
});

describe.concurrent('Redis that cannot be used', { timeout: 60_000 }, () => {
  test('absent: told before anything is started', async ({ broker, workspace }) => {
    const url = `redis://:a-good-secret@127.0.0.1:${await freePort()}`;
    const result = await workspace.run([workspace.plan(plan(broker.url)), '--redis', url]);
    expect(result.code).toBe(113);
    expect(result.stderr).toContain('SQ_BUS');
    expect(result.stderr).toContain('nothing listens there');
    expect(result.stdout).not.toContain('agents');
    expectNowhere(result, 'a-good-secret');
  });

  test('the wrong password, in the environment', async ({ broker, workspace, startRedis }) => {
    const redis = await startRedis({ password: 'a-good-secret' });
    const SQUALL_REDIS = redis.url.replace('a-good-secret', 'a-bad-secret');
    const result = await workspace.run([workspace.plan(plan(broker.url))], {
      env: { SQUALL_REDIS },
    });
    expect(result.code).toBe(113);
    expect(result.stderr).toContain('the password, or the user name, is wrong');
    expectNowhere(result, 'a-bad-secret');
  });

  test('one that evicts, and one that is full', async ({ broker, workspace, startRedis }) => {
    const evicting = await startRedis({
      args: ['--maxmemory', '64mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    const full = await startRedis({ args: ['--maxmemory', '600kb'] });
    const file = workspace.plan(plan(broker.url));
    const [first, second] = await Promise.all([
      workspace.run([file, '--redis', evicting.url]),
      workspace.run([file, '--redis', full.url]),
    ]);
    expect([first.code, second.code]).toEqual([113, 113]);
    expect(first.stderr).toMatch(/allkeys-lru[^]*noeviction/);
    expect(second.stderr).toContain('it is full');
  });

  test('an address that is none is a matter of usage, and is not repeated', async ({
    broker,
    workspace,
  }) => {
    const file = workspace.plan(plan(broker.url));
    const results = await Promise.all([
      workspace.run([file, '--redis', 'http://:a-good-secret@h']),
      workspace.run([file, '--redis-for-agents', 'redis://h']),
    ]);
    expect(results.map(({ code }) => code)).toEqual([2, 2]);
    for (const result of results) expectNowhere(result, 'a-good-secret');
  });

  test('out of reach for the agents alone: they refuse, and say why', async ({
    broker,
    workspace,
    startRedis,
  }) => {
    const redis = await startRedis();
    const wrong = `redis://:a-good-secret@127.0.0.1:${await freePort()}`;
    const args = over(redis, '2', workspace.plan(plan(broker.url)));
    const result = await workspace.run([...args, '--redis-for-agents', wrong]);
    expect(result.code).toBe(113);
    const report = reportOf(result);
    expect(report.reasons.join('\n')).toMatch(/agent-1 .*nothing listens there/);
    expectNowhere(result, 'a-good-secret');
  });
});

test('agents by hand get their address of Redis from the controller; two runs share one Redis', async ({
  broker,
  workspace,
  startRedis,
}) => {
  const redis = await startRedis();
  const file = workspace.plan(devicesPlan({ url: broker.url, clients: 100, length: '5s' }));
  const byHand = async () => {
    const out = workspace.out();
    const command = ['controller', '--plan', file, '--agents', '2', '--listen', '127.0.0.1:0'];
    const bus = ['--redis', redis.url, '--redis-for-agents', `redis://localhost:${redis.port}`];
    const controller = startSquall([...command, ...bus, '--out', out], out, {
      env: { SQUALL_TOKEN: 'token' },
    });
    const url = (await controller.seen(/ws:\/\/127\.0\.0\.1:\d+/))[0];
    const agents = ['north', 'south'].map((id) =>
      startSquall(['agent', '--controller', url, '--id', id, '--workers', '1'], '', {
        env: { SQUALL_TOKEN: 'token' },
      }),
    );
    const result = await controller.result;
    for (const agent of agents) agent.child.kill('SIGTERM');
    await Promise.all(agents.map((agent) => agent.result));
    return result;
  };
  const results = await Promise.all([byHand(), byHand()]);
  for (const result of results) {
    const report = reportOf(result);
    expectAllFrames(report);
    expect(report.groups['devices']?.counters).toMatchObject({ sent: 500, acked: 500 });
    expect(result.code, result.output).toBe(0);
  }
  expect(await redis.keys()).toEqual([]);
});

/** The command line of a run through this Redis. */
function over(redis: RedisServer, agents: string, file: string): string[] {
  return [file, '--agents', agents, '--redis', redis.url];
}

function plan(url: string): Record<string, unknown> {
  return devicesPlan({
    url,
    clients: CLIENTS,
    length: `${SECONDS}s`,
    thresholds: [
      'publish_failed: count == 0',
      'publish_time: p(99) < 5s over 5s in publish',
      // Half of the agents' figures of two seconds would break it, and end the run.
      `published: rate > ${0.8 * CLIENTS}/s over 2s in publish, abort after 2s`,
    ],
  });
}

function deliveryPlan(url: string): Record<string, unknown> {
  const devices = devicesPlan({ url, clients: 700, every: '2s', length: `${SECONDS}s` });
  return {
    ...devices,
    groups: {
      readers: {
        target: 'broker',
        clients: 7,
        connect: { rate: '100/s' },
        subscribe: { topic: 'devices/+/up', qos: 1 },
      },
      ...(devices['groups'] as Record<string, unknown>),
    },
    stages: [
      { name: 'connect', run: { readers: 'subscribe', devices: 'connect' } },
      { name: 'publish', run: { devices: 'publish' }, for: `${SECONDS}s` },
    ],
  };
}

/** The load is on and measurements come in. */
async function publishing(running: RunningSquall): Promise<void> {
  await running.seen(/publish {2}00:0[2-9].*acked [1-9]/);
}

/** All was sent, every frame came, no second without figures, thresholds hold. */
function expectSound(report: ReportJson, result: SquallResult): void {
  expectAllFrames(report);
  const messages = CLIENTS * SECONDS;
  expect(report.groups['devices']?.counters).toMatchObject({ sent: messages, acked: messages });
  expect(report.validity.state, result.output).toBe('valid');
  expect(report.verdict, result.output).toBe('pass');
  expect(result.code).toBe(0);
  const seconds = seriesOf(report, 'sent', { group: 'devices' }).filter((sent) => sent > 0);
  expect(seconds.length).toBeGreaterThanOrEqual(SECONDS);
  expect(Math.min(...seconds.slice(2, SECONDS - 2))).toBeGreaterThan(CLIENTS / 2);
}

function expectAllFrames(report: ReportJson): void {
  for (const agent of report.agents) {
    expect(agent.framesProduced, agent.id).toBeGreaterThan(0);
    expect(agent.framesReceived, agent.id).toBe(agent.framesProduced);
  }
}

function checks(report: ReportJson): string[] {
  return report.validity.findings.map(({ check }) => check);
}

/** Neither on the terminal nor in a file of the run. */
function expectNowhere(result: SquallResult, secret: string): void {
  expect(result.output).not.toContain(secret);
  if (result.report === null) return;
  for (const name of ['report.json', 'junit.xml']) {
    expect(readFileSync(path.join(result.out, name), 'utf8')).not.toContain(secret);
  }
}
