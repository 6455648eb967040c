import type { Report } from '@squall/core/report';
import { FaultBroker, only, ScramServer } from '@squall/mqtt/testing';
import { connectAsync, type IPublishPacket, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, test as plainTest } from 'vitest';
import { FaultRelay } from '../fixtures/fault-relay.ts';
import { faultsOf } from '../fixtures/faults-of.ts';
import { Fleet } from '../fixtures/fleet.ts';
import { Mosquitto, mosquittoMissing } from '../fixtures/mosquitto.ts';
import { until } from '../fixtures/process.ts';

/** Every version and QoS against a real Mosquitto, which speaks all of them. */
const VERSIONS = ['3.1', '3.1.1', '5'] as const;
type Version = (typeof VERSIONS)[number];

const missing = mosquittoMissing();
const test = plainTest.extend<{ ready: boolean }>({
  ready: [
    async ({ skip }, use) => {
      if (missing !== null) skip(missing);
      await use(true);
    },
    { auto: true },
  ],
});
const DEVICES = 4;
const MESSAGES = 10;
const EVERY_MS = 50;

let fleet: Fleet;
let broker: Mosquitto;
/** One that can do little, and says so to clients of MQTT 5. */
let small: Mosquitto;
let topics = 0;

beforeAll(async () => {
  if (missing !== null) return;
  [fleet, broker, small] = await Promise.all([
    Fleet.start(4),
    Mosquitto.start(),
    Mosquitto.start([
      'max_qos 1',
      'retain_available false',
      'max_packet_size 300',
      'max_keepalive 30',
    ]),
  ]);
}, 60_000);

afterAll(async () => {
  if (missing !== null) return;
  await fleet.close();
  await Promise.all([broker.dispose(), small.dispose()]);
});

interface Needs {
  readonly version: Version;
  readonly url?: string;
  readonly connect?: Readonly<Record<string, unknown>>;
  readonly publish?: Readonly<Record<string, unknown>>;
  readonly subscribe?: Readonly<Record<string, unknown>>;
  readonly stages?: readonly unknown[];
}

/** Devices publish, one reader gets everything; topics and client ids are of this run alone. */
function planOf(needs: Needs): { plan: Record<string, unknown>; prefix: string } {
  topics += 1;
  const prefix = `v${topics}`;
  const connect = { rate: '1000/s', backoff: { min: '10ms', max: '20ms' }, ...needs.connect };
  const plan = {
    squall: 1,
    name: 'versions',
    targets: {
      broker: { protocol: 'mqtt', urls: [needs.url ?? broker.url], version: needs.version },
    },
    groups: {
      devices: {
        target: 'broker',
        clients: DEVICES,
        clientId: `${prefix}-device-{{n}}`,
        connect,
        publish: {
          topic: `${prefix}/d/{{n}}`,
          payload: '60B',
          every: `${EVERY_MS}ms`,
          ...needs.publish,
        },
      },
      readers: {
        target: 'broker',
        clients: 1,
        clientId: `${prefix}-reader-{{n}}`,
        connect: { rate: '1000/s' },
        subscribe: { topic: `${prefix}/d/#`, ...needs.subscribe },
      },
    },
    stages: needs.stages ?? [
      { name: 'connect', run: { readers: 'subscribe', devices: 'connect' } },
      { name: 'publish', run: { devices: 'publish' }, for: `${MESSAGES * EVERY_MS}ms` },
    ],
    drain: '5s',
    settle: { quiet: '300ms', max: '5s' },
  };
  return { plan, prefix };
}

function counter(report: Report, group: string, name: string): number {
  const counters: Readonly<Record<string, number | undefined>> =
    report.groups[group]?.counters ?? {};
  return counters[name] ?? 0;
}

/** Another library, which sees what subscribers get. */
async function observe(filter: string): Promise<{ client: MqttClient; seen: IPublishPacket[] }> {
  const seen: IPublishPacket[] = [];
  const client = await connectAsync(broker.url, { protocolVersion: 5 });
  client.on('message', (_topic, _payload, packet) => seen.push(packet));
  await client.subscribeAsync(filter, { qos: 2 });
  return { client, seen };
}

