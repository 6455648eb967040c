import { connectAsync, type MqttClient } from 'mqtt';
import { openProbe, type Probe, ProbeError } from '@squall/probes';
import { describe, expect, test as plain } from 'vitest';
import { rabbitMqMissing, startManagedRabbitMq } from '../fixtures/brokers/rabbitmq.ts';
import { Exporter, exporterMissing } from '../fixtures/exporter.ts';
import { Mosquitto } from '../fixtures/mosquitto.ts';
import { until } from '../fixtures/process.ts';
import { Prometheus } from '../fixtures/prometheus.ts';
import { redisMissing, RedisServer } from '../fixtures/redis.ts';
import { sinksTest as test } from '../fixtures/sinks-test.ts';

/** Probes of servers need nothing of the run. */
const NO_RUN = {} as Parameters<typeof openProbe>[1];
const open = (source: Parameters<typeof openProbe>[0]): Probe => openProbe(source, NO_RUN);

type Values = Readonly<Record<string, number>>;

async function valuesOf(probe: Probe): Promise<Values> {
  const reading = await probe.read(AbortSignal.timeout(20_000));
  return Object.fromEntries([...reading].map(([name, { value }]) => [name, value]));
}

async function reasonOf(probe: Probe): Promise<string> {
  const failure: unknown = await probe.read(AbortSignal.timeout(20_000)).then(
    (reading) => new Error(`it was read: ${JSON.stringify([...reading])}`),
    (error: unknown) => error,
  );
  if (failure instanceof ProbeError) return failure.reason;
  throw failure;
}

/** Reads until the server has told what is waited for: it renews its figures once a while. */
async function settled(probe: Probe, isThere: (values: Values) => boolean): Promise<Values> {
  let values: Values = {};
  const reads = async (): Promise<boolean> => {
    values = await valuesOf(probe);
    return isThere(values);
  };
  await until('the server tells its new figures', reads, 30_000).catch(() => undefined);
  return values;
}

const prometheusOf = (url: string, more: object = {}) =>
  open({
    type: 'prometheus',
    url,
    headers: {},
    series: {},
    counters: [],
    preset: null,
    ...more,
  });

/** So many messages to one subscriber, all of them received. */
async function traffic(url: string, count: number): Promise<MqttClient[]> {
  const subscriber = await connectAsync(url);
  let received = 0;
  subscriber.on('message', () => {
    received += 1;
  });
  await subscriber.subscribeAsync('load/#', { qos: 1 });
  const publisher = await connectAsync(url);
  for (let n = 0; n < count; n++) await publisher.publishAsync('load/a', `${n}`, { qos: 1 });
  await until('all arrived', () => received === count, 30_000);
  return [subscriber, publisher];
}

