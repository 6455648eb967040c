import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RequestCode } from '../../src/codec/index.ts';
import {
  type ConsumerCounts,
  crcMatches,
  isStored,
  Outcome,
  type Producer,
  type ProducerMessage,
  RocketmqClient,
  Sent,
} from '../../src/index.ts';
import { type Fault, FaultBroker, only } from '../../src/testing/index.ts';

/**
 * Each fault of the broker and what the client makes of it: the class and the count of it, and no
 * other. Ten messages are sent, one at a time, to one queue.
 */
const TOPIC = 'topic';
const MESSAGES = 10;
const { sendMessageV2, pullMessage, getRouteInfoByTopic, heartbeat } = RequestCode;
let broker: FaultBroker;
let client: RocketmqClient;

beforeEach(async () => {
  broker = await FaultBroker.start();
  broker.queues = 1;
  client = newClient([broker.address]);
});

afterEach(async () => {
  await client.end();
  await broker.stop();
});

function newClient(nameServers: readonly string[]): RocketmqClient {
  return new RocketmqClient({
    nameServers,
    readClock: (cell) => {
      cell[0] = performance.now() * 1e3;
    },
    routeWaitMs: 3_000,
    requestTimeoutMs: 500,
  });
}

interface Told {
  /** Counts by class and reason. */
  readonly classes: Record<string, number>;
  losses: number;
}

const nameOfOutcome = new Map(Object.entries(Outcome).map(([name, value]) => [value, name]));

function produce(told: Told, waiting: Map<number, () => void>): Promise<Producer> {
  return client.produce(
    { topic: TOPIC, group: 'pg', timeoutMs: 250, firstQueue: 0 },
    {
      settled: (token, { outcome, reason }) => {
        const name = `${nameOfOutcome.get(outcome)} ${reason}`.trim();
        told.classes[name] = (told.classes[name] ?? 0) + 1;
        waiting.get(token)?.();
      },
      disconnected: () => {
        told.losses += 1;
      },
    },
  );
}

function messageOf(n: number): ProducerMessage {
  const body = Buffer.from(`message ${n}`);
  return {
    body,
    bodyAt: 0,
    bodyEnd: body.length,
    properties: '',
    key: '',
    bornAtMs: 1_700_000_000_000,
  };
}

/** One at a time; a client without connection waits for it. */
async function sendAll(): Promise<Told> {
  const told: Told = { classes: {}, losses: 0 };
  const waiting = new Map<number, () => void>();
  const producer = await produce(told, waiting);
  for (let n = 0; n < MESSAGES; n += 1) {
    await expect.poll(() => producer.isConnected, { timeout: 3_000, interval: 5 }).toBe(true);
    const settled = new Promise<void>((resolve) => {
      waiting.set(n, resolve);
    });
    expect(producer.send(n, messageOf(n))).toBe(Sent.accepted);
    await settled;
  }
  return told;
}

const stored = (): number => broker.store.range(TOPIC, 0).max;

type SendRow = readonly [
  what: string,
  fault: Fault,
  expected: {
    readonly classes: Record<string, number>;
    readonly losses?: number;
    readonly stored?: number;
  },
];
const send = { code: sendMessageV2, every: 2 } as const;
const refusedBy = (code: number, remark: string, reason: string): SendRow => [
  `${code} ${remark}`,
  { ...send, kind: 'refuse', with: code, remark },
  { classes: { stored: 5, [reason]: 5 }, stored: 5 },
];
const storedBut = (code: number, reason: string): SendRow => [
  `${code}, stored`,
  { ...send, kind: 'refuse', with: code, done: true },
  { classes: { stored: 5, [reason]: 5 }, stored: 10 },
];

