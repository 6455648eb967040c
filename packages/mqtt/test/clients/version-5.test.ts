import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Properties } from '../../src/codec/index.ts';
import { encodePublishProperties, createMqttClients, type MqttClients } from '../../src/index.ts';
import { type AuthStep, type Fault, FaultBroker, ScramServer } from '../../src/testing/index.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

let broker: FaultBroker | null = null;
let clients: MqttClients | null = null;

afterEach(async () => {
  clients?.close();
  clients = null;
  await broker?.close();
  broker = null;
});

interface Scene {
  readonly broker: FaultBroker;
  readonly clients: MqttClients;
  readonly recorder: Recorder;
}

interface SceneOptions {
  readonly slots?: number;
  readonly connack?: Properties;
  readonly faults?: readonly Fault[];
  readonly auth?: (step: AuthStep) => { reasonCode: number; data?: Uint8Array };
  readonly ignoresReceiveMaximum?: boolean;
  readonly maxPacketBytes?: number;
}

async function scene(options: SceneOptions = {}): Promise<Scene> {
  const { slots = 1, maxPacketBytes = 100_000, ...rest } = options;
  const recorder = new Recorder();
  broker = await FaultBroker.start(rest);
  clients = createMqttClients({ slots, handlers: recorder, version: '5', maxPacketBytes });
  return { broker, clients, recorder };
}

async function connected(options: SceneOptions = {}, overrides = {}): Promise<Scene> {
  const made = await scene(options);
  for (let slot = 0; slot < (options.slots ?? 1); slot += 1) {
    made.clients.connect(
      slot,
      connectOptions(made.broker.port, { clientId: `c${slot}`, ...overrides }),
    );
  }
  await made.recorder.until(() => made.recorder.of('onConnected').length === (options.slots ?? 1));
  return made;
}

/** A message of no meaning, at which the broker does its worst. */
function provoke({ clients: own }: Scene): void {
  own.publish(0, message('provoke', ''));
  own.flush();
}

/** Subscribes slot 0 and waits for the answer. */
async function subscribe({ clients: own, recorder }: Scene, request = {}): Promise<void> {
  const before = recorder.of('onSuback').length;
  own.subscribe(0, { packetId: 65_520, filters: ['t/#'], qos: 2, ...request });
  own.flush();
  await recorder.until(() => recorder.of('onSuback').length > before);
}

