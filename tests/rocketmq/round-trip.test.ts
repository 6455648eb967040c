import { afterAll, describe, expect } from 'vitest';
import { Outcome, RocketmqClient } from '@squall/rocketmq';
import { openProbe, type Probe } from '@squall/probes';
import { ADMIN, LOAD_USER } from '../fixtures/rocketmq/broker-files.ts';
import { disposeRigs, rigTest } from '../fixtures/rocketmq/rig.ts';
import { messageOf, readClock, Receiver, Sender } from '../fixtures/rocketmq/traffic.ts';
import { ROCKETMQ_VERSIONS } from '../fixtures/rocketmq/versions.ts';

const TOPIC = 'round-trip';
const COUNT = 200;

afterAll(disposeRigs);

/**
 * Every version with ACL and TLS on: what we send the official client of that version receives, and
 * what it sends we receive, whole and once.
 */
describe.each(ROCKETMQ_VERSIONS)('RocketMQ %s', { timeout: 300_000 }, (version) => {
  const test = rigTest({
    version,
    acl: true,
    secure: true,
    topics: [TOPIC],
    groups: ['ours', 'theirs'],
  });

  test('an administrator makes the topic, others may not', async ({ rig }) => {
    const { client, admin } = rig;
    await expect(client.admin.createTopic(TOPIC)).rejects.toMatchObject({ code: 'ANSWER' });
    await admin.admin.createTopic(TOPIC, { queues: 4 });
    for (const group of ['ours', 'theirs']) await admin.admin.createGroup(group);
    expect(await client.admin.storedTotal(TOPIC)).toBe(0);
  });

  test('what we send the official client receives', async ({ rig }) => {
    const { client, official } = rig;
    const before = await client.admin.storedTotal(TOPIC);
    await official.consume({ ...rig.peer(TOPIC), group: 'theirs' });
    const sender = await Sender.start(client, { topic: TOPIC, properties: { TAGS: 'ours' } });
    const messages = Array.from({ length: COUNT }, (_, i) =>
      messageOf(`squall-${i} “é中”`, { properties: `KEYS\u0001k${i}\u0002n\u0001${i}\u0002` }),
    );
    const settled = await sender.send(messages);
    expect(new Set(settled.map((each) => each.outcome))).toEqual(new Set([Outcome.stored]));
    const { messages: seen } = official;
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(COUNT);
    const byNumber = seen.toSorted((a, b) => Number(a.n) - Number(b.n));
    expect(byNumber.map((each) => each.body.toString())).toEqual(
      messages.map((each) => each.body.toString()),
    );
    expect(byNumber.map((each) => each.keys)).toEqual(messages.map((_, i) => `k${i}`));
    expect(new Set(seen.map((each) => each.tags))).toEqual(new Set(['ours']));
    expect(byNumber.map((each) => `${each.queueId}:${each.queueOffset}`)).toEqual(
      settled.map((each) => `${each.queueId}:${each.queueOffset}`),
    );
    // The broker's own books; they may lag the acknowledgements a little.
    await expect.poll(() => client.admin.storedTotal(TOPIC)).toBe(before + COUNT);
    await official.stopConsuming('theirs');
  });

  test('a probe reads with an account and over TLS; what is refused shows no key', async ({
    rig,
  }) => {
    const probeOf = (secretKey: string, tls: { verify: boolean }): Probe =>
      openProbe(
        {
          type: 'rocketmq',
          nameServers: [rig.cluster.nameServer],
          acl: { accessKey: ADMIN.accessKey, secretKey },
          tls: { ...tls, servername: 'localhost' },
          topics: [TOPIC],
          groups: ['theirs'],
        },
        {} as Parameters<typeof openProbe>[1],
      );
    const probe = probeOf(ADMIN.secretKey, { verify: false });
    const reading = await probe.read(AbortSignal.timeout(20_000));
    const values = Object.fromEntries([...reading].map(([name, { value }]) => [name, value]));
    expect(values).toMatchObject({
      brokers: 1,
      stored: await rig.client.admin.storedTotal(TOPIC),
      send_queue: 0,
    });
    expect(values['commit_log']).toBeGreaterThan(0);
    await probe.close();
    const wrong = probeOf('hunter-secret', { verify: false });
    const failing = wrong.read(AbortSignal.timeout(20_000));
    await expect(failing).rejects.toMatchObject({
      reason: expect.stringMatching(/^answer \d+$/) as string,
      message: expect.not.stringContaining('hunter-secret') as string,
    });
    await wrong.close();
    const strict = probeOf(ADMIN.secretKey, { verify: true });
    const distrusted = strict.read(AbortSignal.timeout(20_000));
    await expect(distrusted).rejects.toMatchObject({ reason: 'no name server or broker' });
    await strict.close();
  });

  test('what the official client sends we receive', async ({ rig }) => {
    const { client, official } = rig;
    const receiver = await Receiver.start(client, {
      topic: TOPIC,
      group: 'ours',
      from: { at: 'last' },
    });
    expect(receiver.queues).toBeGreaterThanOrEqual(4);
    expect(await official.produce({ ...rig.peer(TOPIC), count: COUNT, tags: 'theirs' })).toBe(
      COUNT,
    );
    const bodies = await receiver.bodies(COUNT);
    expect(bodies.toSorted()).toEqual(
      Array.from({ length: COUNT }, (_, i) => `java-${i}`).toSorted(),
    );
    expect(receiver.damaged).toBe(0);
    expect(new Set(receiver.messages.map((each) => each.properties['TAGS']))).toEqual(
      new Set(['theirs']),
    );
    expect(receiver.consumer.counts).toMatchObject({ gaps: 0, repeats: 0, messages: COUNT });
    expect(receiver.failures).toEqual([]);
    expect(receiver.consumer.lag).toBe(0);
    await receiver.consumer.end();
    // The group's place is with the broker: nothing is left to read.
    const lag = (await client.admin.lag('ours')).filter((each) => each.topic === TOPIC);
    expect(lag.map((each) => each.brokerOffset - each.consumerOffset)).toEqual([0, 0, 0, 0]);
  });

  test('a wrong secret is told as such', async ({ rig }) => {
    const { cluster } = rig;
    const stranger = new RocketmqClient({
      nameServers: [cluster.nameServer],
      readClock,
      acl: { ...LOAD_USER, secretKey: 'not-the-secret' },
    });
    const sender = await Sender.start(stranger, { topic: TOPIC });
    const [settlement] = await sender.send([messageOf('x')]);
    await stranger.end();
    expect(settlement?.outcome).toBe(Outcome.refused);
    expect(settlement?.reason).toMatch(
      /^(SYSTEM_ERROR \(1\)|NO_PERMISSION \(16\)): signature refused/,
    );
  });
});
