import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect } from 'vitest';
import { Emqx5 } from '../../packages/probes/test/emqx/stand-in-5.ts';
import { nodeState } from '../../packages/probes/test/emqx/stand-in.ts';
import { PageServer } from '../../packages/probes/test/page-server.ts';
import { Bridge, type BridgeFaults } from '../fixtures/bridge.ts';
import { type Database, mariadbMissing } from '../fixtures/mariadb.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { freePort } from '../fixtures/process.ts';
import { sinksTest as test } from '../fixtures/sinks-test.ts';
import type { SquallResult, Workspace } from '../fixtures/squall.ts';

const plans = path.join(path.dirname(path.dirname(fileURLToPath(import.meta.url))), '..', 'plans');

const vars = (values: Readonly<Record<string, string>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ['--var', `${name}=${value}`]);

/** What the plans take their time for. */
const BRIEF = { connects: '500000/s', window: '1s', calm: '1s', settle: '20s' };

interface MysqlRun {
  readonly broker: Mosquitto;
  readonly workspace: Workspace;
  readonly database: Database;
  readonly host?: string;
  readonly scale?: string;
  readonly length?: string;
}

/** The scenario at a thousandth, where nothing else is asked for: 100 devices, 50 messages a second, 6 s. */
async function toMysql(scene: MysqlRun, faults: BridgeFaults = {}): Promise<SquallResult> {
  const { broker, database, workspace, scale = '0.001', length = '6s' } = scene;
  const host = scene.host ?? `http://127.0.0.1:${await freePort()}/metrics`;
  const bridge = await Bridge.start({ broker: broker.url, database, ...faults });
  try {
    return await workspace.run(
      [
        path.join(plans, 'mqtt-to-mysql.yaml'),
        '--scale',
        scale,
        '--agents',
        '2',
        ...vars({
          broker: broker.url,
          database: database.secretUrl('DATABASE_PASSWORD'),
          host,
          length,
          ...BRIEF,
          // What was dropped never comes.
          ...(faults.dropEvery === undefined ? {} : { settle: '3s' }),
        }),
      ],
      { env: { DATABASE_PASSWORD: database.password } },
    );
  } finally {
    await bridge.end();
  }
}

const [balanceOf, ackedOf] = [
  ({ report }: SquallResult) => report?.balance[0],
  ({ report }: SquallResult) => report?.groups['devices']?.counters['acked'] ?? 0,
];

const missing = [mariadbMissing(), mosquittoMissing()].filter((reason) => reason !== null);

