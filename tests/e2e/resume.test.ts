import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { durableTest as test } from '../fixtures/durable-test.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import type { ReportJson } from '../fixtures/report-laws.ts';

/** `SQUALL_LONG=1` runs the minute-long form that a release is shown by. */
const LONG = process.env['SQUALL_LONG'] === '1';
const SECONDS = LONG ? 60 : 16;
const AWAY_MS = LONG ? 12_000 : 5_000;
const AGENTS = LONG ? 5 : 2;
const CLIENTS = LONG ? 700 : 100;
const READERS = LONG ? 7 : 2;

interface ReadersNeeds {
  readonly url: string;
  readonly seconds: number;
  readonly connectRate?: string;
  readonly quiet?: string;
}

/** Devices and readers of all that they publish. */
function readersPlan({ url, seconds, connectRate = '500/s', quiet = '4s' }: ReadersNeeds) {
  const plan = devicesPlan({
    url,
    clients: CLIENTS,
    connectRate,
    length: `${seconds}s`,
    thresholds: THRESHOLDS,
  });
  const groups = plan['groups'];
  if (typeof groups !== 'object') throw new Error('the plan has no groups');
  return {
    ...plan,
    groups: {
      ...groups,
      readers: {
        target: 'broker',
        clients: READERS,
        connect: { rate: '100/s' },
        subscribe: { topic: 'devices/+/up', qos: 1 },
      },
    },
    stages: [
      { name: 'connect', run: { readers: ['connect', 'subscribe'], devices: 'connect' } },
      { name: 'publish', run: { devices: 'publish' }, for: `${seconds}s` },
    ],
    settle: { quiet, max: '60s' },
    limits: { agents: { count: AGENTS }, agentGrace: '30s' },
  };
}

const THRESHOLDS = [
  'connect_failed: count == 0',
  'publish_failed: count == 0',
  'lost: count == 0',
  'duplicated: count == 0',
  `sent: rate > ${0.7 * CLIENTS}/s over 2s in publish`,
];