const SENDS: readonly SendRow[] = [
  refusedBy(
    14,
    'service not available now. [CL:  0.95 CQ:  0.95 INDEX: -1.00]',
    'refused SERVICE_NOT_AVAILABLE (14): disk full or a slave',
  ),
  refusedBy(2, '[OVERLOAD]system busy', 'busy SYSTEM_BUSY (2) [OVERLOAD]'),
  refusedBy(2, '[REJECTREQUEST]system busy', 'busy SYSTEM_BUSY (2) [REJECTREQUEST]'),
  refusedBy(2, '[TIMEOUT_CLEAN_QUEUE]broker busy', 'busy SYSTEM_BUSY (2) [TIMEOUT_CLEAN_QUEUE]'),
  refusedBy(2, '[PCBUSY_CLEAN_QUEUE]broker busy', 'busy SYSTEM_BUSY (2) [PCBUSY_CLEAN_QUEUE]'),
  refusedBy(1, '[PC_SYNCHRONIZED]broker busy', 'busy SYSTEM_ERROR (1) [PC_SYNCHRONIZED]'),
  refusedBy(16, 'the broker[b] sending message is forbidden', 'refused NO_PERMISSION (16)'),
  refusedBy(17, 'topic[topic] not exist', 'refused TOPIC_NOT_EXIST (17)'),
  refusedBy(29, 'the topic is illegal', 'refused INVALID_PARAMETER (29)'),
  refusedBy(13, 'the message is illegal', 'refused MESSAGE_ILLEGAL (13)'),
  refusedBy(1, 'message body size exceeded', 'refused SYSTEM_ERROR (1): message too large'),
  refusedBy(
    1,
    'AclException: Check signature failed',
    'refused SYSTEM_ERROR (1): signature refused (wrong secret key)',
  ),
  storedBut(10, 'flushDiskTimeout FLUSH_DISK_TIMEOUT (10)'),
  storedBut(11, 'slaveNotAvailable SLAVE_NOT_AVAILABLE (11)'),
  storedBut(12, 'flushSlaveTimeout FLUSH_SLAVE_TIMEOUT (12)'),
  [
    'no answer, not stored',
    { ...send, ...only(4), kind: 'silent' },
    { classes: { stored: 9, 'timedOut timed out': 1 }, stored: 9 },
  ],
  [
    'no answer, and stored',
    { ...send, ...only(4), kind: 'silent', done: true },
    { classes: { stored: 9, 'timedOut timed out': 1 }, stored: 10 },
  ],
  [
    'an answer after its time',
    { ...send, ...only(3), kind: 'slow', ms: 400 },
    { classes: { stored: 9, 'timedOut timed out': 1 }, stored: 10 },
  ],
  ['a slow answer', { ...send, kind: 'slow', ms: 20 }, { classes: { stored: 10 } }],
  ['answers a byte at a time', { ...send, kind: 'pieces', bytes: 16 }, { classes: { stored: 10 } }],
  ['every answer twice', { ...send, every: 1, kind: 'twice' }, { classes: { stored: 10 } }],
  [
    'a connection that ends before the answer',
    { ...send, ...only(4), kind: 'cut', passing: 0 },
    { classes: { stored: 9, 'connectionLost connection lost': 1 }, losses: 1, stored: 10 },
  ],
  [
    'a connection that ends in the frame’s head',
    { ...send, ...only(4), kind: 'cut', passing: 5 },
    { classes: { stored: 9, 'connectionLost connection lost': 1 }, losses: 1, stored: 10 },
  ],
  [
    'a connection that ends in the middle of an answer',
    { ...send, ...only(4), kind: 'cut', passing: 40 },
    { classes: { stored: 9, 'connectionLost connection lost': 1 }, losses: 1, stored: 10 },
  ],
  [
    'bytes that are no frame',
    {
      ...send,
      ...only(4),
      kind: 'garbage',
      bytes: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
    },
    { classes: { stored: 9, 'connectionLost connection lost': 1 }, losses: 1 },
  ],
  [
    'an offset that is a lie',
    { ...send, kind: 'rewrite', ext: { queueOffset: '999999999' } },
    { classes: { stored: 10 } },
  ],
  [
    'an offset that is no number',
    { ...send, kind: 'rewrite', ext: { queueOffset: 'many' } },
    { classes: { stored: 10 } },
  ],
];

