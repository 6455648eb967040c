import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Aedes } from 'aedes';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMqttClients, type MqttClients, subackFailure } from '../../src/index.ts';
import { findMosquitto, Mosquitto } from '../fixture/mosquitto.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

interface Broker {
  readonly port: number;
  stop(): Promise<void>;
}

async function startAedes(): Promise<Broker> {
  const aedes = await Aedes.createBroker();
  const server: Server = createServer(aedes.handle);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    stop: async () => {
      await new Promise<void>((resolve) => {
        aedes.close(() => resolve());
      });
      server.close();
    },
  };
}

const program = findMosquitto();
const brokers = [
  { name: 'aedes', start: startAedes },
  { name: 'mosquitto', start: async () => await Mosquitto.start(program ?? '') },
];

describe.each(brokers)('with $name', ({ name, start }) => {
  let broker: Broker | null = null;
  let clients: MqttClients | null = null;
  let recorder = new Recorder();
  const absent = name === 'mosquitto' && program === null;

  beforeAll(async () => {
    if (!absent) broker = await start();
  });
  afterAll(async () => await broker?.stop());
  afterEach(() => clients?.close());

  async function connect(slots: number, overrides = {}): Promise<MqttClients> {
    recorder = new Recorder();
    const own = createMqttClients({ slots, handlers: recorder });
    clients = own;
    for (let slot = 0; slot < slots; slot += 1) {
      own.connect(slot, connectOptions(broker?.port ?? 0, { clientId: `c${slot}`, ...overrides }));
    }
    await recorder.until(() => own.connectedCount === slots);
    return own;
  }

  test('publishes at QoS 0 and 1, is acknowledged, and receives', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(2);
    own.subscribe(1, { packetId: 65_520, filters: ['room/+', 'other'], qos: 1 });
    own.flush();
    const suback = await recorder.first('onSuback');
    expect(suback).toMatchObject({ slot: 1, packetId: 65_520, codes: [1, 1] });
    own.publish(0, message('room/1', 'zero'));
    own.publish(0, message('room/2', 'one', { qos: 1, packetId: 77 }));
    own.flush();
    await recorder.until(() => recorder.of('onPublish').length === 2);
    expect(await recorder.first('onPuback')).toMatchObject({ slot: 0, packetId: 77 });
    expect(recorder.of('onPublish')).toMatchObject([
      { slot: 1, topic: 'room/1', payload: 'zero', qos: 0 },
      { slot: 1, topic: 'room/2', payload: 'one', qos: 1, dup: false, retain: false },
    ]);
    expect(own.wireSent).toBeGreaterThan(0);
    expect(own.wireReceived).toBeGreaterThan(0);
  });

  test('a retained message waits for its subscriber', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(1);
    own.publish(0, message('kept', 'old', { qos: 1, packetId: 1, retain: true }));
    own.flush();
    await recorder.first('onPuback');
    own.subscribe(0, { packetId: 65_520, filters: ['kept'], qos: 1 });
    own.flush();
    expect(await recorder.first('onPublish')).toMatchObject({ payload: 'old', retain: true });
  });

  test('many clients, many messages in flight: each is acknowledged once', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(50);
    for (let packetId = 1; packetId <= 200; packetId += 1) {
      for (let slot = 0; slot < 50; slot += 1) {
        own.publish(slot, message(`t/${slot}`, 'x'.repeat(packetId), { qos: 1, packetId }));
      }
    }
    own.flush();
    await recorder.until(() => recorder.of('onPuback').length >= 10_000);
    const seen = new Set(recorder.of('onPuback').map((e) => `${e.slot} ${e.packetId}`));
    expect(seen.size).toBe(10_000);
  });

  test('acknowledges QoS 1 messages, so that the broker goes on sending', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(2);
    own.subscribe(1, { packetId: 65_520, filters: ['flow'], qos: 1 });
    own.flush();
    await recorder.first('onSuback');
    for (let packetId = 1; packetId <= 2_000; packetId += 1) {
      own.publish(0, message('flow', `${packetId}`, { qos: 1, packetId }));
    }
    own.flush();
    await recorder.until(() => recorder.of('onPublish').length >= 2_000);
    expect(recorder.of('onPublish').map((e) => Number(e.payload))).toEqual(
      Array.from({ length: 2_000 }, (_, n) => n + 1),
    );
  });

  test('pings keep an idle connection', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(1, { keepAliveS: 1 });
    await delay(3_500);
    expect(own.isConnected(0)).toBe(true);
    expect(recorder.of('onClosed')).toEqual([]);
  });

  test('a session that was kept is present again', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const kept = { clientId: `kept-${name}`, cleanStart: false };
    const own = await connect(1, kept);
    expect(await recorder.first('onConnected')).toMatchObject({ sessionPresent: false });
    own.subscribe(0, { packetId: 65_520, filters: ['kept/session'], qos: 1 });
    own.flush();
    await recorder.first('onSuback');
    own.disconnect(0);
    await recorder.until(() => own.closingCount === 0);
    await connect(1, kept);
    expect(await recorder.first('onConnected')).toMatchObject({ sessionPresent: true });
  });

  test('a second client of the same id ends the first', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(1, { clientId: 'twin' });
    const other = createMqttClients({ slots: 1, handlers: new Recorder() });
    other.connect(0, connectOptions(broker?.port ?? 0, { clientId: 'twin' }));
    expect((await recorder.first('onClosed')).reason).toMatch(/closed by broker|connection reset/);
    expect(own.connectedCount).toBe(0);
    other.close();
  });

  test('a payload larger than the write buffer goes through', async (context) => {
    if (absent) context.skip('mosquitto is not on PATH');
    const own = await connect(2);
    own.subscribe(1, { packetId: 65_520, filters: ['large'], qos: 0 });
    own.flush();
    await recorder.first('onSuback');
    own.publish(0, message('large', 'x'.repeat(300_000), { qos: 1, packetId: 5 }));
    own.publish(0, message('large', 'small', { qos: 1, packetId: 6 }));
    own.flush();
    await recorder.until(() => recorder.of('onPublish').length === 2);
    expect(recorder.of('onPublish').map((e) => e.payload?.length)).toEqual([300_000, 5]);
  });
});

describe('with a mosquitto that refuses', () => {
  test('user and password are checked, and the refusal named', async (context) => {
    if (program === null) {
      context.skip('mosquitto is not on PATH');
      return;
    }
    const broker = await Mosquitto.start(program, ['allow_anonymous false']);
    const recorder = new Recorder();
    const clients = createMqttClients({ slots: 1, handlers: recorder });
    clients.connect(0, connectOptions(broker.port, { username: 'u', password: 'p' }));
    expect((await recorder.first('onConnectFailed')).reason).toBe('not authorized (0x05)');
    clients.close();
    await broker.stop();
  });

  test('codes of SUBACK have a name', () => {
    expect([0, 1, 2].map((code) => subackFailure(code, '5'))).toEqual([null, null, null]);
    expect(subackFailure(0x80, '3.1.1')).toBe('subscription refused (0x80)');
  });
});
