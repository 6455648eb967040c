import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { devicesPlan, seriesOf } from '../fixtures/plans.ts';
import { isAlive, until } from '../fixtures/process.ts';
import { type RunningSquall, reportOf, Workspace } from '../fixtures/squall.ts';

/** `SQUALL_LONG=1` runs the minute-long form that a release is shown by. */
const LONG = process.env['SQUALL_LONG'] === '1';
const SECONDS = LONG ? 60 : 12;

let workspace: Workspace;
let broker: Mosquitto;

beforeAll(() => {
  workspace = new Workspace();
});
afterAll(() => workspace.dispose());

beforeEach(async ({ skip }) => {
  const missing = mosquittoMissing();
  if (missing !== null) skip(missing);
  broker = await Mosquitto.start();
});
afterEach(() => broker.dispose());

describe('load over five agents against Mosquitto', { timeout: (SECONDS + 60) * 1000 }, () => {
  test('5 agents × 1,000 clients × 1 msg/s: all acknowledged, valid, and the broker agrees', async () => {
    const plan = workspace.plan(
      devicesPlan({
        url: broker.url,
        clients: 5_000,
        connectRate: '1500/s',
        length: `${SECONDS}s`,
        thresholds: ['connect_failed: count == 0', 'publish_failed: count == 0'],
      }),
    );
    const result = await workspace.run([plan, '--agents', '5']);
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

  test('an agent that is killed is named; the run goes on degraded where the plan says so', async () => {
    const running = await startedRun({ onAgentLoss: 'degrade', agentGrace: '3s' });
    const pid = await agentPid(running, 'agent-2');
    process.kill(pid, 'SIGKILL');
    const result = await running.result;
    const report = reportOf(result);
    expect(report.agents.find((agent) => agent.id === 'agent-2')).toMatchObject({ state: 'lost' });
    expect(JSON.stringify(report.validity.findings)).toContain('agent-2');
    expect(report.validity.state).toBe('degraded');
    expect(report.verdict, result.output).toBe('pass');
    expect(result.code).toBe(0);
    expect(result.stdout).toContain('agent-2');
  });

  test('with --strict a degraded run fails', async () => {
    const running = await startedRun({ onAgentLoss: 'degrade', agentGrace: '3s' }, ['--strict']);
    process.kill(await agentPid(running, 'agent-1'), 'SIGKILL');
    const result = await running.result;
    expect(reportOf(result).verdict).toBe('pass');
    expect(result.code).toBe(111);
  });

  test('an agent that is killed ends the run where the plan says abort', async () => {
    const running = await startedRun({ onAgentLoss: 'abort', agentGrace: '3s' });
    process.kill(await agentPid(running, 'agent-3'), 'SIGKILL');
    const result = await running.result;
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('aborted');
    expect(result.code).toBe(111);
    expect(report.reasons.join(' ')).toContain('agent-3');
    expect(report.stages.map((stage) => stage.endedBy)).toContain('agent_lost');
  });

  test('a broker that stops for 5 s: disconnects and recovery can be seen, validity stays', async () => {
    const plan = workspace.plan(
      devicesPlan({
        url: broker.url,
        clients: 200,
        length: '20s',
        connect: { retries: 30, backoff: { min: '200ms', max: '1s' } },
      }),
    );
    const running = workspace.start([plan, '--agents', '2']);
    await running.seen(/publish\s/);
    await delay(4_000);
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
    expect(acked.slice(second + 1, second + 4), 'nothing is acknowledged meanwhile').toEqual([
      0, 0, 0,
    ]);
    expect(Math.max(...acked.slice(second + 5)), 'and it recovers').toBeGreaterThan(100);
  });

  test('a broker that freezes for 6 s fails the plan; the generator stays valid', async () => {
    const plan = workspace.plan(
      devicesPlan({
        url: broker.url,
        clients: 200,
        length: '20s',
        thresholds: ['publish_time: p(99) < 500ms over 1s in publish'],
      }),
    );
    const running = workspace.start([plan, '--agents', '2']);
    await running.seen(/publish\s/);
    await delay(4_000);
    broker.freeze();
    await delay(6_000);
    broker.thaw();
    const result = await running.result;
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('fail');
    expect(report.validity.state).toBe('valid');
    expect(result.code).toBe(99);
  });

  test('a threshold that fails: exit code 99 and a JUnit failure with the observed value', async () => {
    const plan = workspace.plan(
      devicesPlan({
        url: broker.url,
        thresholds: ['published: rate > 1k/s in publish', 'publish_failed: count == 0'],
      }),
    );
    const result = await workspace.run([plan]);
    const report = reportOf(result);
    expect(result.code).toBe(99);
    expect(report.thresholds.map((threshold) => threshold.state)).toEqual(['fail', 'pass']);
    expect(result.junit).toMatch(/<testsuites?[^>]*failures="1"/);
    expect(result.junit).toMatch(/<failure[^>]*published[^>]*50/);
    expect(result.stdout).toContain('published: rate > 1k/s in publish');
  });

  test('the union of any number of agents is the same load', async () => {
    const plan = workspace.plan(
      devicesPlan({ url: broker.url, clients: 101, publish: { every: undefined, rate: '33.7/s' } }),
    );
    const counts = [];
    for (const agents of ['1', '3']) {
      const report = reportOf(await workspace.run([plan, '--agents', agents]));
      counts.push(report.groups['devices']?.counters['sent']);
    }
    expect(counts[0]).toBe(Math.ceil(33.7 * 5));
    expect(counts[1]).toBe(counts[0]);
  });
});

describe('what is left behind', () => {
  test('no process of a run outlives it', async () => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '2s' }));
    const running = workspace.start([plan, '--agents', '2']);
    const pids = [await agentPid(running, 'agent-1'), await agentPid(running, 'agent-2')];
    await running.result;
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('when the command itself is killed, its agents end too', async () => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '60s' }));
    const running = workspace.start([plan, '--agents', '2']);
    const pids = [await agentPid(running, 'agent-1'), await agentPid(running, 'agent-2')];
    await running.seen(/publish\s/);
    running.child.kill('SIGKILL');
    await running.ended;
    await until('the agents are gone', () => pids.every((pid) => !isAlive(pid)));
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

/** A run of three agents that has been publishing for a few seconds. */
async function startedRun(
  limits: Readonly<Record<string, unknown>>,
  args: readonly string[] = [],
): Promise<RunningSquall> {
  const plan = workspace.plan(
    devicesPlan({ url: broker.url, clients: 300, length: '12s', limits }),
  );
  const running = workspace.start([plan, '--agents', '3', ...args]);
  await running.seen(/publish\s/);
  await delay(4_000);
  return running;
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
