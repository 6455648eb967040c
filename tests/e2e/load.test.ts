import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import type { Mosquitto } from '../fixtures/mosquitto.ts';
import { devicesPlan, seriesOf } from '../fixtures/plans.ts';
import { isAlive, until } from '../fixtures/process.ts';
import { type RunningSquall, reportOf, type Workspace } from '../fixtures/squall.ts';

/** `SQUALL_LONG=1` runs the minute-long form that a release is shown by. */
const LONG = process.env['SQUALL_LONG'] === '1';
const SECONDS = LONG ? 60 : 12;

describe('load over five agents', { timeout: (SECONDS + 60) * 1000 }, () => {
  test('5 agents × 1,000 clients × 1 msg/s: all acknowledged, valid, and the broker agrees', async ({
    broker,
    workspace,
  }) => {
    const plan = devicesPlan({
      url: broker.url,
      clients: 5_000,
      connectRate: '1500/s',
      length: `${SECONDS}s`,
      thresholds: ['connect_failed: count == 0', 'publish_failed: count == 0'],
    });
    const result = await workspace.run([workspace.plan(plan), '--agents', '5']);
    const report = reportOf(result);
    const { counters, reasons } = report.groups['devices'] ?? { counters: {}, reasons: {} };
    const messages = 5_000 * SECONDS;
    expect(counters, JSON.stringify(reasons)).toMatchObject({
      connected: 5_000,
      planned: messages,
      scheduled: messages,
      sent: messages,
      acked: messages,
    });
    expect(report.validity, result.output).toMatchObject({ state: 'valid' });
    expect(report.verdict).toBe('pass');
    expect(result.code).toBe(0);
    expect(report.agents.map((agent) => agent.state)).toEqual(Array(5).fill('completed'));
    expect(clientsPerAgent(report)).toEqual(Array(5).fill(1_000));
    expect(await broker.publishesReceived(messages)).toBe(messages);
  });
});

describe.concurrent('a broker in trouble', { timeout: 90_000 }, () => {
  test('stopped for 5 s: disconnects and recovery can be seen, validity stays', async ({
    broker,
    workspace,
  }) => {
    const plan = devicesPlan({
      url: broker.url,
      clients: 200,
      length: '16s',
      connect: { retries: 30, backoff: { min: '200ms', max: '1s' } },
    });
    const running = workspace.start([workspace.plan(plan), '--agents', '2']);
    await publishing(running, 2_000);
    await broker.stop();
    await delay(5_000);
    await broker.restart();
    const result = await running.result;
    const report = reportOf(result);
    const counters = report.groups['devices']?.counters ?? {};
    expect(counters['disconnected']).toBe(200);
    expect(counters['connected']).toBe(400);
    expect(report.validity.state, result.output).toBe('valid');
    const disconnected = seriesOf(report, 'disconnected', { group: 'devices' });
    const acked = seriesOf(report, 'acked', { group: 'devices' });
    const second = disconnected.findIndex((value) => value > 0);
    expect(second).toBeGreaterThan(0);
    const meanwhile = acked.slice(second + 1, second + 4);
    expect(meanwhile, 'nothing is acknowledged meanwhile').toEqual([0, 0, 0]);
    expect(Math.max(...acked.slice(second + 5)), 'and it recovers').toBeGreaterThan(100);
  });

  test('frozen for 6 s: the plan fails, the generator stays valid', async ({
    broker,
    workspace,
  }) => {
    const plan = devicesPlan({
      url: broker.url,
      clients: 200,
      length: '14s',
      thresholds: ['publish_time: p(99) < 500ms over 1s in publish'],
    });
    const running = workspace.start([workspace.plan(plan), '--agents', '2']);
    await publishing(running, 2_000);
    broker.freeze();
    await delay(6_000);
    broker.thaw();
    const result = await running.result;
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('fail');
    expect(report.validity.state).toBe('valid');
    expect(result.code).toBe(99);
  });
});

