import type { Packet, ProtocolVersion, PublishPacket } from '@squall/mqtt/codec';
import { type Fault, FaultBroker, only, type FaultBrokerOptions } from '@squall/mqtt/testing';
import { connect, type IClientOptions, type MqttClient } from 'mqtt';
import { describe, expect, test as base } from 'vitest';
import { until } from '../fixtures/process.ts';
import { RawClient } from '../fixtures/raw-client.ts';

/** The fault broker by itself, with the `mqtt` library as its client. */
interface Scene {
  readonly broker: FaultBroker;
  readonly client: (options?: IClientOptions) => Promise<Peer>;
  readonly raw: (version?: ProtocolVersion) => RawClient;
}

interface Peer {
  readonly client: MqttClient;
  /** `topic payload qos`, with `r` where retained and `d` where sent again, in order. */
  readonly got: string[];
}

const test = base.extend<{ scene: (options?: FaultBrokerOptions) => Promise<Scene> }>({
  scene: async ({}, use) => {
    const ends: (() => Promise<unknown>)[] = [];
    await use(async (options) => {
      const broker = await FaultBroker.start(options);
      ends.push(() => broker.close());
      return {
        broker,
        client: async (asked = {}) => {
          const client = connect(broker.url, { reconnectPeriod: 0, ...asked });
          ends.unshift(() => client.endAsync(true));
          const got: string[] = [];
          client.on('message', (topic, payload, { qos, retain, dup }) => {
            got.push(`${topic} ${payload.toString()} ${qos}${retain ? 'r' : ''}${dup ? 'd' : ''}`);
          });
          // Messages of a kept session come right behind the CONNACK.
          await new Promise((resolve, reject) => client.on('connect', resolve).on('error', reject));
          return { client, got };
        },
        raw: (version) => {
          const client = new RawClient(broker.port, version);
          ends.unshift(async () => client.close());
          return client;
        },
      };
    });
    for (const end of ends) await end();
  },
});

const say = (text: string) => ({
  authenticationMethod: 'test',
  authenticationData: Uint8Array.from(Buffer.from(text)),
});

const VERSIONS = [3, 4, 5] as const;
const of = (protocolVersion: 3 | 4 | 5): IClientOptions =>
  protocolVersion === 3 ? { protocolVersion, protocolId: 'MQIsdp' } : { protocolVersion };
const MQTT5: IClientOptions = { protocolVersion: 5 };

