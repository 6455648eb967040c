import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import { reportOf, type SquallResult, startSquall, Workspace } from '../fixtures/squall.ts';

const workspace = new Workspace();
let broker: Mosquitto;

beforeEach(async ({ skip }) => {
  const missing = mosquittoMissing();
  if (missing !== null) skip(missing);
  broker = await Mosquitto.start();
});
afterEach(() => broker.dispose());
afterAll(() => workspace.dispose());

const TOKEN = { SQUALL_TOKEN: 'a-token-of-the-test' };

describe('agents started by hand', { timeout: 60_000 }, () => {
  test.for([
    ['squall run', (plan: string) => ['run', plan, '--agents-external', '3']],
    ['squall controller', (plan: string) => ['controller', '--plan', plan, '--agents', '3']],
  ] as const)('%s over them is the same run', async ([_name, command]) => {
    const plan = workspace.plan(devicesPlan({ url: broker.url, clients: 100 }));
    const out = workspace.out();
    const args = [...command(plan), '--listen', '127.0.0.1:0', '--out', out];
    const controller = startSquall(args, out, { env: TOKEN });
    const url = (await controller.seen(/ws:\/\/127\.0\.0\.1:\d+/))[0];
    const agents = ['north', 'east', 'south'].map((id) =>
      startSquall(['agent', '--controller', url, '--id', id, '--workers', '1'], '', { env: TOKEN }),
    );
    const byHand = await controller.result;
    for (const agent of agents) agent.child.kill('SIGTERM');
    const endings = await Promise.all(agents.map((agent) => agent.result));
    expect(endings.map((ending) => ending.code)).toEqual([0, 0, 0]);

    const composed = await workspace.run([plan, '--agents', '3']);
    expect(figures(byHand)).toEqual(figures(composed));
    expect(reportOf(byHand).agents.map((agent) => agent.id)).toEqual(['east', 'north', 'south']);
    expect(byHand.code).toBe(0);
  });
});

/** What must be the same however the agents came to be. */
function figures(result: SquallResult) {
  const report = reportOf(result);
  const { planned, sent, acked, connected } = report.groups['devices']?.counters ?? {};
  const ranges = report.split.map((share) => share.workers.map((worker) => worker.groups));
  return { planned, sent, acked, connected, ranges, verdict: report.verdict };
}
