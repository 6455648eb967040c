import { fileURLToPath } from 'node:url';
import type { Plan } from '@squall/core/plan';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AgentHandle, startAgent } from '../../src/index.ts';
import { type SilentServer, silentServer } from '../clean/silent-server.ts';
import { FakeController, RUN } from './fake-controller.ts';
import { smallPlan } from './plans.ts';

const workerEntry = fileURLToPath(new URL('./fake-worker.mjs', import.meta.url));

let controller: FakeController;
let broker: SilentServer;
let agent: AgentHandle | undefined;

beforeEach(async () => {
  controller = await FakeController.open();
  broker = await silentServer();
});

afterEach(async () => {
  await Promise.all([agent?.stop(), agent?.stop()]);
  await controller.close();
  await broker[Symbol.asyncDispose]();
});

/** Clients that leave sessions on a broker that stands still. */
function planOf(maxUs: number): Plan {
  const plan = smallPlan();
  const [group] = plan.groups;
  const { broker: target } = plan.targets;
  if (group === undefined || target?.protocol !== 'mqtt') throw new Error('no group of MQTT');
  const urls = [{ scheme: 'mqtt', host: '127.0.0.1', port: broker.port, path: '' }] as const;
  return {
    ...plan,
    targets: { broker: { ...target, urls } },
    groups: [{ ...group, connect: { ...group.connect, cleanStart: false } }],
    cleanup: { retained: true, sessions: true, ratePerS: 1_000, maxUs },
  };
}

async function begin(plan: Plan): Promise<void> {
  agent = await startAgent({
    controller: controller.url,
    token: 'secret',
    id: 'a1',
    workers: 2,
    workerEntry,
    limits: { probeSpacingUs: 1_000, sliceWaitUs: 300_000, workerExitUs: 300_000 },
  });
  await controller.next('hello');
  controller.assign(plan, { agent: 'a1', workers: 2 });
  await controller.next('ready');
  controller.advance(0, 100_000);
  await controller.next('started');
}

it('is over by cleanup.max, whatever the broker does, and says so', async () => {
  await begin(planOf(300_000));
  const startedMs = performance.now();
  controller.send({ type: 'finish', ...RUN });
  const { cleaned } = await controller.next('finished');
  expect(performance.now() - startedMs).toBeLessThan(4_000);
  expect(cleaned).toEqual([
    {
      group: 'g',
      retained: 0,
      retainedLeft: 0,
      retainedUnknown: 0,
      sessions: 0,
      sessionsUnknown: 10,
      failures: [{ reason: 'cleanup.max of 300ms was over', count: 0 }],
    },
  ]);
});

it('is left out of a run that is cut off', async () => {
  await begin(planOf(60_000_000));
  controller.send({ type: 'stop', ...RUN, mode: 'hard' });
  controller.send({ type: 'finish', ...RUN });
  expect(await controller.next('finished')).not.toHaveProperty('cleaned');
});

it('is cut off with its run', async () => {
  await begin(planOf(60_000_000));
  controller.send({ type: 'finish', ...RUN });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(controller.all('finished')).toEqual([]);
  controller.send({ type: 'stop', ...RUN, mode: 'hard' });
  const { cleaned } = await controller.next('finished');
  expect(cleaned).toMatchObject([
    { sessionsUnknown: 10, failures: [{ reason: 'the run was cut off', count: 0 }] },
  ]);
});