describe.concurrent('a controller that is killed', { timeout: (SECONDS + 120) * 1000 }, () => {
  test.for(['link', 'redis'] as const)(
    'in the middle of a stage goes on with the run: bus %s, and the broker agrees',
    async (bus, { broker, startController, startRedis }) => {
      const redis = bus === 'redis' ? await startRedis() : null;
      const over = redis === null ? [] : ['--redis', redis.url];
      const controller = await startController(over);
      await controller.addAgents(AGENTS);
      const id = await controller.submit(readersPlan({ url: broker.url, seconds: SECONDS }));
      await controller.runWhen(id, ({ stage }) => stage === 'publish');
      await delay(SECONDS * 300);
      await controller.kill();
      const sentBefore = await broker.publishesReceived(Infinity, 1_000);
      await delay(AWAY_MS);
      expect(await broker.publishesReceived(Infinity, 1_000), 'the load goes on').toBeGreaterThan(
        sentBefore + (AWAY_MS / 1000 - 2) * CLIENTS,
      );
      await controller.startAgain();
      const report = await controller.report(id);
      expectUndisturbed(report, CLIENTS * SECONDS, controller.output());
      expect(report.notes.join('\n')).toMatch(
        /The controller was started again at .* into the run/,
      );
      expect(report.stages.map(({ name, endedBy }) => [name, endedBy])).toEqual([
        ['connect', 'complete'],
        ['publish', 'duration'],
      ]);
      expect(report.stages[1]?.durationUs).toBe(SECONDS * 1e6);
      expect(await broker.publishesReceived(CLIENTS * SECONDS)).toBe(CLIENTS * SECONDS);
      if (redis !== null) expect(await redis.keys()).toEqual([]);
    },
  );

  test('is started again before its Redis is, and goes on with the run when that is back', async ({
    broker,
    startController,
    startRedis,
  }) => {
    const redis = await startRedis();
    const controller = await startController(['--redis', redis.url]);
    await controller.addAgents(AGENTS);
    const id = await controller.submit(readersPlan({ url: broker.url, seconds: SECONDS }));
    await controller.runWhen(id, ({ stage }) => stage === 'publish');
    await delay(2_000);
    await controller.kill();
    await redis.kill();
    await controller.startAgain();
    await delay(AWAY_MS);
    expect(await controller.run(id)).toMatchObject({ state: 'running', verdict: null });
    expect(controller.output()).toContain('the runs that are taken up wait for it');
    await redis.restart();
    const report = await controller.report(id);
    const messages = CLIENTS * SECONDS;
    expect(report.groups['devices']?.counters).toMatchObject({ sent: messages, acked: messages });
    expect(
      report.agents.every(
        ({ framesReceived, framesProduced }) => framesReceived === framesProduced,
      ),
    ).toBe(true);
    expect(report.verdict, controller.output()).toBe('pass');
    expect(report.validity.findings.map(({ check }) => check)).toContain('bus_interrupted');
    expect(await redis.keys()).toEqual([]);
  });

  test('in a prologue, in a drain and in settle goes on each time', async ({
    broker,
    startController,
  }) => {
    const seconds = 6;
    const controller = await startController();
    await controller.addAgents(AGENTS);
    // Settling takes longer than a machine needs to start a controller twice: where a subscription
    // is shared, nobody knows that everything has arrived before it was quiet for so long.
    const needs = { url: broker.url, seconds, connectRate: `${CLIENTS / 4}/s`, quiet: '20s' };
    const { groups, ...rest } = readersPlan(needs);
    const shared = { topic: 'devices/+/up', share: 'team', qos: 1 };
    const plan = {
      ...rest,
      groups: { ...groups, team: { target: 'broker', clients: 1, subscribe: shared } },
      // One stage that must connect first, slowly: a prologue of some seconds.
      stages: [
        {
          name: 'publish',
          run: { readers: ['connect', 'subscribe'], team: 'subscribe', devices: 'publish' },
          for: `${seconds}s`,
        },
      ],
    };
    const id = await controller.submit(plan);
    await controller.runWhen(id, ({ state }) => state === 'running');
    await delay(1_000);
    await controller.kill();
    expect(await broker.publishesReceived(0), 'it is connecting still').toBe(0);
    await controller.startAgain();
    await controller.runWhen(id, ({ state }) => state === 'settling');
    await controller.kill();
    await controller.startAgain();
    await delay(2_500);
    await controller.runWhen(id, ({ state }) => state === 'settling');
    await controller.kill('SIGTERM');
    await delay(1_000);
    await controller.startAgain();
    const report = await controller.report(id);
    expectUndisturbed(report, CLIENTS * seconds, controller.output());
    expect(report.stages[0]?.durationUs).toBe(seconds * 1e6);
    expect(report.notes.filter((note) => note.includes('was started again'))).toHaveLength(3);
    expect(await broker.publishesReceived(CLIENTS * seconds)).toBe(CLIENTS * seconds);
  });

  test('while runs wait for agents queues them again', async ({ broker, startController }) => {
    const controller = await startController();
    const plan = readersPlan({ url: broker.url, seconds: 3 });
    const ids = [await controller.submit(plan), await controller.submit(plan)];
    await controller.kill();
    await controller.startAgain();
    await controller.addAgents(AGENTS);
    // Whatever the first one is at when it waits no more: its agents get their shares, most likely.
    await controller.runWhen(ids[0] ?? '', ({ state }) => state !== 'waiting');
    await controller.kill();
    await controller.startAgain();
    for (const id of ids) expectUndisturbed(await controller.report(id), CLIENTS * 3);
  });
});

function expectUndisturbed(report: ReportJson, messages: number, output = ''): void {
  expect(report.groups['devices']?.counters, output).toMatchObject({
    connected: CLIENTS,
    planned: messages,
    scheduled: messages,
    sent: messages,
    acked: messages,
  });
  expect(report.groups['readers']?.counters).toMatchObject({ received: READERS * messages });
  expect(report.verdict, output).toBe('pass');
  expect(report.exitCode).toBe(0);
  expect(report.validity, output).toMatchObject({ state: 'valid' });
  // A busy machine may have its notes; nothing may be said of what the restart could have touched.
  const touched = report.validity.findings.filter(({ check }) =>
    /^(bus|frames|agent)_/.test(check),
  );
  expect(touched).toEqual([]);
  expect(report.books.filter(({ holds }) => !holds)).toEqual([]);
  for (const agent of report.agents) {
    expect(agent).toMatchObject({ state: 'completed', framesReceived: agent.framesProduced });
  }
}
