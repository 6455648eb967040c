import { afterAll, describe, expect, test } from 'vitest';
import { devicesPlan } from '../fixtures/plans.ts';
import { freePort } from '../fixtures/process.ts';
import { reportOf, type SquallResult, Workspace } from '../fixtures/squall.ts';

/** No broker, or one that would be harmed by the plan; brokers that misbehave: `broker-faults`. */
const workspace = new Workspace();
afterAll(() => workspace.dispose());

describe.concurrent('without a broker to speak of', { timeout: 90_000 }, () => {
  test('nobody listens: a verdict in under a minute that names the refusal', async () => {
    const url = `mqtt://127.0.0.1:${await freePort()}`;
    const plan = workspace.plan(
      devicesPlan({ url, thresholds: ['connect_failed: count == 0', 'published: count > 0'] }),
    );
    const result = await workspace.run([plan]);
    expect(result.seconds).toBeLessThan(60);
    expect(result.code).toBe(99);
    const reasons = devicesOf(result).reasons['connect_failed'] ?? {};
    expect(Object.keys(reasons).join(' ')).toMatch(/refused|ECONNREFUSED/i);
    expect(devicesOf(result).counters).toMatchObject({ connected: 0 });
  });

  test('duplicate client ids: the plan is told that they take each other over', async () => {
    const plan = workspace.plan(
      devicesPlan({ url: 'mqtt://127.0.0.1:1', clientId: 'the-same-for-all' }),
    );
    const result = await workspace.run([plan]);
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(/clientId/);
    expect(result.report).toBeNull();
  });
});

function devicesOf(result: SquallResult) {
  const group = reportOf(result).groups['devices'];
  if (group === undefined) throw new Error('the report has no group "devices"');
  return group;
}
