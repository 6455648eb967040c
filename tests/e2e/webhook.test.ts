import { beforeEach, describe, expect } from 'vitest';
import { Bridge, type BridgeFaults } from '../fixtures/bridge.ts';
import { brokerTest as test } from '../fixtures/broker-test.ts';
import type { Mosquitto } from '../fixtures/mosquitto.ts';
import { mosquittoMissing } from '../fixtures/mosquitto.ts';
import { freePort } from '../fixtures/process.ts';
import { noTimeNamespace } from '../fixtures/time-namespace.ts';
import { reportOf, squall, type SquallResult, startSquall } from '../fixtures/squall.ts';
import type { Workspace } from '../fixtures/squall.ts';

const TOKEN = { SQUALL_TOKEN: 'a-token-of-the-test' };

interface Scene {
  readonly broker: Mosquitto;
  readonly workspace: Workspace;
  /** Of the publishing, two messages a second and device. */
  readonly length: string;
  readonly faults?: BridgeFaults;
}

interface Outcome {
  readonly result: SquallResult;
  /** What the sink said at its end. */
  readonly sink: SquallResult;
}

interface PlanFacts {
  readonly listen: number;
  readonly sink: number;
  readonly length: string;
}

function planFor(broker: string, ports: PlanFacts) {
  return {
    squall: 1,
    name: 'hooks',
    targets: { broker: { protocol: 'mqtt', urls: [broker] } },
    groups: {
      devices: {
        target: 'broker',
        clients: 20,
        connect: { rate: '1000/s' },
        publish: { topic: 'devices/{{n}}/up', qos: 1, payload: '200B', every: '500ms' },
      },
    },
    stages: [
      { name: 'connect', run: { devices: 'connect' } },
      { name: 'publish', run: { devices: 'publish' }, for: ports.length },
    ],
    probes: {
      own: { type: 'webhook', listen: `127.0.0.1:${ports.listen}`, interval: '1s' },
      sink: { type: 'webhook', url: `http://127.0.0.1:${ports.sink}`, interval: '1s' },
      host: { type: 'host', agent: 'broker-host', interval: '1s' },
    },
    thresholds: [
      'own.hook_latency_p99: value < 30s',
      'own.lost: value == 0',
      'host.cpu_used: max <= 100%',
    ],
    balance: { settle: { max: '3s' }, equal: ['devices.acked', 'own.unique', 'sink.unique'] },
  };
}

const address = (port: number) => ({ hook: `http://127.0.0.1:${port}/hook` });

/** A run over one agent that makes the load and one that observes, and a bridge to two hooks. */
async function play({ broker, workspace, length, faults = {} }: Scene): Promise<Outcome> {
  const ports = { listen: await freePort(), sink: await freePort(), length };
  const sink = startSquall(
    ['sink', 'webhook', '--listen', `127.0.0.1:${ports.sink}`, '--json'],
    '',
  );
  await sink.seen(/webhook on http/);
  const bridge = await Bridge.start({
    broker: broker.url,
    batches: address(ports.listen),
    hook: address(ports.sink),
    ...faults,
  });
  const out = workspace.out();
  const plan = workspace.plan(planFor(broker.url, ports));
  const run = startSquall(
    ['run', plan, '--agents-external', '1', '--listen', '127.0.0.1:0', '--out', out],
    out,
    { env: TOKEN },
  );
  const url = (await run.seen(/ws:\/\/127\.0\.0\.1:\d+/))[0];
  const agent = (...args: string[]) =>
    startSquall(['agent', '--controller', url, ...args], '', { env: TOKEN });
  const observer = agent('--observe', '--id', 'broker-host');
  await observer.seen(/joined/);
  const maker = agent('--id', 'maker', '--workers', '1');
  const result = await run.result;
  await bridge.end();
  for (const one of [observer, maker]) one.child.kill('SIGTERM');
  sink.child.kill('SIGINT');
  const endings = await Promise.all([observer.result, maker.result, sink.result]);
  expect(endings.map(({ code }) => code)).toEqual([0, 0, 0]);
  return { result, sink: endings[2] };
}

const counter = (last: unknown) => expect.objectContaining({ kind: 'counter', last });
const missing = mosquittoMissing();