describe('what becomes of messages that are sent', () => {
  test.each(SENDS)('%s', async (_what, fault, expected) => {
    const injected = broker.inject(fault);
    const told = await sendAll();
    expect(told).toEqual({ classes: expected.classes, losses: expected.losses ?? 0 });
    expect(injected.count).toBeGreaterThan(0);
    // What was acknowledged is there, and nothing was sent a second time behind our back.
    expect(broker.came(sendMessageV2)).toBe(MESSAGES);
    expect(stored()).toBe(expected.stored ?? MESSAGES);
  });

  test('the answer to another message in between: each has its own', async () => {
    broker.inject({ ...send, kind: 'swap' });
    const offsets = new Map<number, number>();
    const producer = await client.produce(
      { topic: TOPIC, group: 'pg', firstQueue: 0 },
      { settled: (token, { queueOffset }) => offsets.set(token, queueOffset) },
    );
    // The last one must not be a held one: nothing would overtake it.
    for (let n = 0; n < 9; n += 1) producer.send(n, messageOf(n));
    await expect.poll(() => offsets.size).toBe(9);
    expect([...offsets].every(([token, offset]) => token === offset)).toBe(true);
    expect([...offsets.keys()]).not.toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test('who sends on as soon as a message is lost with its connection finds none', async () => {
    broker.inject({ ...send, ...only(1), kind: 'cut', passing: 0 });
    const found: boolean[] = [];
    const producer = await client.produce(
      { topic: TOPIC, group: 'pg', firstQueue: 0 },
      {
        settled: () =>
          found.push(producer.isConnected, producer.send(1, messageOf(1)) === Sent.notConnected),
      },
    );
    producer.send(0, messageOf(0));
    await expect.poll(() => found).toEqual([false, true]);
  });

  test('names and sizes that no broker takes: refused by the broker as by a real one', async () => {
    broker.maxMessageBytes = 8;
    const told = await sendAll();
    expect(told.classes).toEqual({ 'refused MESSAGE_ILLEGAL (13)': MESSAGES });
    expect(stored()).toBe(0);
  });
});

interface Consumed {
  readonly counts: ConsumerCounts;
  readonly bodies: string[];
  readonly damaged: string[];
  readonly failures: string[];
}

async function consume(): Promise<Consumed> {
  const found: Omit<Consumed, 'counts'> = { bodies: [], damaged: [], failures: [] };
  const consumer = await client.consume(
    { topic: TOPIC, group: 'g', from: { at: 'first' }, suspendMs: 200, pullMax: 4 },
    {
      received: (record) => {
        const body = record.bytes.toString('utf8', record.bodyAt, record.bodyEnd);
        found.bodies.push(body);
        if (!crcMatches(record)) found.damaged.push(body);
        return true;
      },
      failed: (during, reason) => found.failures.push(`${during}: ${reason}`),
    },
  );
  return { ...found, counts: consumer.counts };
}

const all = Array.from({ length: MESSAGES }, (_, n) => `message ${n}`);

describe('what a consumer finds', () => {
  test.each([
    [
      'one that was acknowledged and lost',
      { kind: 'lose' },
      { bodies: all.toSpliced(3, 1), gaps: 0, damaged: [] },
    ],
    [
      'one that was stored twice',
      { kind: 'again' },
      { bodies: all.toSpliced(3, 0, 'message 3'), gaps: 0, damaged: [] },
    ],
    [
      'one whose body is another than its checksum',
      { kind: 'rot' },
      { bodies: all.with(3, 'message 2'), gaps: 0, damaged: ['message 2'] },
    ],
    [
      'one whose checksum fits a body that nobody sent',
      { kind: 'corrupt' },
      { bodies: all.with(3, 'message 2'), gaps: 0, damaged: [] },
    ],
    ['an offset that nobody has', { kind: 'skip' }, { bodies: all, gaps: 1, damaged: [] }],
  ] as const)('%s', async (_what, fault, expected) => {
    broker.inject({ code: sendMessageV2, ...only(4), ...fault });
    expect((await sendAll()).classes).toEqual({ stored: MESSAGES });
    const found = await consume();
    await expect.poll(() => found.bodies).toEqual(expected.bodies);
    expect(found.damaged).toEqual(expected.damaged);
    expect(found.counts).toMatchObject({ gaps: expected.gaps, repeats: 0, offsetsMoved: 0 });
    expect(found.failures).toEqual([]);
  });

  test.each<readonly [string, Fault, readonly string[]]>([
    [
      'a pull that is refused',
      { code: pullMessage, ...only(2), kind: 'refuse', with: 16, remark: '' },
      ['pull: NO_PERMISSION (16)'],
    ],
    [
      'a pull that is too busy',
      { code: pullMessage, ...only(2), kind: 'refuse', with: 2, remark: '[OVERLOAD]' },
      ['pull: SYSTEM_BUSY (2) [OVERLOAD]'],
    ],
    [
      'a pull whose answer ends half-way',
      { code: pullMessage, ...only(2), kind: 'cut', passing: 90 },
      ['pull: connection lost'],
    ],
    ['an answer in small pieces', { code: pullMessage, kind: 'pieces', bytes: 100 }, []],
    ['every answer twice', { code: pullMessage, kind: 'twice' }, []],
  ])('%s: all messages once, in order', async (_what, fault, failures) => {
    await sendAll();
    broker.inject(fault);
    const found = await consume();
    await expect.poll(() => found.bodies, { timeout: 6_000 }).toEqual(all);
    expect(found.counts).toMatchObject({ messages: MESSAGES, gaps: 0, repeats: 0 });
    expect(found.failures.filter((each) => each.startsWith('pull'))).toEqual(failures);
  });

  test.each([
    ['forward', '6', all.toSpliced(4, 2), { messages: 8, gaps: 2, repeats: 0 }],
    [
      'back',
      '2',
      all.toSpliced(4, 0, 'message 2', 'message 3'),
      { messages: 12, gaps: 0, repeats: 2 },
    ],
  ] as const)(
    'a lie that leads %s is followed: what it passes over is counted, and so is what comes again',
    async (_way, nextBeginOffset, bodies, counts) => {
      await sendAll();
      broker.inject({ code: pullMessage, ...only(1), kind: 'rewrite', ext: { nextBeginOffset } });
      const found = await consume();
      await expect.poll(() => found.bodies).toEqual(bodies);
      expect(found.counts).toMatchObject(counts);
    },
  );
});

describe('routes and name servers', () => {
  test('a dead name server in the list is passed over', async () => {
    await client.end();
    client = newClient(['127.0.0.1:9', broker.address]);
    expect((await sendAll()).classes).toEqual({ stored: MESSAGES });
  });

  test('a name server that is silent is passed over', async () => {
    const silent = await FaultBroker.start();
    silent.inject({ code: getRouteInfoByTopic, kind: 'silent' });
    await client.end();
    client = newClient([silent.address, broker.address]);
    expect((await sendAll()).classes).toEqual({ stored: MESSAGES });
    expect(silent.came(getRouteInfoByTopic)).toBe(1);
    await silent.stop();
  });

  test('a topic that nobody made is told by its name', async () => {
    broker.autoCreate = false;
    await client.end();
    client = new RocketmqClient({
      nameServers: [broker.address],
      readClock: (cell) => {
        cell[0] = performance.now() * 1e3;
      },
      routeWaitMs: 0,
    });
    await expect(sendAll()).rejects.toMatchObject({
      code: 'ROUTE',
      message: `topic ${TOPIC} has no route at name server ${broker.address}`,
    });
  });

  test('a broker that leaves takes its queues with it, and the others go on', async () => {
    const other = await FaultBroker.start('other');
    other.queues = 1;
    broker.peers.push(other);
    const outcomes: { readonly broker: string; readonly outcome: Outcome }[] = [];
    const producer = await client.produce(
      { topic: TOPIC, group: 'pg', timeoutMs: 500, firstQueue: 0 },
      {
        settled: (_token, { brokerName, outcome }) =>
          outcomes.push({ broker: brokerName, outcome }),
      },
    );
    other.store.create(TOPIC, 1);
    const sendOne = async (n: number): Promise<void> => {
      expect(producer.send(n, messageOf(n))).toBe(Sent.accepted);
      await expect.poll(() => outcomes.length, { interval: 2 }).toBe(n + 1);
    };
    for (let n = 0; n < 4; n += 1) await sendOne(n);
    expect(new Set(outcomes.map((each) => each.broker))).toEqual(new Set(['b', 'other']));
    await other.stop();
    await expect.poll(() => producer.queueCount, { timeout: 5_000 }).toBe(1);
    for (let n = 4; n < 8; n += 1) await sendOne(n);
    expect(outcomes.slice(4).every((each) => each.broker === 'b' && isStored(each.outcome))).toBe(
      true,
    );
  });

  test('a heartbeat that is refused is told, and the group begins when it is taken', async () => {
    await sendAll();
    broker.inject({
      code: heartbeat,
      ...only(1),
      kind: 'refuse',
      with: 16,
      remark: 'no permission',
    });
    await expect(consume()).rejects.toMatchObject({ code: 'ANSWER' });
  });
});
