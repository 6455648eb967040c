import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { RocketmqClient } from '@squall/rocketmq';
import { Exporter, exporterMissing, NODE_EXPORTER } from '../fixtures/exporter.ts';
import { RocketmqCluster } from '../fixtures/rocketmq/cluster.ts';
import type { ReportJson } from '../fixtures/report-laws.ts';
import { rocketmqMissing } from '../fixtures/rocketmq/jars.ts';
import { readClock } from '../fixtures/rocketmq/traffic.ts';
import { reportOf, squall, type SquallResult, startSquall, Workspace } from '../fixtures/squall.ts';

const VERSION = '5.3.3';

/** What a run needs of a broker of its own, and what each feature of plans comes to there. */
describe.concurrent('RocketMQ by plans', { timeout: 240_000 }, () => {
  const workspace = new Workspace();
  let cluster: RocketmqCluster | null = null;
  let missing: string | null = null;

  beforeAll(async () => {
    missing = await rocketmqMissing(VERSION);
    if (missing === null) cluster = await RocketmqCluster.start({ version: VERSION });
  }, 240_000);
  afterAll(async () => {
    await cluster?.dispose();
    workspace.dispose();
  });

  const nameServer = ({ skip }: TestContext): string => {
    if (missing !== null) skip(missing);
    return cluster?.nameServer ?? '';
  };

  test('the cold read, scaled: consumers pause, the backlog grows, and all of it is read', async (context) => {
    const names = nameServer(context);
    const noHost = exporterMissing(NODE_EXPORTER.name);
    if (noHost !== null) context.skip(noHost);
    const host = await Exporter.start(NODE_EXPORTER);
    context.onTestFinished(() => host.dispose());
    const vars = { nameServer: names, warm: '2s', read: '4s', host: host.url };
    const flags = Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}=${value}`]);
    const plan = 'plans/rocketmq-cold-read.yaml';
    const result = await workspace.run([plan, ...flags, '--scale', '0.0001', '--agents', '2']);
    expect(result.code, result.output).toBe(0);
    const { host: figures } = reportOf(result).probes;
    for (const name of ['net_in', 'net_out', 'cpu_used', 'load_per_core', 'memory_used_share']) {
      expect(figures, name).toHaveProperty([name, 'max'], expect.any(Number));
    }
    const { groups, stages, ledger, notes, run } = reportOf(result);
    expect(stages.map(({ name, endedBy }) => [name, endedBy])).toEqual([
      ['warm', 'duration'],
      ['backlog', 'condition'],
      ['cold-read', 'duration'],
    ]);
    expect(JSON.stringify(run.scaled)).toContain('until');
    expectColdRead(groups);
    const { acked = 0 } = groups['producers']?.counters ?? {};
    expect(notes.join('\n')).toMatch(/topic-01 grew by [\d,]+ messages, [\d,]+ were acknowledged/);
    expect(ledger[0]).toMatchObject({ from: 'producers', to: 'consumers', lost: 0, state: 'pass' });
    expect(groups['consumers']?.counters).toMatchObject({ received: acked, unread: 0 });
  });

  test('every kind of publishing and consuming, by the books of both sides', async (context) => {
    const result = await workspace.run([workspace.plan(features(nameServer(context)))]);
    expect(result.code, result.output).toBe(0);
    const { groups, ledger, notes } = reportOf(result);
    const came = new Map(ledger.map((row) => [row.to, row]));
    for (const [to, expected] of Object.entries(EXPECTED)) {
      expect(came.get(to), `${to}\n${result.stdout}`).toMatchObject({
        unique: expected,
        lost: 0,
        state: 'pass',
      });
    }
    expect(groups['half']?.reasons['transactions']).toMatchObject({
      committed: 30,
      'rolled back': 10,
    });
    expect(groups['ordered-in']?.counters['offset_faults']).toBe(0);
    expect(groups['failing-in']?.reasons['consume_failed']).toEqual({ 'failed by the plan': 20 });
    expect(groups['oneway']?.counters).toMatchObject({ published: 40, acked: 0, stored: 40 });
    expect(notes.join('\n')).toContain(
      'half grew by 30 messages, 40 were acknowledged, 10 rolled back',
    );
    await expectClean(result.out);
  });

  test('command lines of RocketMQ’s own tools', async (context) => {
    const names = nameServer(context);
    const client = new RocketmqClient({ nameServers: [names], readClock });
    await client.admin.createTopic('tools', { queues: 4 });
    const tool = async (line: string): Promise<SquallResult> => {
      const out = workspace.out();
      const words = `rocketmq ${line} -n 127.0.0.1:9;${names} -t tools --workers 1 --out ${out}`;
      return startSquall(words.split(' '), out).result;
    };
    const [producer, batches, half, consumer] = await Promise.all([
      tool('producer -w 4 -s 128 -q 2000 -k true -l 2 --official-output 4.8'),
      tool('batchproducer -w 2 -b 16 --for 2s'),
      tool('tproducer -w 2 -s 256 -sr 0.5 --for 2s'),
      tool('consumer -g tools-group -w 20 --for 4s'),
    ]);
    for (const each of [producer, batches, half, consumer]) expect(each.code, each.output).toBe(0);
    expect(producer.stdout).toMatch(
      /^\[Complete\] Send Total: 2000 Send TPS: \d+ .* Response Failed: 0$/m,
    );
    expect(figure(groupOf(producer), 'acked')).toBe(2_000);
    expect(figure(groupOf(batches), 'acked')).toBeGreaterThan(16);
    const { committed = 0, 'rolled back': back = 0 } = groupOf(half)?.reasons['transactions'] ?? {};
    expect(Math.abs(committed - back)).toBeLessThanOrEqual(1);
    expect(consumer.stderr).toContain('note  -w is passed over');
    // The topic was there before: no run takes it away.
    expect((await squall(['clean', producer.out])).stdout).toContain('leave nothing');
    expect(await client.admin.hasTopic('tools')).toBe(true);
    await client.end();
  });

  test('name servers that are none, and topics that are nowhere, are told by name', async (context) => {
    const names = nameServer(context);
    const [nowhere, missingTopic] = await Promise.all([
      workspace.run([workspace.plan(refused('127.0.0.1:9', 'any'))]),
      workspace.run([workspace.plan(refused(names, 'nowhere'))]),
    ]);
    expect(whyNot(nowhere)).toMatch(/no name server answers.*connection refused/s);
    expect(whyNot(missingTopic)).toMatch(/nowhere/);
  });
});

type Figures = ReportJson['groups'][string];

function figure(figures: Figures | undefined, name: string): number {
  return figures?.counters[name] ?? Number.NaN;
}

function inStage(figures: Figures | undefined, stage: string, name: string): number {
  return figures?.stages[stage]?.counters[name] ?? 0;
}

function groupOf(result: SquallResult): Figures | undefined {
  return reportOf(result).groups['producers'];
}

/** Topics and groups that the run made are there, are removed, and are not there any more. */
async function expectClean(out: string): Promise<void> {
  const look = await squall(['clean', out, '--dry-run']);
  expect(look.stdout).toMatch(/half-in {2,}groups {2,}1 of the run · 1 found$/m);
  const cleaned = await squall(['clean', out]);
  expect(cleaned.code, cleaned.output).toBe(0);
  expect(cleaned.stdout).toMatch(
    /half-in {2,}groups {2,}1 of the run · 1 found · 1 removed · 0 left$/m,
  );
  expect(cleaned.stdout).not.toMatch(/[1-9]\d* left/);
  const again = await squall(['clean', out, '--dry-run']);
  // Groups may be there once more: 5.x makes one anew, with its topics, when anything of it still comes.
  const topics = again.stdout.split('\n').filter((line) => /^ {2}[a-z]+ +topics /.test(line));
  expect(topics).toHaveLength(8);
  expect(topics.join('\n')).not.toMatch(/[1-9]\d* found/);
}

/** The figures of the published test, of both sides. */
function expectColdRead(groups: ReportJson['groups']): void {
  const { producers, consumers } = groups;
  const acked = figure(producers, 'acked');
  expect(acked).toBeGreaterThan(1_000);
  expect(figure(producers, 'stored')).toBe(acked);
  expect(figure(producers, 'wire_sent')).toBeGreaterThan(figure(producers, 'bytes_sent'));
  // Nobody reads while the backlog grows; the offsets of the group stay.
  expect(inStage(consumers, 'backlog', 'received')).toBe(0);
  const sentThen = inStage(producers, 'cold-read', 'acked');
  expect(inStage(consumers, 'cold-read', 'received')).toBeGreaterThan(sentThen);
  expect(figure(consumers, 'offset_faults')).toBe(0);
  expect(figure(consumers, 'wire_received')).toBeGreaterThan(figure(consumers, 'bytes_received'));
  for (const times of ['born_time', 'stored_time', 'delivery_time']) {
    expect(consumers?.times[times]?.count, times).toBe(acked);
  }
}

const EXPECTED = {
  'batches-in': 200,
  'ordered-in': 60,
  'half-in': 30,
  'oneway-in': 80,
  'packed-in': 40,
  'sql-in': 20,
  'tags-in': 20,
};

/** What each group publishes, by the topic of its name; `<name>-in` reads it. */
function features(names: string) {
  const rate = { payload: '100B', rate: '40/s', count: 40 };
  const publish = {
    batches: { payload: '128B', rate: 'max', batch: 16, keys: 'k{{n}}-{{seq}}', count: 200 },
    ordered: { ...rate, rate: '60/s', count: 60, shardingKey: '{{n}}', ordered: true },
    half: { ...rate, transaction: { rollback: '25%' } },
    oneway: { ...rate, oneway: true },
    packed: { ...rate, payload: { size: '4KB', fill: 'compressible' }, compress: '1KB', queue: 2 },
    sql: { ...rate, properties: { userProperties: { shop: '{{n}}' } } },
    tags: { ...rate, tags: 't{{n}}', every: '100ms', rate: undefined, batch: 4 },
    failing: { ...rate },
  };
  const consume: Record<string, object> = {
    ordered: { ordering: 'orderly' },
    oneway: { broadcast: true },
    packed: { queues: 'fixed' },
    sql: { sql: "shop = '1'" },
    tags: { tags: 't1' },
    failing: { fail: '50%' },
  };
  const senders = Object.entries(publish).map(([name, stream]) => {
    const spec = { target: 'mq', clients: 2, publish: { topic: name, ...stream } };
    return [name, spec] as const;
  });
  const readers = senders.map(([name]) => {
    const entry = { topic: name, group: `${name}-group`, from: 'first', ...consume[name] };
    return [`${name}-in`, { target: 'mq', clients: 2, consume: entry }] as const;
  });
  const run = Object.fromEntries([
    ...senders.map(([name]) => [name, 'publish']),
    ...readers.map(([name]) => [name, 'consume']),
  ]);
  return {
    squall: 1,
    name: 'features',
    targets: {
      mq: {
        protocol: 'rocketmq',
        nameServers: ['127.0.0.1:9', names],
        connections: 2,
        create: { queues: 4 },
      },
    },
    groups: Object.fromEntries([...senders, ...readers]),
    stages: [{ name: 'all', run }],
    settle: { quiet: '3s', max: '10s' },
  };
}

function refused(names: string, topic: string) {
  return {
    squall: 1,
    name: 'refused',
    targets: { mq: { protocol: 'rocketmq', nameServers: [names] } },
    groups: {
      readers: {
        target: 'mq',
        clients: 1,
        connect: { retries: 0, timeout: '2s' },
        consume: { topic, group: 'g' },
      },
    },
    stages: [{ name: 'read', run: { readers: 'consume' }, for: '1s' }],
  };
}

function whyNot(result: SquallResult): string {
  expect(result.code, result.output).not.toBe(0);
  return reportOf(result).reasons.join('\n');
}
