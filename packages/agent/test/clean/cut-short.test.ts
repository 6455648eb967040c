import { NO_MATERIAL, readPlan } from '@squall/core/plan';
import { FaultBroker } from '@squall/mqtt/testing';
import { expect, it } from 'vitest';
import { cleanPlan, type CleanOptions } from '../../src/clean/index.ts';
import { silentServer } from './silent-server.ts';

const CLIENTS = 30;

/** Devices that leave a session and a retained message each. */
function optionsAt(port: number, ratePerS: number, signal: AbortSignal): CleanOptions {
  const read = readPlan(`
squall: 1
name: leftovers
targets: { broker: { protocol: mqtt, urls: ["mqtt://127.0.0.1:${port}"] } }
groups:
  devices:
    target: broker
    clients: ${CLIENTS}
    clientId: "kept-{{n}}"
    connect: { cleanStart: false }
    publish: { topic: "up/{{n}}", qos: 1, retain: true, payload: 64B, rate: 1/s }
stages: [{ name: load, run: { devices: publish }, for: 1s }]
`);
  if (!read.ok) throw new Error(JSON.stringify(read.errors));
  return {
    plan: read.plan,
    shortRun: 'abcd',
    secrets: {},
    ...NO_MATERIAL,
    what: { retained: true, sessions: true },
    dryRun: false,
    ratePerS,
    signal,
  };
}

it('ends at once where the broker stands still, and says of what nobody knows', async () => {
  await using broker = await silentServer();
  const startedMs = performance.now();
  const [devices] = await cleanPlan(optionsAt(broker.port, 1_000, AbortSignal.timeout(300)));
  expect(performance.now() - startedMs).toBeLessThan(2_000);
  expect(devices).toEqual({
    group: 'devices',
    retained: { topics: CLIENTS, found: 0, unknown: CLIENTS, removed: 0, left: 0 },
    sessions: { clients: CLIENTS, removed: 0, failed: CLIENTS },
    rocketmq: null,
    failures: [],
  });
});

it('ends at once though the turns of many are still to come, with what is done', async () => {
  const broker = await FaultBroker.start();
  const startedMs = performance.now();
  const [devices] = await cleanPlan(optionsAt(broker.port, 10, AbortSignal.timeout(500)));
  expect(performance.now() - startedMs).toBeLessThan(2_000);
  const failed = devices?.sessions?.failed ?? 0;
  expect(failed).toBeGreaterThan(CLIENTS / 2);
  expect(failed).toBeLessThan(CLIENTS);
  expect(devices?.retained).toMatchObject({ unknown: CLIENTS, removed: 0 });
  expect(devices?.failures).toEqual([]);
  await broker.close();
});