describe('MQTT 5: what a broker says at CONNECT', () => {
  test.each([
    [0x80, 'unspecified error (0x80)'],
    [0x84, 'unsupported protocol version (0x84)'],
    [0x86, 'bad user name or password (0x86)'],
    [0x8a, 'banned (0x8a)'],
    [0x9c, 'use another server (0x9c)'],
    [0x9d, 'server moved (0x9d)'],
    [0x9f, 'connection rate exceeded (0x9f)'],
  ])('CONNACK 0x%i is named', async (reasonCode, reason) => {
    const made = await scene({
      faults: [{ way: 'connect', kind: 'refuse', reasonCode }],
    });
    made.clients.connect(0, connectOptions(made.broker.port));
    expect((await made.recorder.first('onConnectFailed')).reason).toBe(reason);
    expect(made.clients.isIdle(0)).toBe(true);
  });

  test('a client without id is called by the broker, and comes back by that name', async () => {
    const made = await connected({}, { clientId: '' });
    const assigned = made.clients.assignedClientId(0);
    expect(assigned).toBe(made.broker.clientIds[0]);
    for (let again = 1; again < 3; again += 1) {
      made.clients.disconnect(0);
      const clientId = made.clients.assignedClientId(0) ?? '';
      made.clients.connect(0, connectOptions(made.broker.port, { clientId }));
      await made.recorder.until(() => made.recorder.of('onConnected').length > again);
    }
    expect(made.broker.clientIds).toEqual([assigned, assigned, assigned]);
    made.clients.disconnect(0);
    made.clients.connect(0, connectOptions(made.broker.port, { clientId: 'its-own' }));
    await made.recorder.until(() => made.recorder.of('onConnected').length === 4);
    expect(made.clients.assignedClientId(0)).toBeNull();
  });

  test('the server’s keep-alive counts', async () => {
    const made = await connected({ connack: { serverKeepAlive: 1 } }, { keepAliveS: 0 });
    await made.recorder.until(() => made.broker.came('pingreq') >= 2);
    expect(made.clients.isConnected(0)).toBe(true);
  });

  test('its limits are kept to, and named where something is not to be had', async () => {
    const made = await connected({
      connack: {
        receiveMaximum: 7,
        maximumQos: 1,
        retainAvailable: false,
        maximumPacketSize: 200,
        wildcardSubscriptionAvailable: false,
        sharedSubscriptionAvailable: false,
        subscriptionIdentifierAvailable: false,
      },
    });
    const own = made.clients;
    expect(own.limits.receiveMaximum[0]).toBe(7);
    expect(own.limits.isTight[0]).toBe(1);
    expect(own.publishRefusal(0, message('t', 'x', { qos: 1 }))).toBeNull();
    expect(own.publishRefusal(0, message('t', 'x', { qos: 2 }))).toMatch(/QoS not supported/);
    expect(own.publishRefusal(0, message('t', 'x', { retain: true }))).toMatch(/retain not/);
    expect(own.publishRefusal(0, message('t', 'x'.repeat(200)))).toMatch(/packet too large/);
    const request = { packetId: 65_520, filters: ['t'], qos: 1 } as const;
    expect(own.subscribe(0, { ...request, filters: ['t/+'] })).toMatch(
      /wildcard subscriptions not/,
    );
    expect(own.subscribe(0, { ...request, filters: ['$share/g/t'] })).toMatch(
      /shared subscriptions/,
    );
    expect(own.subscribe(0, { ...request, identifier: 1 })).toMatch(/subscription identifiers not/);
    expect(own.subscribe(0, { ...request, filters: ['t'.repeat(200)] })).toMatch(
      /packet too large/,
    );
    expect(own.subscribe(0, request)).toBeNull();
    own.flush();
    await made.recorder.first('onSuback');
    expect(made.broker.came('subscribe')).toBe(1);
    expect(made.broker.violations).toEqual([]);
  });

  test('a broker without limits takes everything', async () => {
    const made = await connected();
    expect(made.clients.limits.isTight[0]).toBe(0);
    expect(made.clients.limits.receiveMaximum[0]).toBe(65_535);
    const large = message('t', 'x'.repeat(90_000), { qos: 2, retain: true });
    expect(made.clients.publishRefusal(0, large)).toBeNull();
  });

  test('CONNECT carries its will and its properties', async () => {
    const made = await connected(
      { slots: 2 },
      { properties: { sessionExpiryInterval: 60, userProperties: [['a', 'b']] } },
    );
    made.clients.subscribe(0, { packetId: 65_520, filters: ['will/#'], qos: 1 });
    made.clients.flush();
    await made.recorder.first('onSuback');
    made.clients.destroy(1);
    made.clients.connect(
      1,
      connectOptions(made.broker.port, {
        clientId: 'dies',
        will: {
          topic: 'will/x',
          payload: Buffer.from('gone'),
          qos: 1,
          retain: false,
          properties: { messageExpiryInterval: 9, responseTopic: 'r' },
        },
      }),
    );
    await made.recorder.until(() => made.recorder.of('onConnected').length === 3);
    made.clients.destroy(1);
    expect(await made.recorder.first('onPublish')).toMatchObject({
      topic: 'will/x',
      payload: 'gone',
      responseTopic: 'r',
      expiryS: 9,
    });
  });
});

