import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type AgentHandle, startAgent } from '@squall/agent';
import { type Controller, type RunHandle, startController } from '@squall/controller';
import { readPlan } from '@squall/core/plan';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BreakableLine } from '../fixtures/breakable-line.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import { until } from '../fixtures/process.ts';

/** A worker is a process of its own and runs the built form; all else runs in this process. */
const workerEntry = fileURLToPath(
  new URL('../../packages/agent/dist/worker/main.js', import.meta.url),
);

const CLIENTS = 60;
const SECONDS = 6;

let broker: Mosquitto;
let controller: Controller;
let line: BreakableLine;
let agents: AgentHandle[];

beforeEach(async ({ skip }) => {
  const missing = mosquittoMissing();
  if (missing !== null) skip(missing);
  broker = await Mosquitto.start();
  controller = await startController({ host: '127.0.0.1', port: 0, token: 'secret' });
  line = await BreakableLine.to(controller.port);
  const urls = [controller.url, `ws://127.0.0.1:${line.port}`];
  agents = await Promise.all(
    urls.map((url, index) =>
      startAgent({
        controller: url,
        token: 'secret',
        id: `agent-${index + 1}`,
        workers: 2,
        workerEntry,
      }),
    ),
  );
  await until('both agents are there', () => controller.agents().length === 2);
});

afterEach(async () => {
  // What a skipped test never started need not be ended.
  await Promise.all((agents ?? []).map((agent) => agent.stop()));
  await controller?.close();
  await line?.close();
  await broker?.dispose();
  const left = workerPids();
  if (left.length > 0) throw new Error(`workers outlive their agents: ${left.join(', ')}`);
});

describe('a run that loses a part', { timeout: 60_000 }, () => {
  test('loses nothing when a link is cut for a while: the books and the broker agree', async () => {
    const run = submit({ agentGrace: '20s' });
    await loaded(run);
    line.break();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    line.mend();
    const report = await run.done;
    const { planned, sent, acked } = report.groups['devices']?.counters ?? {};
    expect({ planned, sent, acked }).toEqual({
      planned: CLIENTS * SECONDS,
      sent: CLIENTS * SECONDS,
      acked: CLIENTS * SECONDS,
    });
    expect(report.verdict).toBe('pass');
    expect(report.books.filter(({ holds }) => !holds)).toEqual([]);
    expect(await broker.publishesReceived(CLIENTS * SECONDS)).toBe(CLIENTS * SECONDS);
  });

  test('ends by the plan when the link stays cut, and the cut-off agent stops its load', async () => {
    const run = submit({ agentGrace: '2s' });
    await loaded(run);
    line.break();
    const report = await run.done;
    expect(report.verdict).toBe('aborted');
    expect(report.reasons.join('\n')).toContain('agent-2');
    await until('every worker is gone', () => workerPids().length === 0);
    // It is an agent like any other as soon as its link is back.
    line.mend();
    await until('agent-2 is there again', () =>
      controller.agents().some(({ id }) => id === 'agent-2'),
    );
  });

  test('goes on without a worker that is killed, and names it, where the plan says degrade', async () => {
    const run = submit({ onAgentLoss: 'degrade' });
    await loaded(run);
    const [pid] = workerPids();
    if (pid === undefined) throw new Error('no worker to kill');
    process.kill(pid, 'SIGKILL');
    const report = await run.done;
    expect(report.verdict).toBe('pass');
    expect(report.validity.state).toBe('degraded');
    expect(JSON.stringify(report.agents)).toContain('killed by SIGKILL');
    const { acked = 0 } = report.groups['devices']?.counters ?? {};
    expect(acked).toBeGreaterThan(0.7 * CLIENTS * SECONDS);
    expect(acked).toBeLessThan(CLIENTS * SECONDS);
  });

  test('is aborted by a killed worker where the plan says so', async () => {
    const run = submit({ onAgentLoss: 'abort' });
    await loaded(run);
    const [pid] = workerPids();
    if (pid === undefined) throw new Error('no worker to kill');
    process.kill(pid, 'SIGKILL');
    const report = await run.done;
    expect(report.verdict).toBe('aborted');
    expect(report.reasons.join('\n')).toContain('killed by SIGKILL');
  });

  test('loses an agent that is told to leave, but not what it had measured', async () => {
    const run = submit({ onAgentLoss: 'degrade' });
    await loaded(run);
    await agents[1]?.stop();
    const report = await run.done;
    expect(report.verdict).toBe('pass');
    expect(JSON.stringify(report.agents)).toContain('left');
    expect(report.books.filter(({ holds }) => !holds)).toEqual([]);
  });
});

function submit(limits: Readonly<Record<string, unknown>>): RunHandle {
  const plan = devicesPlan({
    url: broker.url,
    clients: CLIENTS,
    every: '1s',
    length: `${SECONDS}s`,
    limits: { agents: { count: 2 }, ...limits },
  });
  const read = readPlan(JSON.stringify(plan));
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return controller.submit(read.plan, { version: 'test' });
}

/** Messages are on their way, acknowledgements have come. */
function loaded(run: RunHandle): Promise<void> {
  return new Promise((resolve, reject) => {
    run.onEvent((event) => {
      if (event.type === 'progress' && (event.progress.totals.acked ?? 0) > 0) resolve();
      if (event.type === 'done') reject(new Error(`over already: ${event.report.reasons.join()}`));
    });
  });
}

/** Worker processes of this process. */
function workerPids(): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isOurWorker(pid));
}

function isOurWorker(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    const parent = Number(/^PPid:\s*(\d+)/m.exec(status)?.[1]);
    return parent === process.pid && command.includes('worker');
  } catch {
    return false;
  }
}