describe('the fault broker without faults', () => {
  test.for(VERSIONS)('carries messages of every QoS, version %i', async (version, { scene }) => {
    const { broker, client } = await scene();
    const [sender, receiver] = [await client(of(version)), await client(of(version))];
    await receiver.client.subscribeAsync('a/+/c', { qos: 2 });
    for (const qos of [0, 1, 2] as const) {
      await sender.client.publishAsync('a/b/c', `m${qos}`, { qos });
    }
    await sender.client.publishAsync('a/b', 'elsewhere', { qos: 1 });
    await until('all has come', () => receiver.got.length === 3);
    expect(receiver.got).toEqual(['a/b/c m0 0', 'a/b/c m1 1', 'a/b/c m2 2']);
    expect(broker.violations).toEqual([]);
    expect(broker.came('toBroker')).toBe(4);
    expect(broker.came('relToBroker')).toBe(1);
  });

  test('gives what was granted, one copy for filters that overlap', async ({ scene }) => {
    const { client } = await scene({ grants: 1 });
    const receiver = await client(MQTT5);
    const grants = await receiver.client.subscribeAsync({ 't/#': { qos: 2 }, 't/1': { qos: 0 } });
    expect(grants.map(({ qos }) => qos)).toEqual([1, 0]);
    await receiver.client.publishAsync('t/1', 'x', { qos: 2 });
    await until('it has come', () => receiver.got.length > 0);
    await receiver.client.publishAsync('t/2', 'end', { qos: 1 });
    await until('all has come', () => receiver.got.at(-1) === 't/2 end 1');
    expect(receiver.got).toEqual(['t/1 x 1', 't/2 end 1']);
  });

  test('keeps retained messages, and takes them away again', async ({ scene }) => {
    const { client } = await scene();
    const { client: sender } = await client(MQTT5);
    await sender.publishAsync('r/1', 'old', { retain: true, qos: 1 });
    await sender.publishAsync('r/1', 'new', { retain: true, qos: 1 });
    await sender.publishAsync('r/2', 'gone', { retain: true, qos: 1 });
    await sender.publishAsync('r/2', '', { retain: true, qos: 1 });
    const [late, never] = [await client(MQTT5), await client(MQTT5)];
    await late.client.subscribeAsync('r/#', { qos: 1 });
    await never.client.subscribeAsync('r/#', { qos: 1, rh: 2 });
    await sender.publishAsync('r/3', 'live', { retain: true, qos: 1 });
    await until('all has come', () => late.got.length === 2 && never.got.length === 1);
    expect(late.got).toEqual(['r/1 new 1r', 'r/3 live 1']);
    expect(never.got).toEqual(['r/3 live 1']);
  });

  test('knows no-local, retain-as-published and subscription identifiers', async ({ scene }) => {
    const { client } = await scene();
    const { client: sender, got: own } = await client(MQTT5);
    const receiver = await client(MQTT5);
    const identifiers: unknown[] = [];
    receiver.client.on('message', (_topic, _payload, { properties }) =>
      identifiers.push(properties?.subscriptionIdentifier),
    );
    await sender.subscribeAsync('n/#', { qos: 1, nl: true });
    const properties = { subscriptionIdentifier: 7 };
    await receiver.client.subscribeAsync('n/#', { qos: 1, rap: true, properties });
    await sender.publishAsync('n/1', 'x', { qos: 1, retain: true });
    await until('it has come', () => receiver.got.length === 1);
    expect(receiver.got).toEqual(['n/1 x 1r']);
    expect(identifiers).toEqual([7]);
    expect(own).toEqual([]);
  });

  test('gives each message of a shared subscription to one member, in turn', async ({ scene }) => {
    const { client } = await scene();
    const members = [await client(MQTT5), await client(MQTT5)];
    for (const { client: member } of members) {
      await member.subscribeAsync('$share/g/s/#', { qos: 1 });
    }
    const { client: sender } = await client(MQTT5);
    for (let k = 0; k < 10; k++) await sender.publishAsync('s/1', `${k}`, { qos: 1 });
    await until('all has come', () => members.every(({ got }) => got.length === 5));
    const all = members.flatMap(({ got }) => got);
    expect(new Set(all).size).toBe(10);
  });

  test('keeps a session and what comes for it, and sends again what was not answered', async ({
    scene,
  }) => {
    const { client } = await scene({
      faults: [{ way: 'ackToBroker', kind: 'drop', most: 1 }],
    });
    const options: IClientOptions = { ...MQTT5, clientId: 'sleeper', clean: false };
    const kept = { ...options, properties: { sessionExpiryInterval: 60 } };
    const asleep = await client(kept);
    await asleep.client.subscribeAsync('k/#', { qos: 2 });
    const { client: sender } = await client(MQTT5);
    await sender.publishAsync('k/1', 'unanswered', { qos: 1 });
    await until('it has come', () => asleep.got.length === 1);
    await asleep.client.endAsync();
    await sender.publishAsync('k/2', 'meanwhile', { qos: 2 });
    const awake = await client(kept);
    await until('all has come', () => awake.got.length === 2);
    expect(awake.got).toEqual(['k/1 unanswered 1d', 'k/2 meanwhile 2']);
    await awake.client.endAsync();
    const anew = await client({ ...options, clean: true });
    await sender.publishAsync('k/3', 'not for you', { qos: 1 });
    await anew.client.subscribeAsync('end', { qos: 1 });
    await sender.publishAsync('end', 'x', { qos: 1 });
    await until('the end has come', () => anew.got.length === 1);
    expect(anew.got).toEqual(['end x 1']);
  });

  test('ends a connection whose client connects elsewhere, and sends the will of one that breaks', async ({
    scene,
  }) => {
    const { broker, client } = await scene();
    const watcher = await client(MQTT5);
    await watcher.client.subscribeAsync('will', { qos: 1 });
    const will = { topic: 'will', payload: Buffer.from('gone'), qos: 1 as const, retain: false };
    const first = await client({ ...MQTT5, clientId: 'twice', will });
    const codes: (number | undefined)[] = [];
    first.client.on('disconnect', ({ reasonCode }) => codes.push(reasonCode));
    await client({ ...MQTT5, clientId: 'twice' });
    await until('the will has come', () => watcher.got.length === 1);
    expect(codes).toEqual([0x8e]);
    expect(watcher.got).toEqual(['will gone 1']);
    expect(broker.connected).toBe(2);
    expect(broker.clientIds.filter((id) => id === 'twice')).toHaveLength(2);
  });

  test('sends no more at a time than a client takes', async ({ scene }) => {
    const { client } = await scene({ faults: [{ way: 'ackToBroker', kind: 'drop' }] });
    const slow = await client({ ...MQTT5, properties: { receiveMaximum: 3 } });
    await slow.client.subscribeAsync('w', { qos: 1 });
    for (let k = 0; k < 6; k++) await slow.client.publishAsync('w', `${k}`, { qos: 1 });
    await slow.client.publishAsync('w', 'last', { qos: 0 });
    await until('the last has come', () => slow.got.includes('w last 0'));
    expect(slow.got).toEqual(['w 0 1', 'w 1 1', 'w 2 1', 'w last 0']);
  });

  test('lets enhanced authentication go through as many steps as it is told', async ({ scene }) => {
    const { raw } = await scene({
      auth: ({ method, data, step }) => {
        const text = `${method} ${step} ${Buffer.from(data ?? []).toString()}`;
        return step < 2 ? { reasonCode: 0x18, data: Buffer.from(text) } : { reasonCode: 0 };
      },
    });
    const client = raw();
    client.sendConnect({ properties: say('one') });
    await client.packets(1);
    client.send({ type: 'auth', reasonCode: 0x18, properties: say('two') });
    await client.packets(2);
    client.send({ type: 'auth', reasonCode: 0x18, properties: say('three') });
    const [first, second, last] = await client.packets(3);
    expect([first, second]).toMatchObject([
      { type: 'auth', properties: say('test 0 one') },
      { type: 'auth', properties: say('test 1 two') },
    ]);
    expect(last).toMatchObject({ type: 'connack', reasonCode: 0 });
  });

  test('has no method of authentication unless it is given one', async ({ scene }) => {
    const { raw } = await scene();
    const client = raw();
    client.sendConnect({ properties: { authenticationMethod: 'test' } });
    expect(await client.packets(1)).toMatchObject([{ type: 'connack', reasonCode: 0x8c }]);
    await until('it is shown out', () => client.ended);
  });
});

