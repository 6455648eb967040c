import { afterEach, beforeEach, expect, test } from 'vitest';
import { RequestCode } from '../../src/codec/index.ts';
import { RocketmqClient } from '../../src/index.ts';
import { FaultBroker } from '../../src/testing/index.ts';

/** What the client's clock is ahead of the machine's: minutes pass in no time. */
let aheadUs = 0;
let broker: FaultBroker;
let client: RocketmqClient;

beforeEach(async () => {
  aheadUs = 0;
  broker = await FaultBroker.start();
  client = new RocketmqClient({
    nameServers: [broker.address],
    connections: 2,
    readClock: (cell) => {
      cell[0] = performance.now() * 1e3 + aheadUs;
    },
  });
});

afterEach(async () => {
  await client.end();
  await broker.stop();
});

const count = (code: number): number => broker.requestsOf(code).length;

test('every socket of an idle producer beats once in 30 s, and the route is asked for again', async () => {
  await client.produce({ topic: 'topic', group: 'pg' }, { settled: () => undefined });
  await expect.poll(() => count(RequestCode.heartbeat)).toBeGreaterThanOrEqual(2);
  const before = count(RequestCode.heartbeat);
  const routes = count(RequestCode.getRouteInfoByTopic);
  aheadUs += 31e6;
  await expect.poll(() => count(RequestCode.heartbeat)).toBe(before + 2);
  await expect.poll(() => count(RequestCode.getRouteInfoByTopic)).toBe(routes + 1);
  aheadUs += 10e6;
  await new Promise((resolve) => {
    setTimeout(resolve, 150);
  });
  expect(count(RequestCode.heartbeat)).toBe(before + 2);
});

test('a new route changes the queues of a producer', async () => {
  const changes: number[] = [];
  const producer = await client.produce(
    { topic: 'topic', group: 'pg' },
    { settled: () => undefined, queuesChanged: (queues) => changes.push(queues) },
  );
  expect(producer.queueCount).toBe(4);
  broker.store.create('topic', 7);
  aheadUs += 31e6;
  await expect.poll(() => changes).toEqual([7]);
  expect(producer.queueCount).toBe(7);
});

test('a member of a group beats, commits and shares out again at its times', async () => {
  const { getConsumerListByGroup, heartbeat, updateConsumerOffset } = RequestCode;
  broker.on(getConsumerListByGroup, (_request, reply) =>
    reply.answer({ body: Buffer.from(JSON.stringify({ consumerIdList: ['me', 'other'] })) }),
  );
  const assigned: number[] = [];
  const consumer = await client.consume(
    { topic: 'topic', group: 'g', clientId: 'me', from: { at: 'first' } },
    { received: () => true, assigned: (queues) => assigned.push(queues.length) },
  );
  // Two of four queues, and the only one of the retry topic… which has four here, too.
  expect(assigned).toEqual([4]);
  expect(consumer.queues.map((queue) => queue.queueId)).toEqual([0, 1, 0, 1]);
  const before = [heartbeat, getConsumerListByGroup].map(count);
  const commits = count(updateConsumerOffset);
  aheadUs += 31e6;
  await expect
    .poll(() => [heartbeat, getConsumerListByGroup].map(count))
    .toEqual(before.map((n) => n + 1));
  // Nothing was consumed since: there is nothing to commit.
  expect(count(updateConsumerOffset)).toBe(commits);
  await consumer.end();
  expect(count(RequestCode.unregisterClient)).toBe(1);
});

test('the first commit of a new group is answered before the others are sent', async () => {
  const { updateConsumerOffset } = RequestCode;
  broker.inject({ kind: 'slow', code: updateConsumerOffset, ms: 200, most: 1 });
  const started = client.consume(
    { topic: 'topic', group: 'g', from: { at: 'last' } },
    { received: () => true },
  );
  await expect.poll(() => count(updateConsumerOffset)).toBe(1);
  await new Promise((resolve) => {
    setTimeout(resolve, 100);
  });
  // Brokers make a group's table at its first commit: two at once would make two, and one is lost.
  expect(count(updateConsumerOffset)).toBe(1);
  await started;
  expect(count(updateConsumerOffset)).toBeGreaterThanOrEqual(4);
});