describe.concurrent('what a rule engine posts', { timeout: 120_000 }, () => {
  beforeEach(({ skip }) => {
    if (missing !== null) skip(missing);
  });

  test('is followed to the hook, one that listens in the run and one elsewhere', async ({
    broker,
    workspace,
  }) => {
    const { result, sink } = await play({ broker, workspace, length: '6s' });
    expect(result.code, result.output).toBe(0);
    const report = reportOf(result);
    const acked = report.groups['devices']?.counters['acked'];
    expect(acked).toBe(240);
    expect(report.balance[0]).toMatchObject({
      values: { 'devices.acked': acked, 'own.unique': acked, 'sink.unique': acked },
      holds: true,
    });
    for (const name of ['own', 'sink']) {
      expect(report.probes[name]).toMatchObject({
        type: 'webhook',
        errors: 0,
        messages: counter(acked),
        unique: counter(acked),
        duplicated: counter(0),
        corrupted: counter(0),
        foreign: counter(0),
        untimed: counter(0),
        lost: { last: 0 },
      });
      const p99 = report.probes[name]?.['hook_latency_p99'];
      expect(p99).toMatchObject({ unit: 'seconds', last: expect.any(Number) });
    }
    // One request a message there; here batches, of whatever had come.
    expect(report.probes['sink']).toMatchObject({ requests: counter(acked) });
    expect(JSON.parse(sink.stdout)).toMatchObject({
      requests: acked,
      unique: acked,
      lost: 0,
      badBodies: {},
      hookLatency: { count: acked },
    });
    expectHosts(result);
  });

  test('is named with its numbers where it is lost or comes twice', async ({
    broker,
    workspace,
  }) => {
    const faults = { dropEvery: 30, duplicateEvery: 25 };
    const { result } = await play({ broker, workspace, length: '2s', faults });
    expect(result.code, result.output).toBe(99);
    const report = reportOf(result);
    expect(report.balance[0]).toMatchObject({ difference: -2, holds: false });
    for (const name of ['own', 'sink']) {
      expect(report.probes[name]).toMatchObject({
        unique: { last: 78 },
        duplicated: { last: 3 },
        lost: { last: 2 },
      });
    }
    expect(report.thresholds.map(({ state }) => state)).toEqual(['pass', 'fail', 'pass']);
  });

  test('is timed at a hook on a host with another clock', async ({ broker, workspace, skip }) => {
    const reason = noTimeNamespace();
    if (reason !== null) skip(reason);
    const port = await freePort();
    const listen = ['--listen', `127.0.0.1:${port}`];
    const sink = startSquall(['sink', 'webhook', ...listen], '', { clockAheadS: 5_000 });
    await sink.seen(/webhook on http/);
    const bridge = await Bridge.start({ broker: broker.url, hook: address(port) });
    const plan = {
      ...planFor(broker.url, { listen: 1, sink: port, length: '1s' }),
      probes: { sink: { type: 'webhook', url: `http://127.0.0.1:${port}` } },
      thresholds: ['sink.hook_latency_max: value < 60s'],
      balance: { settle: { max: '3s' }, equal: ['devices.acked', 'sink.unique'] },
    };
    const result = await workspace.run([workspace.plan(plan), '--agents', '1']);
    await bridge.end();
    sink.child.kill('SIGKILL');
    await sink.result;
    expect(result.code, result.output).toBe(0);
    expect(reportOf(result).probes['sink']).toMatchObject({
      unique: { last: 40 },
      untimed: { last: 0 },
      hook_latency_max: { last: expect.any(Number) },
    });
  });

  test('a listening hook whose port is taken is told, and the load goes on', async ({
    broker,
    workspace,
  }) => {
    const plan = {
      ...planFor(broker.url, { listen: broker.port, sink: 1, length: '1s' }),
      probes: { own: { type: 'webhook', listen: `127.0.0.1:${broker.port}` } },
      stages: [{ name: 'connect', run: { devices: 'connect' } }],
      thresholds: [],
      balance: undefined,
    };
    const result = await workspace.run([workspace.plan(plan), '--agents', '1']);
    expect(result.code, result.output).toBe(0);
    expect(result.output).toMatch(/probe own could not be read before the load: cannot listen/);
    const result2 = await squall(['sink', 'webhook', '--listen', `127.0.0.1:${broker.port}`]);
    expect(result2.stderr).toContain(`cannot listen on 127.0.0.1:${broker.port}`);
    expect(result2.code).not.toBe(0);
  });
});

/** The host that is observed by its agent, and that of the load, in report and time line. */
function expectHosts(result: SquallResult): void {
  const report = reportOf(result);
  expect(report.agents.map(({ id }) => id)).toEqual(['maker']);
  const shares = ['cpu_user', 'cpu_system', 'cpu_idle', 'cpu_iowait', 'memory_used_share'];
  const others = ['load_per_core', 'memory_used', 'net_in', 'net_out', 'tcp_retransmits'];
  expect(Object.keys(report.probes['host'] ?? {})).toEqual(
    expect.arrayContaining([...shares, ...others]),
  );
  const figures = report.agents[0]?.hostFigures ?? {};
  expect(Object.keys(figures)).toEqual(expect.arrayContaining([...shares, ...others]));
  for (const share of shares) {
    expect(figures[share]?.mean).toBeLessThanOrEqual(1);
    expect(figures[share]?.max).toBeGreaterThanOrEqual(figures[share]?.mean ?? 2);
  }
  const ofLoad = report.timeline.series.filter(({ labels }) => labels['agent'] === 'maker');
  expect(ofLoad.map(({ metric }) => metric)).toEqual(
    expect.arrayContaining(['cpu_used', 'net_in']),
  );
}
