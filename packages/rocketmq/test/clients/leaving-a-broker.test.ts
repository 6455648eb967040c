import { afterEach, beforeEach, expect, test } from 'vitest';
import { RequestCode } from '../../src/codec/index.ts';
import { Outcome, RocketmqClient, type Settlement } from '../../src/index.ts';
import { FaultBroker } from '../../src/testing/index.ts';

let first: FaultBroker;
let second: FaultBroker;
let client: RocketmqClient;
let aheadUs = 0;

beforeEach(async () => {
  aheadUs = 0;
  [first, second] = await Promise.all([FaultBroker.start(), FaultBroker.start()]);
  client = new RocketmqClient({
    nameServers: [first.address],
    readClock: (cell) => {
      cell[0] = performance.now() * 1e3 + aheadUs;
    },
  });
});

afterEach(async () => {
  await client.end();
  await Promise.all([first.stop(), second.stop()]);
});

test('a broker that is in no route any more still answers what it was asked, and is left then', async () => {
  const answers: (() => void)[] = [];
  first.on(RequestCode.sendMessageV2, (_request, reply) => {
    answers.push(() => reply.answer({ ext: { queueId: '0', queueOffset: '3' } }));
  });
  const settled: Settlement[] = [];
  const losses: string[] = [];
  const producer = await client.produce(
    { topic: 'topic', group: 'pg', timeoutMs: 60_000 },
    {
      settled: (_token, settlement) => settled.push({ ...settlement }),
      disconnected: (_address, loss) => losses.push(loss.reason),
    },
  );
  const body = Buffer.from('hello');
  producer.send(0, { body, bodyAt: 0, bodyEnd: 5, properties: '', key: '', bornAtMs: 0 });
  await expect.poll(() => answers.length).toBe(1);
  const sockets = first.sockets.size;
  first.routedTo = second.address;
  aheadUs += 31e6;
  await expect.poll(() => second.sockets.size).toBe(1);
  expect(settled).toEqual([]);
  answers[0]?.();
  await expect.poll(() => settled.length).toBe(1);
  expect(settled[0]).toMatchObject({ outcome: Outcome.stored, queueOffset: 3 });
  // The name server's own connection stays.
  await expect.poll(() => first.sockets.size).toBe(sockets - 1);
  expect(losses).toEqual([]);
});
