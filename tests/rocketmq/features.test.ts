import { afterAll, describe } from 'vitest';
import {
  encodeProperties,
  Outcome,
  type ProducerMessage,
  RocketmqClient,
  Sent,
  type TransactionState,
} from '@squall/rocketmq';
import { openProbe, type Probe } from '@squall/probes';
import { until } from '../fixtures/process.ts';
import { disposeRigs, rigTest } from '../fixtures/rocketmq/rig.ts';
import { messageOf, readClock, Receiver, Sender } from '../fixtures/rocketmq/traffic.ts';
import { versionsForFeatures } from '../fixtures/rocketmq/versions.ts';

afterAll(disposeRigs);

/**
 * Each feature of the client once, on two masters, beside the official client: on one version, on all
 * with `npm run check:matrix`.
 */
describe.each(versionsForFeatures())('RocketMQ %s', { timeout: 300_000 }, (version) => {
  const test = rigTest({
    version,
    masters: 2,
    // Brokers ask about half messages after a second or two, not after a minute.
    settings: { transactionTimeOut: '1000', transactionCheckInterval: '1000' },
  });

  describe.concurrent('features', () => {
    test('messages walk over all queues of both brokers', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      const sender = await Sender.start(client, { topic });
      expect(sender.producer.queueCount).toBe(8);
      const settled = await sender.send(Array.from({ length: 80 }, (_, i) => messageOf(`m${i}`)));
      const places = settled.map((each) => `${each.brokerName} ${each.queueId}`);
      expect(new Set(places).size).toBe(8);
      const stored = async (): Promise<number[]> =>
        [...(await client.admin.ranges(topic)).values()].map((range) => range.max);
      await expect.poll(stored).toEqual(Array.from({ length: 8 }, () => 10));
    });

    test('a probe counts what is stored, read and left, over both brokers', async ({
      rig,
      expect,
    }) => {
      const topic = await rig.newTopic();
      const group = `g-${topic}`;
      const open = (more: object): Probe =>
        openProbe(
          {
            type: 'rocketmq',
            nameServers: [rig.cluster.nameServer],
            acl: null,
            tls: null,
            topics: [topic],
            groups: [group],
            ...more,
          },
          {} as Parameters<typeof openProbe>[1],
        );
      const probe = open({});
      const values = async (): Promise<Record<string, number>> => {
        const reading = await probe.read(AbortSignal.timeout(20_000));
        return Object.fromEntries([...reading].map(([name, { value }]) => [name, value]));
      };
      expect(await values()).toMatchObject({ brokers: 2, stored: 0, consumed: 0, lag: 0 });
      const sender = await Sender.start(rig.client, { topic });
      await sender.send(Array.from({ length: 80 }, (_, i) => messageOf(`m${i}`)));
      await expect.poll(values).toMatchObject({ stored: 80 });
      const receiver = await Receiver.start(rig.client, { topic, group, from: { at: 'first' } });
      await receiver.bodies(80);
      // Offsets are committed every few seconds.
      await expect.poll(values, { timeout: 20_000 }).toMatchObject({ consumed: 80, lag: 0 });
      const last = await values();
      expect(last['commit_log']).toBeGreaterThan(0);
      expect(last['disk_used']).toBeLessThanOrEqual(1);
      await probe.close();
      const unknown = open({ topics: ['no-such-topic'] });
      const failing = unknown.read(AbortSignal.timeout(20_000));
      await expect(failing).rejects.toMatchObject({ reason: 'no such topic' });
      await unknown.close();
      const nobody = open({ nameServers: ['127.0.0.1:9'] });
      const lost = nobody.read(AbortSignal.timeout(20_000));
      await expect(lost).rejects.toMatchObject({ reason: 'no name server or broker' });
      await nobody.close();
    });

    test('a batch is one request, and many messages', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      const sender = await Sender.start(client, { topic, properties: { TAGS: 'batch' } });
      const batch = sender.producer.newBatch();
      for (let i = 0; i < 16; i += 1) {
        batch.add(messageOf(`b${i}`, { properties: encodeProperties({ KEYS: `k${i}` }) }));
      }
      expect(sender.producer.sendBatch(0, batch, Date.now())).toBe(Sent.accepted);
      await until('the batch is settled', () => sender.settled.size === 1);
      expect(sender.settled.get(0)).toMatchObject({ outcome: Outcome.stored, queueOffset: 0 });
      await expect.poll(() => client.admin.storedTotal(topic)).toBe(16);
      const receiver = await Receiver.start(client, {
        topic,
        group: `g-${topic}`,
        from: { at: 'first' },
      });
      const bodies = await receiver.bodies(16);
      expect(bodies).toEqual(Array.from({ length: 16 }, (_, i) => `b${i}`));
      const ids = receiver.messages.map((each) => each.properties['UNIQ_KEY']);
      expect(new Set(ids).size).toBe(16);
      expect(receiver.messages.map((each) => each.properties['KEYS'])).toEqual(
        bodies.map((_, i) => `k${i}`),
      );
      expect(receiver.messages.every((each) => each.properties['TAGS'] === 'batch')).toBe(true);
      expect(await rig.officialBodies(topic, 16)).toEqual(bodies.toSorted());
    });

    test('a batch of the official client is read whole', async ({ rig, expect }) => {
      const { client, official } = rig;
      const topic = await rig.newTopic();
      expect(
        await official.produce({ ...rig.peer(topic), mode: 'batch', batch: 5, count: 20 }),
      ).toBe(20);
      const receiver = await Receiver.start(client, {
        topic,
        group: `g-${topic}`,
        from: { at: 'first' },
      });
      const bodies = await receiver.bodies(20);
      expect(new Set(bodies).size).toBe(20);
      expect(receiver.damaged).toBe(0);
    });

    test('compressed bodies come back as they were, both ways', async ({ rig, expect }) => {
      const { client, official } = rig;
      const topic = await rig.newTopic();
      const text = 'compressible '.repeat(1000);
      const sender = await Sender.start(client, { topic, compressFromBytes: 4096 });
      await sender.send([messageOf(text), messageOf('short')]);
      expect(await rig.officialBodies(topic, 2)).toEqual([text, 'short'].toSorted());
      await official.produce({ ...rig.peer(topic), count: 1, size: 9000, compress: 4096 });
      const receiver = await Receiver.start(client, {
        topic,
        group: `g-${topic}`,
        from: { at: 'first' },
      });
      const bodies = await receiver.bodies(3);
      expect(bodies.map((body) => body.length).toSorted((a, b) => a - b)).toEqual([
        5,
        9000,
        text.length,
      ]);
      const flags = receiver.messages.map((each) => each.sysFlag & 1).toSorted((a, b) => a - b);
      expect(flags).toEqual([0, 1, 1]);
      expect(receiver.damaged).toBe(0);
    });

    test('one-way messages arrive, and are counted as unacknowledged', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      const sender = await Sender.start(client, { topic, oneWay: true });
      const sent = Array.from({ length: 50 }, (_, i) =>
        sender.producer.send(i, messageOf(`w${i}`)),
      );
      expect(new Set(sent)).toEqual(new Set([Sent.unacknowledged]));
      await expect.poll(() => client.admin.storedTotal(topic), { timeout: 10_000 }).toBe(50);
      expect(sender.settled.size).toBe(0);
    });

    test('tags are filtered by broker and client, SQL by the broker', async ({ rig, expect }) => {
      const { client, official } = rig;
      const topic = await rig.newTopic(1);
      await official.produce({ ...rig.peer(topic), count: 30, tags: 'a,b,c' });
      // The hash of "Aa" is that of "BB": the broker takes one for the other, we do not.
      const sender = await Sender.start(client, { topic, properties: { TAGS: 'BB' } });
      await sender.send([messageOf('collision')]);
      const from = { at: 'first' } as const;
      const [tags, sql, same] = await Promise.all([
        Receiver.start(client, {
          topic,
          group: `t-${topic}`,
          from,
          filter: { type: 'TAG', expression: 'a || c' },
        }),
        Receiver.start(client, {
          topic,
          group: `s-${topic}`,
          from,
          filter: { type: 'SQL92', expression: 'n >= 25' },
        }),
        Receiver.start(client, {
          topic,
          group: `c-${topic}`,
          from,
          filter: { type: 'TAG', expression: 'Aa' },
        }),
      ]);
      expect((await tags.bodies(20)).length).toBe(20);
      expect(new Set(tags.messages.map((each) => each.properties['TAGS']))).toEqual(
        new Set(['a', 'c']),
      );
      expect((await sql.bodies(5)).toSorted()).toEqual([
        'java-25',
        'java-26',
        'java-27',
        'java-28',
        'java-29',
      ]);
      await until('the collision came', () => same.consumer.counts.otherTags === 1);
      expect(same.messages).toEqual([]);
    });

    test('a delayed message comes after its time', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      const receiver = await Receiver.start(client, {
        topic,
        group: `g-${topic}`,
        from: { at: 'first' },
      });
      const sender = await Sender.start(client, { topic, delayLevel: 1 });
      const sentAt = performance.now();
      await sender.send([messageOf('later')]);
      await receiver.bodies(1);
      expect(performance.now() - sentAt).toBeGreaterThan(900);
      await expect(Sender.start(client, { topic, delayLevel: 19 })).rejects.toMatchObject({
        code: 'ARGUMENT',
      });
    });

    test('half messages are committed, rolled back or left', async ({ rig, expect }) => {
      const { client, official } = rig;
      const topic = await rig.newTopic();
      const states: readonly TransactionState[] = ['commit', 'rollback', 'unknown'];
      const sender = await Sender.start(client, {
        topic,
        group: `pg-${topic}`,
        transactions: {
          decide: (token) => states[token % 3] ?? 'unknown',
          decideAgain: (_messageId, times) => (times === 1 ? 'unknown' : 'commit'),
        },
      });
      await sender.send(Array.from({ length: 9 }, (_, i) => messageOf(`t${i}`)));
      const receiver = await Receiver.start(client, {
        topic,
        group: `g-${topic}`,
        from: { at: 'first' },
      });
      expect((await receiver.bodies(3)).toSorted()).toEqual(['t0', 't3', 't6']);
      expect(sender.producer.transactionCounts).toMatchObject({ rolledBack: 3, endsFailed: 0 });
      // Those left open are asked about, twice, and then committed; each comes once.
      const all = ['t0', 't2', 't3', 't5', 't6', 't8'];
      expect((await receiver.bodies(6, 40_000)).toSorted()).toEqual(all);
      const counts = sender.producer.transactionCounts;
      expect(counts).toMatchObject({ committed: 6, rolledBack: 3, left: 0 });
      expect(counts?.checks).toBeGreaterThanOrEqual(6);
      expect(counts?.duplicatedChecks).toBeGreaterThanOrEqual(3);
      const theirs = await rig.newTopic();
      await official.produce({
        ...rig.peer(theirs),
        group: `jg-${theirs}`,
        mode: 'transaction',
        count: 6,
      });
      const other = await Receiver.start(client, {
        topic: theirs,
        group: `g-${theirs}`,
        from: { at: 'first' },
      });
      expect((await other.bodies(4)).toSorted()).toEqual(['java-0', 'java-1', 'java-3', 'java-4']);
      // 5.3.3 asks about decided ones, too: a second commit would have brought them twice.
      expect(receiver.messages.length).toBe(6);
    });

    test('one key keeps its order on its queue, with one message under way', async ({
      rig,
      expect,
    }) => {
      const { client, official } = rig;
      const topic = await rig.newTopic();
      const sender = await Sender.start(client, { topic, queues: { by: 'key' }, ordered: true });
      const messages = Array.from({ length: 120 }, (_, i) =>
        messageOf(`o${i}`, { key: `shard-${i % 3}` }),
      );
      await sender.send(messages, 64);
      expect(sender.handedOver.length).toBe(120);
      const receiver = await Receiver.start(client, {
        topic,
        group: `g-${topic}`,
        from: { at: 'first' },
        ordered: true,
      });
      const bodies = await receiver.bodies(120);
      for (const shard of [0, 1, 2]) {
        const numbers = bodies.map((body) => Number(body.slice(1))).filter((n) => n % 3 === shard);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
      // The official client chooses the same queues for the same keys.
      const before = new Set(receiver.messages.map((each) => each.queueId));
      await official.produce({ ...rig.peer(topic), mode: 'ordered', count: 9 });
      await receiver.bodies(129);
      expect(new Set(receiver.messages.map((each) => each.queueId))).toEqual(before);
    });

    test('members of a group share its queues, those of the official client, too', async ({
      rig,
      expect,
    }) => {
      const { client, official } = rig;
      const topic = await rig.newTopic();
      const group = `g-${topic}`;
      const first = await Receiver.start(client, { topic, group, from: { at: 'first' } });
      const mainQueues = (receiver: Receiver): number =>
        receiver.consumer.queues.filter((queue) => queue.topic === topic).length;
      await until('all are of the first', () => mainQueues(first) === 8);
      const second = await Receiver.start(client, { topic, group, from: { at: 'first' } });
      const ours = (): string => `${mainQueues(first)} ${mainQueues(second)}`;
      await until('half and half', () => ours() === '4 4', 20_000);
      await official.consume({ ...rig.peer(topic), group });
      await until('three share', () => mainQueues(first) + mainQueues(second) < 8, 30_000);
      await expect
        .poll(() => [mainQueues(first), mainQueues(second)], { timeout: 30_000 })
        .toSatisfy((shares: number[]) => shares.every((share) => share === 2 || share === 3));
      const sender = await Sender.start(client, { topic });
      await sender.send(Array.from({ length: 80 }, (_, i) => messageOf(`s${i}`)));
      const all = (): string[] => [
        ...first.messages.map((each) => each.body.toString()),
        ...second.messages.map((each) => each.body.toString()),
        ...official.messages
          .filter((each) => each.topic === topic)
          .map((each) => each.body.toString()),
      ];
      // The official client looks for its queues every 20 s.
      await until('all have come', () => all().length >= 80, 60_000);
      expect(new Set(all()).size).toBe(80);
      await official.stopConsuming(group);
      await second.consumer.end();
      await until('the first has all again', () => mainQueues(first) === 8, 20_000);
    });

    test('every broadcasting member gets every message, and so does each reader its queues', async ({
      rig,
      expect,
    }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      const from = { at: 'first' } as const;
      const sender = await Sender.start(client, { topic });
      await sender.send(Array.from({ length: 16 }, (_, i) => messageOf(`c${i}`)));
      const sharing = { by: 'broadcast' } as const;
      const both = await Promise.all(
        [1, 2].map(() => Receiver.start(client, { topic, group: `b-${topic}`, from, sharing })),
      );
      for (const each of both) expect((await each.bodies(16)).length).toBe(16);
      const readers = await Promise.all(
        [0, 1, 2].map((index) =>
          Receiver.start(client, {
            topic,
            group: `f-${topic}`,
            from,
            sharing: { by: 'turn', index, count: 3 },
          }),
        ),
      );
      await until('all are read', () => readers.flatMap((each) => each.messages).length >= 16);
      expect(readers.map((each) => each.consumer.queues.length)).toEqual([3, 3, 2]);
      await Promise.all(readers.map((each) => each.consumer.commit()));
      expect([...both, ...readers].flatMap((each) => each.failures)).toEqual([]);
      expect(
        new Set(readers.flatMap((each) => each.messages).map((each) => each.body.toString())).size,
      ).toBe(16);
    });

    test('a message that fails comes again from the retry topic', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      const group = `g-${topic}`;
      const receiver = await Receiver.start(
        client,
        { topic, group, from: { at: 'first' } },
        (message) => message.reconsumeTimes > 0 || message.body.toString() !== 'fails',
      );
      const sender = await Sender.start(client, { topic });
      await sender.send([messageOf('fails'), messageOf('works')]);
      const bodies = await receiver.bodies(3, 30_000);
      expect(bodies.toSorted()).toEqual(['fails', 'fails', 'works']);
      const again = receiver.messages.find((each) => each.reconsumeTimes === 1);
      expect(again?.properties['RETRY_TOPIC']).toBe(topic);
      expect(receiver.consumer.counts).toMatchObject({ sentBack: 1, sendBacksFailed: 0 });
    });

    test('a paused consumer leaves its offsets, and its lag is told', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic(1);
      const group = `g-${topic}`;
      const receiver = await Receiver.start(client, { topic, group, from: { at: 'first' } });
      const sender = await Sender.start(client, { topic });
      await sender.send(Array.from({ length: 10 }, (_, i) => messageOf(`p${i}`)));
      await receiver.bodies(10);
      receiver.consumer.pause();
      await sender.send(Array.from({ length: 30 }, (_, i) => messageOf(`q${i}`)));
      await expect.poll(() => receiver.consumer.queryLag()).toBe(30);
      await receiver.consumer.commit();
      const lag = (await client.admin.lag(group)).filter((each) => each.topic === topic);
      expect(lag.reduce((sum, each) => sum + each.brokerOffset - each.consumerOffset, 0)).toBe(30);
      expect(receiver.messages.length).toBe(10);
      receiver.consumer.resume();
      expect(new Set(await receiver.bodies(40)).size).toBe(40);
      expect(receiver.consumer.counts).toMatchObject({ gaps: 0, repeats: 0 });
      expect(await receiver.consumer.queryLag()).toBe(0);
    });

    test('a new group begins where it is told to', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic(1);
      const sender = await Sender.start(client, { topic });
      const old = await sender.send(named('old'));
      await new Promise((resolve) => {
        setTimeout(resolve, 50);
      });
      const timestampMs = Date.now();
      await sender.send(named('mid'));
      await expect.poll(() => client.admin.storedTotal(topic)).toBe(12);
      const start = (name: string, from: Parameters<typeof Receiver.start>[1]['from']) =>
        Receiver.start(client, {
          topic,
          group: `${name}-${topic}`,
          ...(from === undefined ? {} : { from }),
        });
      const [first, last, time, offset] = await Promise.all([
        start('first', { at: 'first' }),
        start('last', undefined),
        start('time', { at: 'timestamp', timestampMs }),
        start('offset', { at: 'offset', offset: 2 }),
      ]);
      await sender.send(named('new'));
      expect((await first.bodies(18)).length).toBe(18);
      expect((await last.bodies(6)).every((body) => body.startsWith('new'))).toBe(true);
      expect((await time.bodies(12)).some((body) => body.startsWith('old'))).toBe(false);
      expect((await offset.bodies(14)).length).toBe(14);
      // A second life of the group goes on where the first ended, wherever it is told to begin.
      await first.consumer.end();
      await sender.send(named('next'));
      const again = await Receiver.start(client, {
        topic,
        group: `first-${topic}`,
        from: { at: 'first' },
      });
      expect((await again.bodies(6)).every((body) => body.startsWith('next'))).toBe(true);
      expect(old.length).toBe(6);
    });

    test('what a broker refuses is told by its reason', async ({ rig, expect }) => {
      const { client, cluster } = rig;
      const topic = await rig.newTopic();
      const sender = await Sender.start(client, { topic });
      expect(await sender.send([messageOf('x'.repeat(4 * 1024 * 1024 + 1))])).toMatchObject([
        { outcome: Outcome.refused, reason: 'MESSAGE_ILLEGAL (13)' },
      ]);
      await client.admin.createTopic(`${topic}-reader`, { permissions: 4 });
      await expect(Sender.start(client, { topic: `${topic}-reader` })).rejects.toThrow(
        'may be written to',
      );
      await expect(Sender.start(client, { topic: 'no topic' })).rejects.toMatchObject({
        code: 'ARGUMENT',
      });
      const hasty = new RocketmqClient({
        nameServers: [cluster.nameServer],
        readClock,
        routeWaitMs: 300,
      });
      await expect(Sender.start(hasty, { topic: 'never-made' })).rejects.toMatchObject({
        code: 'ROUTE',
        message: expect.stringContaining('never-made has no route'),
      });
      await hasty.end();
      const nowhere = new RocketmqClient({ nameServers: ['127.0.0.1:9'], readClock });
      await expect(nowhere.admin.masters()).rejects.toThrow(
        'no name server answers: no connection to 127.0.0.1:9: connection refused',
      );
      await nowhere.end();
    });

    test('topics and groups go away again', async ({ rig, expect }) => {
      const { client } = rig;
      const topic = await rig.newTopic();
      await client.admin.createGroup(`g-${topic}`, { retries: 3 });
      expect(await client.admin.groups()).toContain(`g-${topic}`);
      await client.admin.deleteGroup(`g-${topic}`);
      expect(await client.admin.groups()).not.toContain(`g-${topic}`);
      await client.admin.deleteTopic(topic);
      await expect(client.admin.ranges(topic)).rejects.toMatchObject({ code: 'ROUTE' });
      const [address] = (await client.admin.masters()).values();
      expect((await client.admin.runtimeInfo(address ?? ''))['brokerVersionDesc']).toBe(
        `V${version.replaceAll('.', '_')}`,
      );
      expect((await client.admin.brokerConfig(address ?? ''))['flushDiskType']).toBe('ASYNC_FLUSH');
    });
  });

  test('a broker that dies is left by producer and consumer, and messages under way are told', async ({
    rig,
    expect,
  }) => {
    const { client, cluster } = rig;
    const topic = await rig.newTopic();
    const receiver = await Receiver.start(client, {
      topic,
      group: `g-${topic}`,
      from: { at: 'first' },
    });
    const sender = await Sender.start(client, { topic, timeoutMs: 2_000 });
    await sender.send(Array.from({ length: 16 }, (_, i) => messageOf(`d${i}`)));
    await receiver.bodies(16);
    const [, second] = cluster.brokers;
    await second?.kill();
    await until('the loss is told', () =>
      sender.losses.some((loss) => loss.includes('closed by broker') || loss.includes('reset')),
    );
    const settled = await sender.send(Array.from({ length: 16 }, (_, i) => messageOf(`e${i}`)));
    expect(new Set(settled.map((each) => each.brokerName))).toEqual(new Set(['broker-a']));
    await receiver.bodies(32);
    await until('the route has one broker', () => sender.producer.queueCount === 4, 40_000);
  });
});

function named(name: string): ProducerMessage[] {
  return Array.from({ length: 6 }, (_, i) => messageOf(`${name}${i}`));
}