describe.concurrent('the published scenarios, scaled, against real servers', {
  timeout: 120_000,
}, () => {
  beforeEach(({ skip }) => {
    if (missing.length > 0) skip(missing.join(', '));
  });

  test('every message reaches the database', async ({ broker, workspace, database, host }) => {
    const result = await toMysql({ broker, workspace, database, host: host.url });
    expect(result.code, result.output).toBe(0);
    const acked = ackedOf(result);
    expect(acked).toBe(300);
    expect(balanceOf(result)).toMatchObject({
      equation: 'devices.acked = rows',
      values: { 'devices.acked': acked, rows: acked },
      difference: 0,
      holds: true,
      state: 'pass',
    });
    const { probes, timeline } = result.report ?? {};
    // The figures that the scenario names for the broker's host.
    for (const figure of ['cpu_user', 'cpu_idle', 'memory_used_share']) {
      expect(probes?.['host']?.[figure]).toMatchObject({ kind: 'gauge', unit: 'share' });
    }
    expect(Object.keys(probes?.['host'] ?? {})).toEqual(
      expect.arrayContaining(['load_per_core', 'net_in', 'net_out', 'memory_used']),
    );
    expect(
      timeline?.series.some(
        ({ metric, labels }) => metric === 'cpu_idle' && labels['probe'] === 'host',
      ),
    ).toBe(true);
    // The last one speaks of the host that the tests themselves keep busy.
    expect(result.report?.thresholds.map(({ state }) => state)).toEqual([
      ...Array.from({ length: 3 }, () => 'pass'),
      expect.stringMatching(/^(pass|warn)$/),
    ]);
    // Neither the plan nor anything else in the output shows what the address holds.
    expect(JSON.stringify(result.report) + result.output).not.toContain(database.password);
    expect(JSON.stringify(result.report) + result.output).not.toContain(
      encodeURIComponent(database.password),
    );
  });

  test('a bridge that drops one in a thousand is named with its number', async ({
    broker,
    workspace,
    database,
  }) => {
    const scene = { broker, workspace, database, scale: '0.01', length: '4s' };
    const result = await toMysql(scene, { dropEvery: 1_000 });
    expect(result.code, result.output).toBe(99);
    expect(balanceOf(result)).toMatchObject({
      values: { 'devices.acked': 2_000, rows: 1_998 },
      difference: -2,
      share: -0.001,
      unresolved: 0,
      holds: false,
      state: 'fail',
    });
    expect(result.report?.reasons.join('\n')).toContain('2 less than the first (0.1%)');
    expect(result.junit).toContain('does not hold');
    // When it opened, and that it never closed.
    const curve = result.report?.timeline.series.find(
      ({ metric }) => metric === 'balance_difference',
    );
    expect(curve?.values.at(-1)).toBe(-2);
    // A host whose exporter is not there is told, and fails nothing: its threshold only warns.
    expect(result.report?.probes['host']).toMatchObject({ readings: 0 });
    expect(result.report?.probes['host']?.reasons['connection refused']).toBeGreaterThan(2);
  });

  test('a bridge that forwards twice is named with its number', async ({
    broker,
    workspace,
    database,
  }) => {
    const result = await toMysql({ broker, workspace, database }, { duplicateEvery: 50 });
    expect(result.code, result.output).toBe(99);
    expect(balanceOf(result)).toMatchObject({ difference: 6, holds: false });
  });

  test('a bridge that stands still is waited for', async ({ broker, workspace, database }) => {
    const stall = { after: 100, ms: 10_000 };
    const result = await toMysql({ broker, workspace, database }, { stall });
    expect(result.code, result.output).toBe(0);
    expect(balanceOf(result)).toMatchObject({ difference: 0, holds: true });
    expect(balanceOf(result)?.settledAfterUs).toBeGreaterThan(2e6);
  });

  test('every message reaches the web server', async ({ broker, workspace, hook, host }) => {
    const bridge = await Bridge.start({ broker: broker.url, hook });
    const result = await workspace.run([
      path.join(plans, 'mqtt-to-webhook.yaml'),
      '--scale',
      '0.001',
      '--agents',
      '2',
      ...vars({ broker: broker.url, hook: hook.status, host: host.url, length: '5s', ...BRIEF }),
    ]);
    await bridge.end();
    expect(result.code, result.output).toBe(0);
    const acked = ackedOf(result);
    expect(acked).toBe(500);
    expect(balanceOf(result)).toMatchObject({
      values: { 'devices.acked': acked, 'hook.requests': acked },
      holds: true,
    });
  });

  test('five bridged nodes deliver to a subscriber on each', async ({ workspace, host }) => {
    const nodes = await cluster();
    const api = await Emqx5.start([nodeState('emqx@n1', { live: 290 })]);
    const page = await PageServer.start('emqx_vm_run_queue 2\nemqx_vm_cpu_use 40\n');
    const urls = Object.fromEntries(nodes.map(({ url }, index) => [`n${index + 1}`, url]));
    const outside = { api: api.url(), page: page.url(), host: host.url };
    const result = await workspace.run([
      workspace.plan(await fanOutOf(urls['n1'] ?? '')),
      '--scale',
      '0.001',
      '--agents',
      '2',
      ...vars({ ...urls, ...outside, length: '3s', connects: '500000/s' }),
    ]);
    await Promise.all([...nodes.map((node) => node.dispose()), api.stop(), page.stop()]);
    expect(result.report?.groups['publishers']?.counters['acked'], result.output).toBe(12_000);
    // One subscriber of every topic on each of the five nodes.
    expect(result.report?.ledger).toMatchObject([
      { expected: 60_000, unique: 60_000, lost: 0, duplicated: 0, state: 'pass' },
    ]);
    expect(result.report?.groups['subscribers']?.counters).toMatchObject({
      connected: 250,
      subscribed: 250,
    });
    expectFanOutFigures(result);
  });
});

/** The plan as it is, and a probe of the Mosquitto that stands in EMQX's place. */
async function fanOutOf(url: string): Promise<string> {
  const text = await readFile(path.join(plans, 'mqtt-fan-out.yaml'), 'utf8');
  const probe = `probes:\n  first: { type: mosquitto, url: "${url}", interval: 1s }\n`;
  return text.replace(/^probes:\n/m, () => probe);
}

/** Those that the scenario names, of whoever can tell them. */
function expectFanOutFigures({ report }: SquallResult): void {
  const figures = {
    cluster: ['connections', 'subscriptions', 'topics', 'bytes_in', 'bytes_out', 'processes'],
    schedulers: ['run_queue', 'cpu_used'],
    first: ['connections', 'subscriptions', 'bytes_in', 'bytes_out', 'messages_dropped'],
    host: ['load', 'load_per_core', 'memory_used', 'cpu_used', 'net_in', 'net_out'],
  };
  for (const [probe, names] of Object.entries(figures)) {
    for (const name of names) {
      const place = [name, 'max'];
      expect(report?.probes[probe], `${probe}.${name}`).toHaveProperty(place, expect.any(Number));
    }
  }
  const connections = report?.probes['first']?.['connections'];
  // Of this node: its fifth of the subscribers, before the publishers come as well.
  expect((connections as { max: number }).max).toBeGreaterThanOrEqual(50);
}

/** Five Mosquittos; the first one forwards everything to the other four. */
async function cluster(): Promise<Mosquitto[]> {
  const others = await Promise.all(Array.from({ length: 4 }, () => Mosquitto.start()));
  const bridges = others.flatMap(({ port }, index) => [
    `connection to-${index + 2}`,
    `address 127.0.0.1:${port}`,
    'topic # out 1',
    'restart_timeout 1',
    'try_private true',
  ]);
  return [await Mosquitto.start(bridges), ...others];
}