describe.concurrent('probes of real servers', { timeout: 120_000 }, () => {
  test('Mosquitto: what others do is counted, and nothing of the probe', async ({ broker }) => {
    const probe = open({ type: 'mosquitto', url: broker.url });
    const before = await settled(probe, ({ messages_in }) => messages_in !== undefined);
    expect(before).toMatchObject({ connections: 0, subscriptions: 0, messages_out: 0 });
    // Its own messages, a second's worth of figures each, are not among those sent.
    const clients = await traffic(broker.url, 200);
    const after = await settled(probe, ({ messages_out = 0 }) => messages_out >= 200);
    expect(after).toMatchObject({
      connections: 2,
      subscriptions: 1,
      messages_in: (before['messages_in'] ?? 0) + 200,
      messages_out: 200,
      messages_dropped: 0,
    });
    expect(after['memory_used']).toBeGreaterThan(0);
    await Promise.all(clients.map((client) => client.endAsync(true)));
    await probe.close();
  });

  test('Mosquitto: a restart is a lost connection, then counters from 0', async ({ broker }) => {
    const probe = open({ type: 'mosquitto', url: broker.url });
    const clients = await traffic(broker.url, 50);
    await settled(probe, ({ messages_out = 0 }) => messages_out >= 50);
    await Promise.all(clients.map((client) => client.endAsync(true)));
    await broker.stop();
    expect(await reasonOf(probe)).toMatch(/connection (?:lost|refused)/);
    expect(await reasonOf(probe)).toBe('connection refused');
    await broker.restart();
    const after = await settled(probe, ({ messages_in }) => messages_in !== undefined);
    expect(after).toMatchObject({ messages_in: 0, messages_out: 0, connections: 0 });
    await probe.close();
  });

  test('Mosquitto: one that says nothing fails within its time', async ({ broker }) => {
    const probe = open({ type: 'mosquitto', url: broker.url });
    broker.freeze();
    const reading = probe.read(AbortSignal.timeout(500));
    await expect(reading).rejects.toMatchObject({ reason: 'timed out' });
    broker.thaw();
    const after = await settled(probe, ({ messages_in }) => messages_in !== undefined);
    expect(after).toMatchObject({ connections: 0 });
    await probe.close();
  });

  plain('Mosquitto: no account, no $SYS', async () => {
    const closed = await Mosquitto.start(['allow_anonymous false']);
    const silent = await Mosquitto.start(['sys_interval 0']);
    const url = closed.url.replace('//', '//me:hunter2@');
    const refused = open({ type: 'mosquitto', url });
    const failing = refused.read(AbortSignal.timeout(20_000));
    await expect(failing).rejects.toMatchObject({
      reason: 'account refused',
      message: expect.not.stringContaining('hunter2') as string,
    });
    expect(await reasonOf(open({ type: 'mosquitto', url: silent.url }))).toBe('no $SYS topics');
    await Promise.all([refused.close(), closed.dispose(), silent.dispose()]);
  });

  plain('RabbitMQ: messages, connections and nodes', async ({ skip }) => {
    const missing = rabbitMqMissing();
    if (missing !== null) skip(missing);
    const broker = await startManagedRabbitMq();
    try {
      const address = `127.0.0.1:${broker.managementPort}`;
      const probe = open({ type: 'rabbitmq', url: `http://guest:guest@${address}` });
      // It listens to MQTT first.
      await until(
        'the management API answers',
        () =>
          valuesOf(probe).then(
            () => true,
            () => false,
          ),
        60_000,
      );
      // Before the first message its counters are not there at all.
      expect(await valuesOf(probe)).toMatchObject({ nodes: 1, alarms: 0, messages_in: 0 });
      const clients = await traffic(`mqtt://127.0.0.1:${broker.port}`, 300);
      // Each figure is renewed at a time of its own.
      const after = await settled(
        probe,
        ({ connections, messages_acknowledged: taken = 0, messages_confirmed: kept = 0 }) =>
          connections === 2 && taken >= 300 && kept >= 300,
      );
      expect(after).toMatchObject({
        connections: 2,
        messages_in: 300,
        messages_confirmed: 300,
        messages_out: 300,
        messages_acknowledged: 300,
        messages_dropped: 0,
      });
      expect(after['memory_used']).toBeGreaterThan(1e6);
      await Promise.all(clients.map((client) => client.endAsync(true)));
      const wrong = open({ type: 'rabbitmq', url: `http://guest:hunter2@${address}` });
      expect(await reasonOf(wrong)).toBe('HTTP 401');
    } finally {
      await broker.dispose();
    }
  });

  test('node_exporter: shares, load, memory; through Prometheus, too', async ({ host }) => {
    const probe = open({ type: 'node', url: host.url });
    const first = await valuesOf(probe);
    expect(first).not.toHaveProperty('cpu_user');
    expect(first['memory_used_share']).toBeGreaterThan(0);
    const address = new URL(host.url).host;
    const prometheus = await Prometheus.start([{ job: 'node', address }]);
    const federated = open({
      type: 'node',
      url: prometheus.federateUrl('{job="node",__name__=~"node_.*"}'),
    });
    await until('Prometheus has a page', () =>
      valuesOf(federated).then(
        () => true,
        () => false,
      ),
    );
    const later = await settled(federated, ({ cpu_idle }) => cpu_idle !== undefined);
    const second = await valuesOf(probe);
    for (const values of [second, later]) {
      const { cpu_user = -1, cpu_idle = -1, cpu_used = -1, load_per_core = -1, load = -2 } = values;
      expect(cpu_user).toBeGreaterThanOrEqual(0);
      expect(cpu_user + cpu_idle).toBeLessThanOrEqual(1.000_001);
      expect(cpu_used).toBeLessThanOrEqual(1 - cpu_idle + 0.000_001);
      expect(load_per_core).toBeLessThanOrEqual(load);
    }
    expect(Object.keys(second)).toEqual(
      expect.arrayContaining(['cpu_iowait', 'net_in', 'net_out', 'disk_read', 'disk_written']),
    );
    // A page that Prometheus gives on has two times a line, and what it collected itself.
    const own = prometheusOf(prometheus.federateUrl('{job="node"}'), {
      series: { up: 'up{job="node"}', other: 'node_time_seconds' },
    });
    expect(await valuesOf(own)).toMatchObject({ up: 1 });
    await prometheus.dispose();
  });

  plain('redis_exporter', async ({ skip }) => {
    const missing = redisMissing() ?? exporterMissing('prometheus-redis-exporter');
    if (missing !== null) skip(missing);
    const redis = await RedisServer.start();
    const exporter = await Exporter.start({
      name: 'prometheus-redis-exporter',
      args: [`--redis.addr=${redis.url}`],
    });
    const probe = prometheusOf(exporter.url, { preset: 'redis' });
    const before = await valuesOf(probe);
    expect(before).toMatchObject({ up: 1, blocked: 0 });
    const after = await valuesOf(probe);
    expect(after['commands']).toBeGreaterThan(before['commands'] ?? Number.POSITIVE_INFINITY);
    expect(Object.keys(after)).toEqual(
      expect.arrayContaining(['connections', 'memory_used', 'bytes_in', 'bytes_out', 'cpu_user']),
    );
    await exporter.dispose();
    await redis.dispose();
  });

  test('mysqld_exporter', async ({ mariadb, skip }) => {
    const missing = exporterMissing('prometheus-mysqld-exporter');
    if (missing !== null) skip(missing);
    const exporter = await Exporter.start({
      name: 'prometheus-mysqld-exporter',
      env: { DATA_SOURCE_NAME: `root@(127.0.0.1:${mariadb.port})/` },
    });
    const probe = prometheusOf(exporter.url, { preset: 'mysqld' });
    const before = await valuesOf(probe);
    expect(before).toMatchObject({ up: 1 });
    const connection = await (await mariadb.newDatabase()).connect();
    await connection.query('CREATE TABLE t (n INT)');
    for (let n = 0; n < 10; n++) await connection.query('INSERT INTO t VALUES (1), (2)');
    const after = await valuesOf(probe);
    const grown = (figure: string): number => (after[figure] ?? 0) - (before[figure] ?? 0);
    expect(grown('inserts')).toBe(10);
    expect(grown('rows_written')).toBeGreaterThanOrEqual(20);
    expect(after['connections']).toBeGreaterThanOrEqual(2);
    await connection.end();
    await exporter.dispose();
  });
});
