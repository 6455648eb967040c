import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RequestCode, ResponseCode } from '../../src/codec/index.ts';
import {
  type ConsumerCounts,
  Outcome,
  type Producer,
  RocketmqClient,
  Sent,
  type Settlement,
} from '../../src/index.ts';
import { FaultBroker, recordOf } from '../../src/testing/index.ts';

const TOPIC = 'topic';
const message = {
  body: Buffer.from('hello'),
  bodyAt: 0,
  bodyEnd: 5,
  properties: '',
  key: '',
  bornAtMs: 1_700_000_000_000,
};
let broker: FaultBroker;
let client: RocketmqClient;
const settled = new Map<number, Settlement>();
const losses: string[] = [];

beforeEach(async () => {
  broker = await FaultBroker.start();
  client = newClient();
  settled.clear();
  losses.length = 0;
});

afterEach(async () => {
  await client.end();
  await broker.stop();
});

function newClient(
  more: Partial<ConstructorParameters<typeof RocketmqClient>[0]> = {},
): RocketmqClient {
  return new RocketmqClient({
    nameServers: [broker.address],
    readClock: (cell) => {
      cell[0] = performance.now() * 1e3;
    },
    routeWaitMs: 2_000,
    requestTimeoutMs: 500,
    ...more,
  });
}

function produce(timeoutMs = 2_000): Promise<Producer> {
  return client.produce(
    { topic: TOPIC, group: 'pg', timeoutMs, firstQueue: 0 },
    {
      settled: (token, settlement) => settled.set(token, { ...settlement }),
      disconnected: (_address, loss) => losses.push(loss.reason),
    },
  );
}

async function consume(
  from: number,
): Promise<{ counts: ConsumerCounts; failures: string[]; next: () => string[] }> {
  broker.queues = 1;
  const failures: string[] = [];
  const consumer = await client.consume(
    {
      topic: TOPIC,
      group: 'g',
      sharing: { by: 'turn', index: 0, count: 1 },
      from: { at: 'offset', offset: from },
      ignoreCommitted: true,
    },
    { received: () => true, failed: (during, reason) => failures.push(`${during}: ${reason}`) },
  );
  const next = (): string[] =>
    broker.requestsOf(RequestCode.pullMessage).map((request) => request.ext['queueOffset'] ?? '');
  return { counts: consumer.counts, failures, next };
}

async function outcomes(count: number): Promise<Settlement[]> {
  await expect.poll(() => settled.size, { timeout: 5_000 }).toBe(count);
  return Array.from({ length: count }, (_, token) => settled.get(token) as Settlement);
}