describe('MQTT 5: messages', () => {
  test('properties travel, both ways', async () => {
    const made = await connected();
    await subscribe(made, { identifier: 77 });
    const properties = encodePublishProperties({
      messageExpiryInterval: 600,
      responseTopic: 'answers/1',
      correlationData: Buffer.from('id-1'),
      contentType: 'text/plain',
      payloadFormatIndicator: 1,
      userProperties: [['k', 'v']],
    });
    made.clients.publish(0, message('t/1', 'hello', { qos: 1, packetId: 1, properties }));
    made.clients.flush();
    expect(await made.recorder.first('onPublish')).toMatchObject({
      topic: 't/1',
      payload: 'hello',
      responseTopic: 'answers/1',
      correlation: 'id-1',
      expiryS: 600,
      identifiers: [77],
    });
    await made.recorder.first('onPuback');
    expect(made.broker.violations).toEqual([]);
  });

  test('topics get aliases as far as broker and message allow', async () => {
    const made = await connected({ connack: { topicAliasMaximum: 2 } });
    await subscribe(made, { qos: 0 });
    const topics = ['t/1', 't/2', 't/3', 't/1', 't/2', 't/3', 't/1'];
    const items = new Map(
      ['t/1', 't/2', 't/3'].map((topic) => [topic, message(topic, '', { aliases: 9 })]),
    );
    let sizes = '';
    for (const topic of topics) {
      const item = items.get(topic) ?? message(topic, '');
      const before = made.clients.wireSent;
      made.clients.publish(0, item);
      made.clients.flush();
      sizes += ` ${made.clients.wireSent - before}`;
    }
    // Whole topic with a new alias, whole without one, alias alone.
    expect(sizes).toBe(' 11 11 8 8 8 8 8');
    await made.recorder.until(() => made.recorder.of('onPublish').length === topics.length);
    expect(made.recorder.of('onPublish').map((e) => e.topic)).toEqual(topics);
    expect(made.broker.violations).toEqual([]);
  });

  test('a topic that changes with every message has its alias by its text', async () => {
    const made = await connected({ connack: { topicAliasMaximum: 5 } });
    await subscribe(made, { qos: 0 });
    const item = message('t/0', '', { aliases: 3 });
    const topics = ['t/a', 't/b', 't/a', 't/c', 't/d', 't/b'];
    for (const topic of topics) {
      item.topics.clear();
      item.topic = item.topics.add(topic);
      made.clients.publish(0, item);
    }
    made.clients.flush();
    await made.recorder.until(() => made.recorder.of('onPublish').length === topics.length);
    expect(made.recorder.of('onPublish').map((e) => e.topic)).toEqual(topics);
    expect(made.broker.violations).toEqual([]);
  });

  test('aliases of one connection mean nothing to the next', async () => {
    const made = await connected({ connack: { topicAliasMaximum: 2 } });
    const item = message('t/1', '', { aliases: 1 });
    made.clients.publish(0, item);
    made.clients.publish(0, item);
    made.clients.disconnect(0);
    made.clients.connect(0, connectOptions(made.broker.port, { clientId: 'c0' }));
    await made.recorder.until(() => made.recorder.of('onConnected').length === 2);
    await subscribe(made, { qos: 0 });
    made.clients.publish(0, item);
    made.clients.flush();
    expect(await made.recorder.first('onPublish')).toMatchObject({ topic: 't/1' });
    expect(made.broker.violations).toEqual([]);
  });

  test('aliases of the broker stand for their topics', async () => {
    const named = { payload: Buffer.from('1'), properties: { topicAlias: 3 } };
    const publish = {
      type: 'publish',
      qos: 0,
      dup: false,
      retain: false,
      packetId: 0,
      ...named,
    } as const;
    const made = await connected(
      {
        faults: [
          {
            way: 'toBroker',
            kind: 'send',
            more: [
              { ...publish, topic: 'long/topic' },
              { ...publish, topic: '' },
              { ...publish, topic: 'other' },
              { ...publish, topic: '' },
            ],
            most: 1,
          },
        ],
      },
      { properties: { topicAliasMaximum: 3 } },
    );
    provoke(made);
    await made.recorder.until(() => made.recorder.of('onPublish').length === 4);
    expect(made.recorder.of('onPublish').map((e) => e.topic)).toEqual([
      'long/topic',
      'long/topic',
      'other',
      'other',
    ]);
  });

  test.each([
    ['an alias above the maximum', 4, 'x', /above the maximum/],
    ['an alias that stands for nothing', 2, '', /stands for nothing/],
  ])('%s ends the connection', async (_name, topicAlias, topic, reason) => {
    const publish = {
      type: 'publish',
      topic,
      qos: 0,
      dup: false,
      retain: false,
      packetId: 0,
      payload: Buffer.alloc(0),
      properties: { topicAlias },
    } as const;
    const made = await connected(
      { faults: [{ way: 'toBroker', kind: 'send', more: [publish], most: 1 }] },
      { properties: { topicAliasMaximum: 3 } },
    );
    provoke(made);
    expect((await made.recorder.first('onClosed')).reason).toMatch(reason);
  });

  test('reason codes of PUBACK, PUBREC and SUBACK are passed on', async () => {
    const made = await connected({
      faults: [
        { way: 'ackToPublisher', kind: 'rewrite', to: { reasonCode: 0x97 } },
        { way: 'recToPublisher', kind: 'rewrite', to: { reasonCode: 0x87 } },
        { way: 'suback', kind: 'rewrite', to: { reasonCodes: [0x8f, 1] } },
      ],
    });
    made.clients.publish(0, message('t', 'x', { qos: 1, packetId: 5 }));
    made.clients.publish(0, message('t', 'x', { qos: 2, packetId: 6 }));
    made.clients.subscribe(0, { packetId: 65_520, filters: ['a', 'b'], qos: 1 });
    made.clients.flush();
    expect(await made.recorder.first('onPuback')).toMatchObject({ packetId: 5, reasonCode: 0x97 });
    expect(await made.recorder.first('onPubrec')).toMatchObject({ packetId: 6, reasonCode: 0x87 });
    expect((await made.recorder.first('onSuback')).codes).toEqual([0x8f, 1]);
    await delay(30);
    // A message that was refused is not released.
    expect(made.broker.came('relToBroker')).toBe(0);
  });

  test('a broker that leaves says why', async () => {
    const made = await connected({
      faults: [{ way: 'toBroker', kind: 'disconnect', reasonCode: 0x8b }],
    });
    made.clients.publish(0, message('t', 'x'));
    made.clients.flush();
    expect((await made.recorder.first('onClosed')).reason).toBe(
      'disconnected by broker: server shutting down (0x8b)',
    );
  });

  test('a second client of the same id is told of as such', async () => {
    const made = await connected({ slots: 2 }, { clientId: 'twin' });
    const { reason } = await made.recorder.first('onClosed');
    expect(reason).toBe('disconnected by broker: session taken over (0x8e)');
  });

  test('a packet above the client’s limit ends the connection', async () => {
    const made = await connected({ maxPacketBytes: 1_000 });
    await subscribe(made);
    made.broker.publish({ topic: 't/1', payload: Buffer.alloc(2_000) });
    expect((await made.recorder.first('onClosed')).reason).toMatch(/above the size limit/);
  });

  test('a broker that has more open than the client’s receive maximum is cut off', async () => {
    const made = await connected(
      { ignoresReceiveMaximum: true, faults: [{ way: 'recToBroker', kind: 'drop' }] },
      { properties: { receiveMaximum: 2 } },
    );
    await subscribe(made);
    for (let n = 0; n < 3; n += 1) {
      made.broker.publish({ topic: 't/1', payload: Buffer.from(`${n}`), qos: 2 });
    }
    expect((await made.recorder.first('onClosed')).reason).toMatch(/the receive maximum/);
    expect(made.recorder.of('onPublish')).toHaveLength(2);
  });

  test('unsubscribing is answered filter by filter', async () => {
    const made = await connected();
    await subscribe(made);
    made.clients.unsubscribe(0, { packetId: 65_520, filters: ['t/#', 'never'] });
    made.clients.flush();
    expect((await made.recorder.first('onUnsuback')).codes).toEqual([0, 0x11]);
  });
});

