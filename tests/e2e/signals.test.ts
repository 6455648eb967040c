import { describe, expect } from 'vitest';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import type { Mosquitto } from '../fixtures/mosquitto.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import { isAlive, until } from '../fixtures/process.ts';
import { type RunningSquall, reportOf, type Workspace } from '../fixtures/squall.ts';

describe.concurrent('Ctrl-C', { timeout: 60_000 }, () => {
  test('once: the load ends, acknowledgements are awaited, a report is written', async ({
    broker,
    workspace,
  }) => {
    const running = await publishing(broker, workspace);
    running.child.kill('SIGINT');
    const result = await running.result;
    const report = reportOf(result);
    expect(report.verdict, result.output).toBe('cancelled');
    expect(result.code).toBe(105);
    expect(report.stages.map((stage) => stage.endedBy)).toContain('stopped');
    const counters = report.groups['devices']?.counters ?? {};
    expect(counters['sent']).toBeGreaterThan(0);
    expect(counters['acked']).toBe(counters['sent']);
  });

  test('twice: the load is cut off, a report is written at once', async ({ broker, workspace }) => {
    const running = await publishing(broker, workspace);
    // A frozen broker keeps the graceful end waiting for its acknowledgements.
    broker.freeze();
    running.child.kill('SIGINT');
    await running.seen(/once more/i);
    running.child.kill('SIGINT');
    const startedAt = performance.now();
    const result = await running.result;
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(reportOf(result).verdict).toBe('cancelled');
    expect(result.code).toBe(105);
  });

  test('thrice: it leaves at once and leaves no process behind', async ({ broker, workspace }) => {
    const running = await publishing(broker, workspace);
    const pid = Number((await running.seen(/agent-1 \(pid (\d+)\)/))[1]);
    for (let n = 0; n < 3; n++) running.child.kill('SIGINT');
    await running.ended;
    await until('the agent is gone', () => !isAlive(pid));
    expect(isAlive(pid)).toBe(false);
  });

  test('again when the report is written: the exit code stays, and nobody lingers', async ({
    broker,
    workspace,
  }) => {
    const running = await publishing(broker, workspace);
    running.child.kill('SIGINT');
    await running.seen(/^report\s/m);
    const reportedAt = performance.now();
    for (let n = 0; n < 2; n++) running.child.kill('SIGINT');
    const result = await running.result;
    expect([result.code, result.signal]).toEqual([105, null]);
    expect(performance.now() - reportedAt).toBeLessThan(2_000);
  });

  test('never: processes end of their own accord as soon as the report is written', async ({
    broker,
    workspace,
  }) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '1s' }));
    const running = workspace.start([plan, '--agents', '2']);
    await running.seen(/^junit\s/m);
    const reportedAt = performance.now();
    expect((await running.result).code).toBe(0);
    // Well below the patience after which children are killed.
    expect(performance.now() - reportedAt).toBeLessThan(2_000);
  });

  test('before the load begins: it ends without one', async ({ broker, workspace }) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '30s' }));
    const running = workspace.start([plan, '--agents-external', '1', '--listen', '127.0.0.1:0']);
    await running.seen(/ws:\/\/127\.0\.0\.1:\d+/);
    running.child.kill('SIGINT');
    const result = await running.result;
    expect(result.code).toBe(105);
    const report = reportOf(result);
    expect(report.validity.state).toBe('valid');
    expect(result.output).not.toMatch(/not healthy|cannot be believed/);
  });
});

async function publishing(broker: Mosquitto, workspace: Workspace): Promise<RunningSquall> {
  const plan = workspace.plan(devicesPlan({ url: broker.url, length: '60s' }));
  const running = workspace.start([plan, '--agents', '2']);
  await running.seen(/publish\s.*[1-9]\d*\/s/);
  return running;
}