describe('answers to sends', () => {
  test.each([
    [0, '', Outcome.stored, ''],
    [10, '', Outcome.flushDiskTimeout, 'FLUSH_DISK_TIMEOUT (10)'],
    [11, '', Outcome.slaveNotAvailable, 'SLAVE_NOT_AVAILABLE (11)'],
    [12, '', Outcome.flushSlaveTimeout, 'FLUSH_SLAVE_TIMEOUT (12)'],
    [2, '[OVERLOAD]system busy', Outcome.busy, 'SYSTEM_BUSY (2) [OVERLOAD]'],
    [2, '[REJECTREQUEST]system busy', Outcome.busy, 'SYSTEM_BUSY (2) [REJECTREQUEST]'],
    [2, '[TIMEOUT_CLEAN_QUEUE]broker busy', Outcome.busy, 'SYSTEM_BUSY (2) [TIMEOUT_CLEAN_QUEUE]'],
    [2, '[PCBUSY_CLEAN_QUEUE]broker busy', Outcome.busy, 'SYSTEM_BUSY (2) [PCBUSY_CLEAN_QUEUE]'],
    [1, '[PC_SYNCHRONIZED]broker busy', Outcome.busy, 'SYSTEM_ERROR (1) [PC_SYNCHRONIZED]'],
    [1, 'java.lang.NullPointerException', Outcome.refused, 'SYSTEM_ERROR (1)'],
    [
      1,
      'org.apache.rocketmq.acl.common.AclException: Check signature failed for accessKey=a',
      Outcome.refused,
      'SYSTEM_ERROR (1): signature refused (wrong secret key)',
    ],
    [1, 'No acl config for nobody', Outcome.refused, 'SYSTEM_ERROR (1): access key not known'],
    [
      16,
      'User:u1 has no permission to access Topic:t',
      Outcome.refused,
      'NO_PERMISSION (16): no permission',
    ],
    [16, 'the broker[b] sending message is forbidden', Outcome.refused, 'NO_PERMISSION (16)'],
    [13, 'the message is illegal', Outcome.refused, 'MESSAGE_ILLEGAL (13)'],
    [
      14,
      'service not available now. [CL:  0.95 CQ:  0.95 INDEX:  0.95]',
      Outcome.refused,
      'SERVICE_NOT_AVAILABLE (14): disk full or a slave',
    ],
    [17, 'topic[t] not exist', Outcome.refused, 'TOPIC_NOT_EXIST (17)'],
    [29, 'request queueId[99] is illegal', Outcome.refused, 'INVALID_PARAMETER (29)'],
    [4711, '', Outcome.refused, 'response code 4711'],
  ])('code %i %s', async (code, remark, outcome, reason) => {
    broker.on(RequestCode.sendMessageV2, (request, reply) =>
      reply.answer({ code, remark, ext: { queueId: request.ext['e'] ?? '', queueOffset: '5' } }),
    );
    const producer = await produce();
    expect(producer.send(0, message)).toBe(Sent.accepted);
    const [settlement] = await outcomes(1);
    expect(settlement).toMatchObject({ outcome, reason, responseCode: code, brokerName: 'b' });
  });

  test('in another order, in halves, several in a write: each finds its sender', async () => {
    const kept: {
      offset: string;
      write: (offset: string) => Buffer;
      socket: { write(bytes: Buffer): void };
    }[] = [];
    broker.on(RequestCode.sendMessageV2, (request, reply) => {
      kept.push({
        offset: request.ext['e'] ?? '',
        write: (queueOffset) =>
          reply.bytes({ ext: { queueOffset, queueId: request.ext['e'] ?? '' } }),
        socket: reply.socket,
      });
      if (kept.length < 8) return;
      const bytes = Buffer.concat(kept.toReversed().map((each, i) => each.write(String(7 - i))));
      for (let at = 0; at < bytes.length; at += 97) reply.socket.write(bytes.subarray(at, at + 97));
    });
    const producer = await produce();
    for (let token = 0; token < 8; token += 1) producer.send(token, message);
    const all = await outcomes(8);
    expect(all.map((each) => each.queueOffset)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(all.map((each) => each.queueId)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  test('a request that is never answered is unknown after its time, and a late answer is nobody else’s', async () => {
    const late: (() => void)[] = [];
    broker.on(RequestCode.sendMessageV2, (_request, reply) => {
      late.push(() => reply.answer({ ext: { queueId: '0', queueOffset: '9' } }));
    });
    const producer = await produce(150);
    producer.send(0, message);
    expect((await outcomes(1))[0]).toMatchObject({
      outcome: Outcome.timedOut,
      reason: 'timed out',
      queueOffset: -1,
    });
    producer.send(1, message);
    await expect.poll(() => late.length).toBe(2);
    late[0]?.();
    late[1]?.();
    expect((await outcomes(2))[1]).toMatchObject({ outcome: Outcome.stored, queueOffset: 9 });
    expect(settled.size).toBe(2);
  });

  test('an answer that comes twice is taken once', async () => {
    broker.on(RequestCode.sendMessageV2, (_request, reply) => {
      const bytes = reply.bytes({ ext: { queueId: '0', queueOffset: '1' } });
      reply.socket.write(Buffer.concat([bytes, bytes]));
    });
    const producer = await produce();
    producer.send(0, message);
    await outcomes(1);
    producer.send(1, message);
    expect((await outcomes(2)).every((each) => each.outcome === Outcome.stored)).toBe(true);
  });
});

describe('connections', () => {
  test('a cut one makes what was under way unknown, and is made again', async () => {
    broker.on(RequestCode.sendMessageV2, (_request, reply) => reply.socket.destroy());
    const producer = await produce();
    producer.send(0, message);
    producer.send(1, message);
    const both = await outcomes(2);
    expect(both.map((each) => each.outcome)).toEqual([
      Outcome.connectionLost,
      Outcome.connectionLost,
    ]);
    expect(losses.length).toBe(1);
    expect(producer.send(2, message)).toBe(Sent.notConnected);
    broker.on(RequestCode.sendMessageV2, (_request, reply) =>
      reply.answer({ ext: { queueId: '0', queueOffset: '1' } }),
    );
    await expect.poll(() => producer.isConnected, { timeout: 3_000 }).toBe(true);
    expect(producer.send(2, message)).toBe(Sent.accepted);
    expect((await outcomes(3))[2]?.outcome).toBe(Outcome.stored);
  });

  test.each([
    ['ffffffff00000000', 'malformed frame: frame shorter than its own head'],
    ['7fffffff00000000', 'malformed frame: frame above the size limit'],
    ['0000000600000002 5b5d', 'malformed frame: unreadable header'],
    ['0000000800000004 7b226122', 'malformed frame: unreadable header'],
    ['0000000800000104 00000000', 'malformed frame: header longer than its frame'],
    ['0000000809000004 00000000', 'malformed frame: unknown header type'],
  ])('what is no answer ends them by name: %s', async (hex, reason) => {
    broker.on(RequestCode.sendMessageV2, (_request, reply) => {
      reply.socket.write(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
    });
    const producer = await produce(200);
    producer.send(0, message);
    const [settlement] = await outcomes(1);
    expect(settlement?.outcome).toBe(Outcome.connectionLost);
    expect(losses).toEqual([reason]);
  });

  test('a question that we do not know is answered so, one that is one-way is not', async () => {
    await produce();
    broker.ask({ code: RequestCode.notifyConsumerIdsChanged, flag: 2, opaque: 4 });
    broker.ask({ code: 307, opaque: 77 });
    const answers = () => broker.requests.filter((each) => (each.flag & 1) !== 0);
    await expect.poll(() => answers().length).toBeGreaterThan(0);
    const nothing = { code: ResponseCode.requestCodeNotSupported, opaque: 77, flag: 1 };
    for (const answer of answers()) expect(answer).toMatchObject(nothing);
  });

  test('more requests than may be under way are not taken', async () => {
    await client.end();
    client = newClient({ requestsMax: 4 });
    broker.on(RequestCode.sendMessageV2, () => undefined);
    const producer = await produce(300);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
    const sent = Array.from({ length: 6 }, (_, token) => producer.send(token, message));
    expect(sent).toEqual([0, 0, 0, 0, 3, 3]);
    expect((await outcomes(4)).map((each) => each.outcome)).toEqual([6, 6, 6, 6]);
    expect(producer.send(7, message)).toBe(Sent.accepted);
  });
});

describe('routes', () => {
  test('one that names an address nobody listens on says what is likely wrong', async () => {
    broker.routedTo = '127.0.0.1:9';
    await expect(produce()).rejects.toMatchObject({
      code: 'CONNECT',
      message: 'no broker of topic topic can be reached: 127.0.0.1:9 (connection refused)',
      hint: expect.stringContaining('brokerIP1'),
    });
  });

  test('one that comes late is waited for', async () => {
    broker.unrouted.add(TOPIC);
    setTimeout(() => broker.unrouted.delete(TOPIC), 400);
    const startedAt = performance.now();
    const producer = await produce();
    expect(performance.now() - startedAt).toBeGreaterThan(350);
    expect(producer.queueCount).toBe(4);
  });

  test('one without the write bit has no queue to write to', async () => {
    broker.permissions = 4;
    await expect(produce()).rejects.toThrow('no queue that may be written to');
  });

  test('a name server that never answers is told', async () => {
    broker.on(RequestCode.getRouteInfoByTopic, () => undefined);
    await expect(produce()).rejects.toThrow(
      /no name server answers: .* did not answer request 105 in time/,
    );
  });
});

describe('pulls', () => {
  const moved = { minOffset: '0', maxOffset: '100', nextBeginOffset: '0' };

  test('who asks beyond the end is sent to the end, whatever an old broker says', async () => {
    let pulls = 0;
    broker.on(RequestCode.pullMessage, (_request, reply) => {
      pulls += 1;
      if (pulls === 1) reply.answer({ code: ResponseCode.pullOffsetMoved, ext: moved });
    });
    const { counts, next } = await consume(5000);
    await expect.poll(next).toEqual(['5000', '100']);
    expect(counts.offsetsMoved).toBe(1);
  });

  test('who asks before the start is sent to the start', async () => {
    let pulls = 0;
    broker.on(RequestCode.pullMessage, (_request, reply) => {
      pulls += 1;
      const ext = { ...moved, minOffset: '40', nextBeginOffset: '40' };
      if (pulls === 1) reply.answer({ code: ResponseCode.pullOffsetMoved, ext });
    });
    const { next } = await consume(5);
    await expect.poll(next).toEqual(['5', '40']);
  });

  test.each([
    ['skips two', [0, 1, 4, 5], { messages: 4, gaps: 2, repeats: 0 }],
    ['gives one again', [0, 1, 1, 2], { messages: 4, gaps: 0, repeats: 1 }],
    ['goes back', [5, 6, 2, 3], { messages: 4, gaps: 0, repeats: 2 }],
  ])('a broker that %s is found out', async (_what, offsets, counts) => {
    let pulls = 0;
    broker.on(RequestCode.pullMessage, (_request, reply) => {
      pulls += 1;
      const body = Buffer.concat(offsets.map((queueOffset) => recordOf({ queueOffset })));
      if (pulls === 1) reply.answer({ ext: { ...moved, nextBeginOffset: '6' }, body });
    });
    const consumer = await consume(0);
    await expect.poll(() => consumer.counts).toMatchObject(counts);
  });

  test('an answer says where to go on, also against its own messages', async () => {
    let pulls = 0;
    broker.on(RequestCode.pullMessage, (_request, reply) => {
      pulls += 1;
      const body = recordOf({ queueOffset: 7 });
      if (pulls <= 2) reply.answer({ ext: { ...moved, nextBeginOffset: '7' }, body });
    });
    const { next, counts } = await consume(7);
    await expect.poll(next).toEqual(['7', '7', '7']);
    expect(counts.messages).toBe(2);
  });

  test('half a record at the end of an answer is told, and what came before it counts', async () => {
    broker.on(RequestCode.pullMessage, (_request, reply) => {
      const whole = recordOf({ queueOffset: 0 });
      const body = Buffer.concat([whole, whole.subarray(0, 60)]);
      reply.answer({ ext: { ...moved, nextBeginOffset: '2' }, body });
    });
    const { failures, counts } = await consume(0);
    await expect.poll(() => failures[0]).toBe('pull: malformed record');
    expect(counts.messages).toBe(1);
  });

  test('bytes that are no messages are told, and asked for again later', async () => {
    broker.on(RequestCode.pullMessage, (_request, reply) =>
      reply.answer({ ext: { ...moved, nextBeginOffset: '9' }, body: Buffer.alloc(100, 1) }),
    );
    const { failures, next } = await consume(5);
    await expect.poll(() => failures[0]).toBe('pull: malformed record');
    expect(next()[0]).toBe('5');
    expect(next().length).toBeLessThan(3);
  });

  test('a refusal is told by its reason, and not asked again at once', async () => {
    broker.on(RequestCode.pullMessage, (_request, reply) =>
      reply.answer({ code: ResponseCode.noPermission, remark: 'User:u has no permission' }),
    );
    const { failures, next } = await consume(0);
    await expect.poll(() => failures[0]).toBe('pull: NO_PERMISSION (16): no permission');
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    expect(next().length).toBe(1);
  });
});