describe('MQTT 5: enhanced authentication', () => {
  const auth = { method: 'SCRAM-SHA-256', username: 'ada', password: 'secret' } as const;

  test('a SCRAM exchange connects, and once more while connected', async () => {
    const server = new ScramServer('secret');
    const made = await connected({ auth: (step) => server.answer(step) }, { auth });
    let again = 0;
    made.clients.reauthenticate(0, auth, () => {
      again += 1;
    });
    made.clients.flush();
    await made.recorder.until(() => again === 1);
    expect(made.clients.isConnected(0)).toBe(true);
    expect(made.broker.violations).toEqual([]);
  });

  test('a wrong password is refused by name', async () => {
    const server = new ScramServer('other');
    const made = await scene({ auth: (step) => server.answer(step) });
    made.clients.connect(0, connectOptions(made.broker.port, { auth }));
    expect((await made.recorder.first('onConnectFailed')).reason).toBe('not authorized (0x87)');
  });

  test('a method that the broker does not have is refused by name', async () => {
    const made = await scene();
    made.clients.connect(0, connectOptions(made.broker.port, { auth }));
    const { reason } = await made.recorder.first('onConnectFailed');
    expect(reason).toBe('bad authentication method (0x8c)');
  });

  test('a broker that does not know the password itself is not trusted', async () => {
    const server = new ScramServer('secret', { isImpostor: true });
    const made = await scene({ auth: (step) => server.answer(step) });
    made.clients.connect(0, connectOptions(made.broker.port, { auth }));
    expect((await made.recorder.first('onConnectFailed')).reason).toMatch(/SCRAM: the broker does/);
  });

  test('a challenge that is none ends the attempt', async () => {
    const made = await scene({ auth: () => ({ reasonCode: 0x18, data: Buffer.from('r=x') }) });
    made.clients.connect(0, connectOptions(made.broker.port, { auth }));
    expect((await made.recorder.first('onConnectFailed')).reason).toMatch(/SCRAM: nonce/);
  });

  test('AUTH that nobody asked for ends the connection', async () => {
    const made = await connected({
      faults: [
        { way: 'toBroker', kind: 'send', more: [{ type: 'auth', reasonCode: 0x18 }], most: 1 },
      ],
    });
    provoke(made);
    expect((await made.recorder.first('onClosed')).reason).toMatch(/AUTH that nothing/);
  });
});