describe.concurrent('every version at every QoS', { timeout: 60_000 }, () => {
  const cases = VERSIONS.flatMap((version) => [0, 1, 2].map((qos) => ({ version, qos })));
  test.for(cases)('MQTT $version, QoS $qos: the books balance', async ({ version, qos }) => {
    const { plan } = planOf({ version, publish: { qos }, subscribe: { qos } });
    const report = await fleet.run(plan);
    expect(faultsOf(report)).toEqual({});
    const all = DEVICES * MESSAGES;
    expect(counter(report, 'devices', 'published')).toBe(all);
    expect(counter(report, 'devices', 'acked')).toBe(qos === 0 ? 0 : all);
    expect(counter(report, 'readers', 'received')).toBe(all);
    expect(report.ledger).toMatchObject([{ qos, expected: all, unique: all, lost: 0 }]);
  });
});

describe.concurrent('a session that is kept goes on', { timeout: 60_000 }, () => {
  const kept = { cleanStart: false, retries: 9 };
  /** Each of these breaks the connection once. */
  const ways = ['toBroker', 'recToPublisher', 'relToBroker', 'compToPublisher'] as const;

  test.for(VERSIONS)(
    'MQTT %s, QoS 2: whatever step a connection breaks at, each message comes once',
    async (version) => {
      const faults = ways.map((way, k) => ({ way, kind: 'cut', ...only(5 + k) }) as const);
      const relay = await FaultRelay.before(broker.port, faults);
      try {
        const { plan } = planOf({
          version,
          url: relay.url,
          connect: kept,
          publish: { qos: 2 },
          subscribe: { qos: 2 },
        });
        const report = await fleet.run(plan);
        const all = DEVICES * MESSAGES;
        expect(relay.injected.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
        expect(counter(report, 'devices', 'retransmitted')).toBeGreaterThanOrEqual(4);
        expect(counter(report, 'devices', 'acked')).toBe(all);
        expect(report.ledger).toMatchObject([
          { expected: all, unique: all, received: all, lost: 0, duplicated: 0, unresolved: 0 },
        ]);
      } finally {
        await relay.close();
      }
    },
  );

  test.for(VERSIONS)('MQTT %s, QoS 1: what is not acknowledged comes again', async (version) => {
    const relay = await FaultRelay.before(broker.port, [
      { way: 'ackToPublisher', kind: 'cut', ...only(7) },
    ]);
    try {
      const { plan } = planOf({
        version,
        url: relay.url,
        connect: kept,
        publish: { qos: 1 },
        subscribe: { qos: 1 },
      });
      const report = await fleet.run(plan);
      const all = DEVICES * MESSAGES;
      expect(counter(report, 'devices', 'retransmitted')).toBeGreaterThan(0);
      expect(counter(report, 'devices', 'acked')).toBe(all);
      expect(report.ledger).toMatchObject([{ expected: all, unique: all, lost: 0 }]);
    } finally {
      await relay.close();
    }
  });
});

describe.concurrent('what a broker of MQTT 5 says', { timeout: 60_000 }, () => {
  test('its receive maximum is kept to, over all streams of a client', async () => {
    const narrow = await Mosquitto.start(['max_inflight_messages 3']);
    const relay = await FaultRelay.before(narrow.port, [
      { way: 'ackToPublisher', kind: 'hold', ms: 40, every: 3 },
    ]);
    try {
      const { plan } = planOf({
        version: '5',
        url: relay.url,
        publish: { qos: 1, every: undefined, rate: 'max', inflight: 50 },
        subscribe: { qos: 0 },
        stages: [
          { name: 'connect', run: { readers: 'subscribe', devices: 'connect' } },
          { name: 'publish', run: { devices: 'publish' }, for: '2500ms' },
        ],
      });
      const report = await fleet.run(plan);
      // A broker that gets more ends the connection [MQTT-3.3.4-9].
      expect(faultsOf(report)).toEqual({});
      expect(counter(report, 'devices', 'acked')).toBeGreaterThan(DEVICES * MESSAGES);
      const most = report.timeline.series
        .filter(({ metric, labels }) => metric === 'inflight' && labels['group'] === 'devices')
        .flatMap(({ values }) => values.filter((value) => value !== null));
      expect(Math.max(...most)).toBeLessThanOrEqual(3 * DEVICES);
      expect(Math.max(...most)).toBeGreaterThan(0);
    } finally {
      await relay.close();
      await narrow.dispose();
    }
  });

  test.for([
    ['QoS 2 above its maximum', { qos: 2 }, 'QoS not supported (0x9b)'],
    ['retained messages', { qos: 1, retain: true }, 'retain not supported (0x9a)'],
    ['packets above its limit', { qos: 1, payload: '400B' }, 'packet too large (0x95)'],
  ] as const)('%s are not sent, and counted by name', async ([, publish, why]) => {
    const { plan } = planOf({
      version: '5',
      url: small.url,
      publish,
      subscribe: { qos: 1 },
    });
    const report = await fleet.run(plan);
    expect(faultsOf(report)).toEqual({
      [`devices publish_failed: not sent: by the limits in CONNACK: ${why}`]: DEVICES * MESSAGES,
    });
    expect(counter(report, 'devices', 'sent')).toBe(0);
  });

  test.for([
    [
      'shared subscriptions',
      { share: 'crew' },
      { sharedSubscriptionAvailable: false },
      'shared subscriptions not supported (0x9e)',
    ],
    [
      'wildcards',
      {},
      { wildcardSubscriptionAvailable: false },
      'wildcard subscriptions not supported (0xa2)',
    ],
    [
      'subscription identifiers',
      { options: { identifier: 5 } },
      { subscriptionIdentifierAvailable: false },
      'subscription identifiers not supported (0xa1)',
    ],
  ] as const)('%s that it does not have are not asked for', async ([, subscribe, connack, why]) => {
    const fake = await FaultBroker.start({ connack });
    try {
      const { plan } = planOf({ version: '5', url: fake.url, subscribe });
      const report = await fleet.run(plan);
      expect(report.groups['readers']?.reasons['subscribe_failed']).toEqual({
        [`not sent: by the limits in CONNACK: ${why}`]: 1,
      });
      expect(fake.came('subscribe')).toBe(0);
      expect(counter(report, 'devices', 'published')).toBe(DEVICES * MESSAGES);
    } finally {
      await fake.close();
    }
  });
});

describe.concurrent('what MQTT 5 adds to messages', { timeout: 60_000 }, () => {
  test('properties come as the plan has them', async () => {
    const { plan, prefix } = planOf({
      version: '5',
      publish: {
        qos: 1,
        expiry: '90s',
        properties: {
          contentType: 'text/plain',
          responseTopic: 'answers/{{n}}',
          correlationData: 'c{{n}}-{{seq}}',
          payloadFormat: 'bytes',
          userProperties: { site: ['a', 'b{{n}}'] },
        },
      },
      subscribe: { qos: 1 },
    });
    const { client, seen } = await observe(`${prefix}/d/2`);
    const report = await fleet.run(plan);
    expect(faultsOf(report)).toEqual({});
    await until('all messages are seen', () => seen.length === MESSAGES);
    await client.endAsync(true);
    expect(seen.map(({ properties }) => properties)).toMatchObject(
      seen.map((_, seq) => ({
        contentType: 'text/plain',
        responseTopic: 'answers/2',
        correlationData: Buffer.from(`c2-${seq}`),
        payloadFormatIndicator: false,
        userProperties: { site: ['a', 'b2'] },
      })),
    );
    expect(seen[0]?.properties?.messageExpiryInterval).toBeGreaterThan(80);
  });

  test('a topic alias saves its topic', async () => {
    const long = 'x'.repeat(200);
    const bytesOf = async (topicAlias: number | undefined): Promise<number> => {
      const { plan, prefix } = planOf({ version: '5', publish: { qos: 1, topicAlias } });
      const groups = plan['groups'] as Record<string, { publish: { topic: string } }>;
      const { devices } = groups;
      if (devices !== undefined) devices.publish.topic = `${prefix}/d/{{n}}/${long}`;
      const report = await fleet.run(plan);
      expect(faultsOf(report)).toEqual({});
      return counter(report, 'devices', 'wire_sent');
    };
    const [without, with1] = await Promise.all([bytesOf(undefined), bytesOf(1)]);
    // All but the first message of each device.
    const saved = without - with1;
    expect(saved).toBeGreaterThan(DEVICES * (MESSAGES - 1) * long.length);
    expect(saved).toBeLessThan(DEVICES * MESSAGES * long.length);
  });

  test.for(VERSIONS)('MQTT %s: a will is sent for a client that is cut off', async (version) => {
    const { plan, prefix } = planOf({
      version,
      connect: {
        will: {
          topic: 'gone/{{n}}',
          payload: { text: 'bye' },
          qos: 1,
          ...(version === '5' && { properties: { userProperties: { why: 'cut {{n}}' } } }),
        },
      },
      stages: [
        { name: 'connect', run: { devices: 'connect' } },
        { name: 'cut', run: { devices: { disconnect: { by: 'reset' } } } },
      ],
    });
    const groups = plan['groups'] as Record<string, { connect: { will: { topic: string } } }>;
    const { devices } = groups;
    if (devices !== undefined) devices.connect.will.topic = `${prefix}/gone/{{n}}`;
    const { client, seen } = await observe(`${prefix}/gone/+`);
    await fleet.run(plan);
    await until('all wills are seen', () => seen.length === DEVICES);
    await client.endAsync(true);
    const wills = seen.toSorted((a, b) => (a.topic < b.topic ? -1 : 1));
    expect(wills.map(({ topic, payload }) => [topic, payload.toString()])).toEqual(
      Array.from({ length: DEVICES }, (_, k) => [`${prefix}/gone/${k + 1}`, 'bye']),
    );
    expect(wills.map(({ properties }) => properties?.userProperties?.['why'])).toEqual(
      wills.map((_, k) => (version === '5' ? `cut ${k + 1}` : undefined)),
    );
  });

  test.for([
    ['the right password', 'secret', {}],
    ['a wrong one', 'another', { 'devices connect_failed: not authorized (0x87)': DEVICES }],
  ] as const)('SCRAM-SHA-256 with %s', async ([, password, found]) => {
    // No broker that can be had for a test has SCRAM without a plug-in.
    const server = new ScramServer('secret');
    const fake = await FaultBroker.start({ auth: (step) => server.answer(step) });
    try {
      const { plan } = planOf({
        version: '5',
        url: fake.url,
        connect: { auth: { method: 'SCRAM-SHA-256' }, retries: 0 },
        stages: [{ name: 'connect', run: { devices: 'connect' } }],
      });
      const groups = plan['groups'] as Record<string, object>;
      groups['devices'] = { ...groups['devices'], username: 'device-{{n}}', password };
      const report = await fleet.run(plan);
      expect(faultsOf(report)).toEqual(found);
      expect(fake.violations).toEqual([]);
    } finally {
      await fake.close();
    }
  });

  test('options of subscriptions do what they say', async () => {
    const { plan } = planOf({
      version: '5',
      publish: { qos: 1 },
      subscribe: { qos: 2, options: { identifier: 7, retainAsPublished: true, retainHandling: 2 } },
    });
    const report = await fleet.run(plan);
    expect(faultsOf(report)).toEqual({});
    expect(counter(report, 'readers', 'received')).toBe(DEVICES * MESSAGES);
  });
});
