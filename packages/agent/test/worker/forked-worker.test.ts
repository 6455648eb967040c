import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { findMosquitto, Mosquitto } from '../../../mqtt/test/fixture/mosquitto.ts';
import { FakeBroker } from '../../../mqtt/test/fixture/fake-broker.ts';
import { buildWorker, ForkedWorker, nowUs } from './fixture/forked-worker.ts';
import { entryOf, groupOf, planOf, publishing, streamOf } from './fixture/plan.ts';

const program = findMosquitto();
const stops: (() => Promise<void> | void)[] = [];

async function forked(): Promise<ForkedWorker> {
  const worker = await ForkedWorker.start();
  stops.push(() => {
    worker.child.kill('SIGKILL');
  });
  return worker;
}

async function mosquitto(): Promise<Mosquitto> {
  const broker = await Mosquitto.start(program ?? 'mosquitto');
  stops.push(() => broker.stop());
  return broker;
}

async function finished(worker: ForkedWorker): Promise<number> {
  worker.send({ type: 'finish' });
  await worker.until('finished', (message) => message.type === 'finished');
  return await worker.exited();
}

beforeAll(buildWorker, 60_000);
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

describe('a worker process', { timeout: 40_000 }, () => {
  test.skipIf(program === null)(
    'publishes to Mosquitto, receives, and its books add up',
    async () => {
      const broker = await mosquitto();
      const devices = groupOf({
        clients: 20,
        connect: { ...groupOf().connect, ratePerS: 200 },
        publish: [
          streamOf({ name: 'up', subject: 'devices.up', pace: { kind: 'every', everyUs: 50e3 } }),
          streamOf({
            name: 'beat',
            subject: 'devices.beat',
            qos: 0,
            topic: 'test/beat/{{n}}/{{seq}}',
            payload: { kind: 'text', text: '{"n":{{n}},"seq":{{seq}}}' },
            verify: false,
          }),
        ],
      });
      const readers = groupOf({
        name: 'readers',
        clients: 2,
        subscribe: [
          entryOf({ name: 'up', subject: 'readers.up', topics: ['test/+'] }),
          entryOf({ name: 'beat', subject: 'readers.beat', topics: ['test/beat/#'], qos: 0 }),
        ],
      });
      const plan = planOf({
        port: broker.port,
        groups: [devices, readers],
        stages: [
          {
            forUs: 2e6,
            run: [
              {
                group: 1,
                activities: [
                  { kind: 'subscribe', entry: 0 },
                  { kind: 'subscribe', entry: 1 },
                ],
              },
              { group: 0, activities: [publishing(devices, 0), publishing(devices, 1)] },
            ],
          },
        ],
      });
      const worker = await forked();
      expect((await worker.init(plan)).type).toBe('ready');
      worker.send({ type: 'advance', stage: 0, atUs: nowUs() + 100e3 });
      await worker.state(0, 'prologue_done');
      worker.send({ type: 'clock', stage: 0, atUs: nowUs() + 100e3 });
      await worker.state(0, 'drained');
      // Deliveries come after acknowledgements: settle goes on until nothing more arrives.
      await worker.until(
        'deliveries',
        () => worker.books.counter('received', 'readers.up') >= 1600,
      );
      expect(await finished(worker)).toBe(0);
      const { books } = worker;
      expect(books.counter('planned', 'devices.up')).toBe(800);
      expect(books.counter('acked', 'devices.up')).toBe(800);
      expect(books.counter('published', 'devices.beat')).toBe(400);
      expect(books.counter('received', 'readers.up')).toBe(1600);
      expect(books.counter('received', 'readers.beat')).toBe(800);
      expect(books.counter('subscribed', 'readers.up')).toBe(2);
      const delivery = books.time('delivery_time', 'readers.up');
      expect(delivery.count).toBe(1600);
      expect(delivery.negative).toBe(0);
      expect(delivery.maxUs).toBeLessThan(2e6);
      expect(books.counter('wire_sent', 'devices')).toBeGreaterThan(80_000);
      expect(books.imbalances('devices.up', { qos: 1 })).toEqual([]);
      expect(books.imbalances('devices.beat', { qos: 0 })).toEqual([]);
      const started = worker.messages.find((message) => message.type === 'started');
      expect(started?.type === 'started' && started.skewUs).toBeLessThan(50e3);
      const { rows, outside, apart, missing } = worker.ledger(plan);
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({ from: 'devices.up', to: 'readers.up', qos: 1, pairs: 40 });
      expect(rows[0]).toMatchObject({ expected: 1600, received: 1600, unique: 1600, lost: 0 });
      expect(outside.map(({ subject }) => subject)).toEqual(['devices.beat']);
      expect(apart).toEqual({ unstamped: 800, outside: 0, replayed: 0, untracked: 0 });
      expect(missing).toEqual([]);
    },
  );

  test.skipIf(program === null)('survives the broker and says so, second by second', async () => {
    const broker = await mosquitto();
    const devices = groupOf({ clients: 10, publish: [streamOf()] });
    const plan = planOf({
      port: broker.port,
      groups: [devices],
      stages: [{ forUs: 3e6, run: [{ group: 0, activities: [publishing(devices)] }] }],
      backlogUs: 1e6,
    });
    const worker = await forked();
    await worker.init(plan);
    worker.send({ type: 'advance', stage: 0, atUs: nowUs() + 50e3 });
    await worker.state(0, 'prologue_done');
    worker.send({ type: 'clock', stage: 0, atUs: nowUs() + 50e3 });
    await worker.until('a second', () => worker.books.counter('acked', 'devices') > 50);
    await broker.stop();
    stops.shift();
    await worker.state(0, 'drained');
    expect(await finished(worker)).toBe(0);
    const { books } = worker;
    const lost = Object.values(books.reasons('disconnected', 'devices')).reduce((a, b) => a + b, 0);
    expect(lost).toBe(10);
    expect(books.reasons('connect_failed', 'devices')['connection refused']).toBeGreaterThan(0);
    expect(books.reasons('dropped', 'devices')['not_connected']).toBeGreaterThan(0);
    expect(books.imbalances('devices', { qos: 1 })).toEqual([]);
  });

  test('counts each refusal by its CONNACK code', async () => {
    const broker = await FakeBroker.start((socket) => {
      socket.once('data', () => socket.write(Buffer.from([0x20, 2, 0, 5])));
    });
    stops.push(() => broker.stop());
    const connect = { ...groupOf().connect, retries: 1, backoffMinUs: 50e3, backoffMaxUs: 50e3 };
    const plan = planOf({
      port: broker.port,
      groups: [groupOf({ clients: 5, connect })],
      stages: [{ run: [{ group: 0, activities: [{ kind: 'connect' }] }] }],
    });
    const worker = await forked();
    await worker.init(plan);
    worker.send({ type: 'advance', stage: 0, atUs: nowUs() });
    const complete = await worker.state(0, 'complete');
    expect(complete).toMatchObject({ failed: { devices: 5 } });
    worker.send({ type: 'advance', stage: 1, atUs: nowUs() });
    await worker.state(0, 'drained');
    expect(await finished(worker)).toBe(0);
    expect(worker.books.reasons('connect_failed', 'devices')).toEqual({
      'not authorized (0x05)': 10,
    });
  });

  test('stops its load and goes when its agent vanishes', async () => {
    const broker = await FakeBroker.accepting(() => {});
    stops.push(() => broker.stop());
    const plan = planOf({
      port: broker.port,
      groups: [groupOf({ clients: 5 })],
      stages: [{ run: [{ group: 0, activities: [{ kind: 'connect' }] }], forUs: 60e6 }],
    });
    const worker = await forked();
    await worker.init(plan);
    worker.send({ type: 'advance', stage: 0, atUs: nowUs() });
    await worker.until('connections', () => broker.sockets.size === 5);
    worker.child.disconnect();
    expect(await worker.exited()).not.toBe(0);
    await expect.poll(() => broker.sockets.size).toBe(0);
  });

  test('leaves Ctrl-C to its agent', async () => {
    const worker = await forked();
    worker.child.kill('SIGINT');
    const plan = planOf({
      groups: [groupOf()],
      stages: [{ run: [{ group: 0, activities: [{ kind: 'idle' }] }], forUs: 1e6 }],
    });
    expect((await worker.init(plan)).type).toBe('ready');
    expect(await finished(worker)).toBe(0);
  });

  test('refuses a share that does not fit into its process, with what to do about it', async () => {
    const worker = await forked();
    const plan = planOf({
      groups: [groupOf({ clients: 40_000_000 })],
      stages: [{ run: [{ group: 0, activities: [{ kind: 'connect' }] }] }],
    });
    const answer = await worker.init(plan);
    expect(answer).toMatchObject({ type: 'refused' });
    expect(JSON.stringify(answer)).toMatch(/file descriptors.*ulimit -n/);
  });
});
