import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { decodeFrame, encodeFrame } from '@squall/core/metrics';
import { RedisBus } from '@squall/redis-bus';
import { DrivingAgent, FoldingController, frameOf } from '../fixtures/redis-agent.ts';
import { RedisServer, redisMissing } from '../fixtures/redis.ts';
import { QUICK, RedisRig, UNDISTURBED } from '../fixtures/redis-rig.ts';
import { until } from '../fixtures/process.ts';

let server: RedisServer;
let rig: RedisRig;

beforeEach(async ({ skip }) => {
  const missing = redisMissing();
  if (missing !== null) skip(missing);
  server = await RedisServer.start();
  rig = await makeRig();
});

afterEach(async () => {
  await rig?.close();
  await server?.dispose();
});

function makeRig(limits = {}): Promise<RedisRig> {
  return RedisRig.make({ url: server.url, disturbance: UNDISTURBED, limits });
}

const encoded = (seq: number) => ({
  seqFrom: seq,
  seqTo: seq,
  bytes: encodeFrame(frameOf(rig, seq)),
});
const streamKey = () => `squall:{${rig.run}}:frames:${rig.agent}`;

describe('what is in the stream', () => {
  test('is one entry a frame with the id epoch-seq, under a time to live', async () => {
    await rig.sender.send([encoded(1), encoded(2)]);
    expect(await server.ids(rig.run, rig.agent)).toEqual(['1-1', '1-2']);
    expect(Number(await server.command('PTTL', streamKey()))).toBeGreaterThan(60_000);
  });

  test('is trimmed behind the checkpoint, all but the newest entry that it covers', async () => {
    await rig.sender.send([1, 2, 3, 4, 5].map(encoded));
    await rig.receiver.acknowledge(rig.agent, rig.epoch, 3);
    await until('the trim', async () => (await server.ids(rig.run, rig.agent)).length === 3);
    expect(await server.ids(rig.run, rig.agent)).toEqual(['1-3', '1-4', '1-5']);
  });

  test('is not trimmed while the agent cannot be told, and then looks for what it sent', async () => {
    await rig.sender.send([1, 2, 3, 4, 5].map(encoded));
    rig.isLinked = false;
    await rig.receiver.acknowledge(rig.agent, rig.epoch, 3);
    await delay(10 * (QUICK.tendMs ?? 100));
    expect(await server.ids(rig.run, rig.agent)).toHaveLength(5);
    expect(rig.lostFrames).toBe(0);
    rig.isLinked = true;
    await rig.receiver.acknowledge(rig.agent, rig.epoch, 3);
    await until('the trim', async () => (await server.ids(rig.run, rig.agent)).length === 3);
    expect(rig.lostFrames).toBe(0);
  });

  test('is gone when the run is over', async () => {
    await rig.sender.send([encoded(1)]);
    expect(await server.keys()).toEqual([streamKey()]);
    await rig.receiver.close();
    expect(await server.keys()).toEqual([]);
  });

  test('raises the alarm, once, when it grows longer than it ever should', async () => {
    await rig.close();
    rig = await makeRig({ alarmEntries: 3 });
    await rig.sender.send([1, 2, 3, 4].map(encoded));
    await until('the alarm', () => rig.notices.length > 0);
    await rig.sender.send([encoded(5)]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(rig.notices.map((notice): unknown => JSON.parse(notice))).toEqual([
      { kind: 'long', agent: rig.agent, entries: 4 },
    ]);
  });
});

describe('frames that were taken and are gone', () => {
  test.each([
    ['FLUSHALL', () => server.command('FLUSHALL')],
    ['the end of the key', () => server.command('DEL', streamKey())],
    ['a restart without data', () => server.kill().then(() => server.restart())],
  ])('are sent again after %s, though nothing follows them', async (_what, lose) => {
    const agent = new DrivingAgent(rig);
    for (let k = 0; k < 4; k++) agent.produce();
    await agent.pump();
    await lose();
    const controller = new FoldingController(rig);
    await agent.deliverAll();
    expect(rig.lostFrames).toBe(4);
    expect(controller.aggregate.counter({ metric: 'sent' })).toBe(agent.counted);
  });

  test('are counted as lost, and only those that no checkpoint covers', async () => {
    await rig.sender.send([1, 2, 3, 4].map(encoded));
    await rig.receiver.acknowledge(rig.agent, rig.epoch, 1);
    await server.command('FLUSHALL');
    expect(await rig.sender.send([encoded(5)])).toBe(1);
    expect(rig.lostFrames).toBe(3);
    expect(await rig.sender.send([2, 3, 4, 5].map(encoded))).toBe(5);
    expect(await server.ids(rig.run, rig.agent)).toEqual(['1-2', '1-3', '1-4', '1-5']);
  });

  test('are not missed where a checkpoint covers them all', async () => {
    await rig.sender.send([1, 2].map(encoded));
    await rig.receiver.acknowledge(rig.agent, rig.epoch, 2);
    await server.command('FLUSHALL');
    expect(await rig.sender.send([encoded(3)])).toBe(3);
    expect(rig.lostFrames).toBe(0);
  });

  test('leave a hole that the receiver sees, asks for, and gets filled', async () => {
    await rig.close();
    // The sender does not look by itself here.
    rig = await makeRig({ verifyMs: 600_000 });
    const agent = new DrivingAgent(rig);
    for (let k = 0; k < 5; k++) agent.produce();
    await agent.pump();
    await server.command('XDEL', streamKey(), '1-2', '1-4');
    const controller = new FoldingController(rig);
    await agent.deliverAll();
    expect(controller.aggregate.counter({ metric: 'sent' })).toBe(15);
    expect(rig.notices).toEqual([
      JSON.stringify({ kind: 'gap', agent: rig.agent, seqFrom: 2, seqTo: 2 }),
    ]);
  });
});

describe('a receiver', () => {
  test('that begins behind a checkpoint reads on from there', async () => {
    await rig.sender.send([1, 2, 3, 4, 5].map(encoded));
    const bus = await RedisBus.open({ url: server.url, limits: QUICK });
    const receiver = await bus.open({
      run: rig.run,
      agents: [{ agent: rig.agent, epoch: rig.epoch, afterSeq: 3 }],
      link: { acknowledge: () => true, resend: () => {} },
      notice: () => {},
    });
    const came: number[] = [];
    receiver.onFrame(({ agent, bytes }) => {
      expect(agent).toBe(rig.agent);
      came.push(decodeFrame(bytes).seqFrom);
    });
    await until('the rest', () => came.length >= 2);
    await bus.close();
    expect(came).toEqual([4, 5]);
    // A controller that ends leaves what belongs to a run that is not over.
    expect(await server.ids(rig.run, rig.agent)).toEqual(expect.arrayContaining(['1-4', '1-5']));
  });

  test('takes an epoch after the other, and what is none of its entries not at all', async () => {
    const controller = new FoldingController(rig);
    await server.command('XADD', streamKey(), '1-1', 'hello', 'world');
    await server.command('XADD', streamKey(), '1-2', 'from', 9, 'frame', 'from after its end');
    const next = rig.anotherSender(server.url, { ...QUICK, epoch: 2 });
    await next.send([encoded(1), encoded(2)]);
    await until('both', () => controller.arrived.length === 2);
    await next.close();
    expect(controller.arrived).toEqual([1, 2]);
    expect(await server.ids(rig.run, rig.agent)).toEqual(['1-1', '1-2', '2-1', '2-2']);
  });
});

describe('an id that is equal or smaller', () => {
  test('is success where the very entry is there', async () => {
    await rig.sender.send([1, 2].map(encoded));
    expect(await rig.sender.send([1, 2, 3].map(encoded))).toBe(3);
    expect(await server.ids(rig.run, rig.agent)).toEqual(['1-1', '1-2', '1-3']);
  });

  test('is no success where a later frame landed first: the earlier one is delivered after all', async () => {
    await server.command('XADD', streamKey(), '1-3', 'from', 3, 'frame', 'landed first');
    expect(await rig.sender.send([1, 2, 3].map(encoded))).toBe(0);
    expect(await rig.sender.send([1, 2, 3].map(encoded))).toBe(3);
    const controller = new FoldingController(rig);
    await until('all three', () => controller.arrived.length === 3);
    expect(controller.arrived).toEqual([1, 2, 3]);
  });

  test('is success where the checkpoint covers it and it was trimmed', async () => {
    await rig.sender.send([1, 2, 3].map(encoded));
    await rig.receiver.acknowledge(rig.agent, rig.epoch, 3);
    await until('the trim', async () => (await server.ids(rig.run, rig.agent)).length === 1);
    expect(await rig.sender.send([1, 2, 3].map(encoded))).toBe(3);
    expect(await server.ids(rig.run, rig.agent)).toEqual(['1-3']);
  });

  test('of an epoch that is over is refused', async () => {
    await server.command('XADD', streamKey(), '2-1', 'from', 1, 'frame', 'of the next epoch');
    await expect(rig.sender.send([encoded(1)])).rejects.toMatchObject({ code: 'SQ_BUS' });
  });
});

describe('a command that was given up', () => {
  test('may arrive late without a frame twice, out of order or missing', async () => {
    const agent = new DrivingAgent(rig);
    const controller = new FoldingController(rig);
    server.freeze();
    for (let k = 0; k < 4; k++) agent.produce();
    await agent.pump();
    agent.produce();
    await agent.pump();
    server.thaw();
    await agent.deliverAll();
    expect(controller.arrived.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
    expect(controller.arrived).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a server', () => {
  test('that was restarted is noticed by its run id', async () => {
    const controller = new FoldingController(rig);
    await server.kill();
    await server.restart();
    await until('the notice', () => rig.notices.some((notice) => notice.includes('restarted')));
    expect(controller.arrived).toEqual([]);
  });

  test('that is away and comes back is told once each', async () => {
    const controller = new FoldingController(rig);
    await server.kill();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await server.restart();
    await until('the end of it', () => rig.notices.some((notice) => notice.includes('resumed')));
    const kinds = rig.notices.map((notice) => (JSON.parse(notice) as { kind: string }).kind);
    expect(kinds.filter((kind) => kind !== 'restarted')).toEqual(['interrupted', 'resumed']);
    expect(controller.arrived).toEqual([]);
  });

  test('that fills up takes no frame, says why, and takes all of them when there is room', async () => {
    const agent = new DrivingAgent(rig);
    const controller = new FoldingController(rig);
    agent.produce();
    await agent.deliverAll();
    await server.command('CONFIG', 'SET', 'maxmemory', '1mb');
    agent.produce();
    agent.produce();
    await agent.pump();
    expect(agent.outbox.failures).toBe(1);
    await expect(rig.sender.send([encoded(2)])).rejects.toThrow(/OOM/);
    await until('the warning', () => rig.notices.some((notice) => notice.includes('are used')));
    await server.command('CONFIG', 'SET', 'maxmemory', '0');
    await agent.deliverAll();
    expect(controller.aggregate.counter({ metric: 'sent' })).toBe(6);
  });

  test('that begins to evict in the run is told, and what it throws away comes again', async () => {
    const agent = new DrivingAgent(rig);
    const controller = new FoldingController(rig);
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await until('the warning', () => rig.notices.some((notice) => notice.includes('allkeys-lru')));
    for (let k = 0; k < 5; k++) agent.produce();
    await agent.deliverAll();
    expect(controller.aggregate.counter({ metric: 'sent' })).toBe(15);
  });
});

type Step = 'produce' | 'pump' | 'flush' | 'forget' | 'dig' | 'kill' | 'freeze' | 'trim' | 'deaf';

test('figures are exact through any row of faults of the server', {
  timeout: 120_000,
}, async () => {
  const step = fc.constantFrom<Step>(
    ...(['produce', 'produce', 'pump', 'pump', 'flush', 'forget', 'dig'] as const),
    ...(['kill', 'freeze', 'trim', 'deaf'] as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const own = await makeRig();
      try {
        const agent = new DrivingAgent(own);
        const controller = new FoldingController(own);
        for (const one of steps) await carryOut(one, { own, agent });
        server.thaw();
        own.loseAcknowledgements(false);
        await agent.deliverAll();
        expect(controller.aggregate.counter({ metric: 'sent' })).toBe(agent.counted);
        expect(controller.aggregate.missing(own.agent, agent.outbox.lastSeq)).toEqual([]);
        expect(controller.aggregate.conflicts).toBe(0);
      } finally {
        server.thaw();
        await own.close();
      }
    }),
    { numRuns: 15 },
  );
});

async function carryOut(
  step: Step,
  { own, agent }: { readonly own: RedisRig; readonly agent: DrivingAgent },
): Promise<void> {
  const key = `squall:{${own.run}}:frames:${own.agent}`;
  switch (step) {
    case 'produce':
      return agent.produce();
    case 'pump':
      return agent.pump();
    case 'deaf':
      return own.loseAcknowledgements(true);
    case 'freeze':
      return server.freeze();
    case 'kill':
      await server.kill();
      return server.restart();
    case 'flush':
    case 'forget':
    case 'dig':
    case 'trim':
      server.thaw();
      await server.command(...INTERFERENCES[step](key));
  }
}

/** What others may do to the stream, by mistake or for want of memory. */
const INTERFERENCES: Record<
  'flush' | 'forget' | 'dig' | 'trim',
  (key: string) => [string, ...string[]]
> = {
  flush: () => ['FLUSHALL'],
  forget: (key) => ['DEL', key],
  dig: (key) => ['XDEL', key, '1-2', '1-3', '1-5', '1-8'],
  trim: (key) => ['XTRIM', key, 'MAXLEN', '1'],
};