describe.concurrent('an agent that is killed', { timeout: 90_000 }, () => {
  test('is named; the run goes on degraded where the plan says so', async ({
    broker,
    workspace,
  }) => {
    const running = await startedRun({ broker, workspace, onAgentLoss: 'degrade' });
    process.kill(await agentPid(running, 'agent-2'), 'SIGKILL');
    const result = await running.result;
    const report = reportOf(result);
    expect(report.agents.find((agent) => agent.id === 'agent-2')).toMatchObject({ state: 'lost' });
    expect(JSON.stringify(report.validity.findings)).toContain('agent-2');
    expect(report.validity.state).toBe('degraded');
    expect(report.verdict, result.output).toBe('pass');
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('agent-2 lost');
  });

  test('makes a run with --strict fail', async ({ broker, workspace }) => {
    const running = await startedRun({ broker, workspace, onAgentLoss: 'degrade' }, ['--strict']);
    process.kill(await agentPid(running, 'agent-1'), 'SIGKILL');
    const result = await running.result;
    expect(reportOf(result).verdict).toBe('pass');
    expect(result.code).toBe(111);
  });

  test('ends the run where the plan says abort', async ({ broker, workspace }) => {
    const running = await startedRun({ broker, workspace, onAgentLoss: 'abort' });
    process.kill(await agentPid(running, 'agent-3'), 'SIGKILL');
    const result = await running.result;
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('aborted');
    expect(result.code).toBe(111);
    expect(report.reasons.join(' ')).toContain('agent-3');
    expect(report.stages.map((stage) => stage.endedBy)).toContain('agent_lost');
  });
});

describe.concurrent('what a run comes to', { timeout: 90_000 }, () => {
  test('a threshold that fails: exit code 99 and a JUnit failure with the observed value', async ({
    broker,
    workspace,
  }) => {
    const plan = devicesPlan({
      url: broker.url,
      thresholds: ['published: rate > 1k/s in publish', 'publish_failed: count == 0'],
    });
    const result = await workspace.run([workspace.plan(plan)]);
    const report = reportOf(result);
    expect(result.code).toBe(99);
    expect(report.thresholds.map((threshold) => threshold.state)).toEqual(['fail', 'pass']);
    expect(result.junit).toMatch(/<testsuites?[^>]*failures="1"/);
    expect(result.junit).toMatch(/<failure[^>]*published[^>]*50/);
    expect(result.stdout).toContain('published: rate > 1k/s in publish');
  });

  test.for([['1'], ['3']] as const)(
    'over %s agents it is the same load',
    async ([agents], { broker, workspace }) => {
      const pace = { every: undefined, rate: '33.7/s' };
      const plan = devicesPlan({ url: broker.url, clients: 101, length: '5s', publish: pace });
      const result = await workspace.run([workspace.plan(plan), '--agents', agents]);
      const counters = reportOf(result).groups['devices']?.counters ?? {};
      expect(counters['sent']).toBe(Math.ceil(33.7 * 5));
    },
  );
});

describe.concurrent('what is left behind', { timeout: 60_000 }, () => {
  test('no process of a run outlives it', async ({ broker, workspace }) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '2s' }));
    const running = workspace.start([plan, '--agents', '2']);
    const pids = [await agentPid(running, 'agent-1'), await agentPid(running, 'agent-2')];
    await running.result;
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('when the command itself is killed, its agents end too', async ({ broker, workspace }) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '60s' }));
    const running = workspace.start([plan, '--agents', '2']);
    const pids = [await agentPid(running, 'agent-1'), await agentPid(running, 'agent-2')];
    await publishing(running, 0);
    running.child.kill('SIGKILL');
    await running.ended;
    await until('the agents are gone', () => pids.every((pid) => !isAlive(pid)));
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

interface StartedRun {
  readonly broker: Mosquitto;
  readonly workspace: Workspace;
  readonly onAgentLoss: 'degrade' | 'abort';
}

/** A run of three agents that has been publishing for some seconds. */
async function startedRun(
  { broker, workspace, onAgentLoss }: StartedRun,
  args: readonly string[] = [],
): Promise<RunningSquall> {
  const limits = { onAgentLoss, agentGrace: '3s' };
  const plan = devicesPlan({ url: broker.url, clients: 300, length: '10s', limits });
  const running = workspace.start([workspace.plan(plan), '--agents', '3', ...args]);
  await publishing(running, 2_000);
  return running;
}

/** Waits until the stage `publish` has been on for the time given. */
async function publishing(running: RunningSquall, forMs: number): Promise<void> {
  await running.seen(/stage publish/);
  await delay(forMs);
}

async function agentPid(running: RunningSquall, name: string): Promise<number> {
  const match = await running.seen(new RegExp(`${name} \\(pid (\\d+)\\)`));
  return Number(match[1]);
}

function clientsPerAgent(report: ReturnType<typeof reportOf>): number[] {
  return report.split.map((share) =>
    share.workers.reduce((sum, worker) => sum + (worker.groups['devices']?.clients ?? 0), 0),
  );
}