const message = (payload: string, qos: 0 | 1 | 2 = 1, packetId = 1): PublishPacket => ({
  type: 'publish',
  topic: 't',
  payload: Buffer.from(payload),
  qos,
  dup: false,
  retain: false,
  packetId: qos === 0 ? 0 : packetId,
});
const SUBSCRIBE: Packet = {
  type: 'subscribe',
  packetId: 1,
  subscriptions: [{ filter: 't', qos: 2 }],
};

/** A raw client that is connected and subscribed to `t`. */
async function subscribed(scene: Scene, version: ProtocolVersion = '5'): Promise<RawClient> {
  const client = scene.raw(version);
  client.sendConnect();
  client.send(SUBSCRIBE);
  await client.packets(2);
  client.got.length = 0;
  return client;
}

const payloads = ({ got }: RawClient): string[] =>
  got.flatMap((packet) =>
    packet.type === 'publish' ? Buffer.from(packet.payload).toString() : [],
  );

describe('faults of a broker', () => {
  test.for([
    ['connack', 0x89],
    ['puback', 0x97],
    ['pubrec', 0x99],
    ['suback', 0x87],
    ['unsuback', 0x8f],
    ['disconnect', 0x9d],
  ] as const)('%s with a reason code', async ([type, reasonCode], { scene }) => {
    const way = {
      connack: 'connect',
      puback: 'toBroker',
      pubrec: 'toBroker',
      suback: 'subscribe',
      unsuback: 'unsubscribe',
      disconnect: 'toBroker',
    } as const;
    const kind = type === 'disconnect' ? 'disconnect' : 'refuse';
    const opened = await scene({ faults: [{ way: way[type], kind, reasonCode }] });
    const client = opened.raw();
    client.sendConnect();
    if (type !== 'connack') {
      const qos = type === 'pubrec' ? 2 : 1;
      if (way[type] === 'subscribe') client.send(SUBSCRIBE);
      else if (way[type] === 'unsubscribe') {
        client.send({ type: 'unsubscribe', packetId: 1, filters: ['t'] });
      } else client.send(message('x', qos));
    }
    const got = await client.packets(type === 'connack' ? 1 : 2);
    const answer = got.at(-1);
    expect(answer).toMatchObject(
      type === 'suback' || type === 'unsuback'
        ? { type, reasonCodes: [reasonCode] }
        : { type, reasonCode },
    );
    expect(opened.broker.injected[0]?.count).toBe(1);
    if (type === 'connack' || type === 'disconnect') {
      await until('the connection has ended', () => client.ended);
    }
  });

  test('answers withheld: of a PUBACK, a PUBREC or a PUBCOMP', async ({ scene }) => {
    const faults: Fault[] = [
      { way: 'ackToPublisher', kind: 'drop', ...only(1) },
      { way: 'recToPublisher', kind: 'drop', ...only(1) },
      { way: 'compToPublisher', kind: 'drop', ...only(1) },
    ];
    const opened = await scene({ faults });
    const client = await subscribed(opened);
    client.send(message('a', 1, 1), message('b', 2, 2), message('c', 2, 3));
    client.send({ type: 'pubrel', packetId: 3, reasonCode: 0 }, { type: 'pingreq' });
    await until('the end has come', () => client.types.includes('pingresp'));
    expect(client.types.filter((type) => type !== 'publish')).toEqual(['pubrec', 'pingresp']);
    expect(payloads(client)).toEqual(['a', 'b', 'c']);
    expect(opened.broker.injected.map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  test('a message lost, though it was acknowledged', async ({ scene }) => {
    const opened = await scene({ faults: [{ way: 'toBroker', kind: 'lose', ...only(2) }] });
    const client = await subscribed(opened);
    client.send(message('a', 1, 1), message('b', 1, 2), message('c', 1, 3));
    await until(
      'all is answered',
      () => client.types.filter((one) => one === 'puback').length === 3,
    );
    expect(payloads(client)).toEqual(['a', 'c']);
  });

  test('a message delivered again: as the same packet, or as a message of its own', async ({
    scene,
  }) => {
    const opened = await scene({
      faults: [
        { way: 'toSubscriber', kind: 'duplicate', ...only(1) },
        { way: 'toSubscriber', kind: 'again', ...only(1) },
      ],
    });
    const client = await subscribed(opened);
    client.send(message('a', 2, 1), message('b', 2, 2));
    await until('all has come', () => payloads(client).length === 4);
    const seen = client.got.flatMap((packet) =>
      packet.type === 'publish' ? [[packet.packetId, packet.dup]] : [],
    );
    expect(payloads(client)).toEqual(['a', 'a', 'b', 'b']);
    expect(seen).toEqual([
      [1, false],
      [1, true],
      [3, false],
      [2, false],
    ]);
  });

  test('a message to the wrong subscriber, and the window of the right one stays open', async ({
    scene,
  }) => {
    const opened = await scene({
      faults: [{ way: 'toSubscriber', kind: 'misdeliver', to: 'other', ...only(1) }],
    });
    const other = opened.raw();
    other.sendConnect({ clientId: 'other' });
    await other.packets(1);
    const client = await subscribed(opened);
    client.send(message('a', 1, 1), message('b', 1, 2));
    await until('both have come', () => payloads(client).length + payloads(other).length === 2);
    expect([payloads(other), payloads(client)]).toEqual([['a'], ['b']]);
  });

  test('another topic, another QoS, another payload', async ({ scene }) => {
    const opened = await scene({
      faults: [
        { way: 'toSubscriber', kind: 'rewrite', to: { topic: 'elsewhere' }, ...only(1) },
        { way: 'toSubscriber', kind: 'rewrite', to: { qos: 0 }, ...only(1) },
        { way: 'toSubscriber', kind: 'corrupt', at: 0, ...only(1) },
      ],
    });
    const client = await subscribed(opened);
    client.send(message('a', 1, 1), message('b', 1, 2), message('c', 1, 3), message('d', 1, 4));
    await until('all has come', () => payloads(client).length === 4);
    const seen = client.got.flatMap((packet) =>
      packet.type === 'publish'
        ? `${packet.topic} ${packet.qos} ${Buffer.from(packet.payload).toString()}`
        : [],
    );
    expect(seen).toEqual(['elsewhere 1 a', 't 0 b', 't 1 b', 't 1 d']);
  });

  test('a session forgotten, or only said to be', async ({ scene }) => {
    const kept = { cleanStart: false, properties: { sessionExpiryInterval: 60 } };
    const opened = await scene({
      faults: [
        {
          way: 'connect',
          kind: 'forget',
          where: ({ clientId }) => clientId === 'lost',
          ...only(2),
        },
        {
          way: 'connack',
          kind: 'rewrite',
          to: { sessionPresent: false },
          where: ({ clientId }) => clientId === 'denied',
          ...only(2),
        },
      ],
    });
    for (const clientId of ['lost', 'denied', 'kept']) {
      const first = opened.raw();
      first.sendConnect({ clientId, ...kept });
      first.send(SUBSCRIBE, { type: 'disconnect', reasonCode: 0 });
      await until('it has ended', () => first.ended);
    }
    opened.broker.publish({ topic: 't', payload: Buffer.from('x'), qos: 1 });
    const outcome = await Promise.all(
      ['lost', 'denied', 'kept'].map(async (clientId) => {
        const client = opened.raw();
        client.sendConnect({ clientId, ...kept });
        client.send({ type: 'pingreq' });
        await until('the end has come', () => client.types.includes('pingresp'));
        const [connack] = client.got;
        const present = connack?.type === 'connack' && connack.sessionPresent;
        return `${clientId} ${present} ${payloads(client).length}`;
      }),
    );
    expect(outcome).toEqual(['lost false 0', 'denied false 1', 'kept true 1']);
  });

  test('a connection that ends in the middle of a packet, or before it', async ({ scene }) => {
    const opened = await scene({
      faults: [
        { way: 'ackToPublisher', kind: 'cut', passing: 3, ...only(1) },
        { way: 'relToBroker', kind: 'cut', ...only(1) },
      ],
    });
    const torn = await subscribed(opened);
    const before = torn.bytes;
    torn.send({ ...message('a', 1, 7), topic: 'nobody' });
    await until('it has ended', () => torn.ended);
    expect(torn.bytes - before).toBe(3);
    const between = await subscribed(opened);
    between.send({ ...message('b', 2, 9), topic: 'nobody' });
    await until('it is received', () => between.types.includes('pubrec'));
    between.send({ type: 'pubrel', packetId: 9, reasonCode: 0 });
    await until('it is cut', () => between.ended);
    expect(between.types).toEqual(['pubrec']);
  });

  test('bytes one by one, in their order', async ({ scene }) => {
    const opened = await scene({ faults: [{ way: 'toSubscriber', kind: 'trickle', ...only(1) }] });
    const client = await subscribed(opened);
    const chunks = client.chunks.length;
    client.send(message('abcdefghij', 0), message('next', 0));
    await until('both have come', () => payloads(client).length === 2);
    expect(payloads(client)).toEqual(['abcdefghij', 'next']);
    expect(client.chunks.slice(chunks, chunks + 10)).toEqual(Array(10).fill(1));
  });

  test('anything else that the test wants to be sent', async ({ scene }) => {
    const opened = await scene({
      faults: [
        {
          way: 'toBroker',
          kind: 'send',
          more: [
            { ...message('unknown alias', 0), topic: '', properties: { topicAlias: 9 } },
            { type: 'auth', reasonCode: 0x19 },
          ],
          ...only(1),
        },
        { way: 'toBroker', kind: 'send', more: Buffer.from([0xd0, 0]), ...only(1) },
      ],
    });
    const client = await subscribed(opened);
    client.send(message('a', 1, 1), message('b', 1, 2));
    await until('all has come', () => client.types.includes('pingresp'));
    expect(client.types).toContain('auth');
    expect(payloads(client)).toEqual(['a', 'unknown alias', 'b']);
  });

  test('more at a time than the client takes', async ({ scene }) => {
    const opened = await scene({ ignoresReceiveMaximum: true });
    const client = opened.raw();
    client.sendConnect({ properties: { receiveMaximum: 1 } });
    client.send(SUBSCRIBE, message('a', 1, 1), message('b', 1, 2));
    await until('both have come', () => payloads(client).length === 2);
    expect(client.types).not.toContain('disconnect');
  });
});
