import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { createMqttClients, type MqttClients, type ProtocolVersion } from '../../src/index.ts';
import { type Fault, FaultBroker, only } from '../../src/testing/index.ts';
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

async function connected(version: ProtocolVersion, faults: readonly Fault[] = []) {
  const recorder = new Recorder();
  broker = await FaultBroker.start({ faults });
  clients = createMqttClients({ slots: 1, handlers: recorder, version });
  const scene = { broker, clients, recorder };
  await connect(scene, version);
  return scene;
}

interface Scene {
  readonly broker: FaultBroker;
  readonly clients: MqttClients;
  readonly recorder: Recorder;
}

/** Connects to a session that outlives the connection. */
async function connect(scene: Scene, version: ProtocolVersion, slot = 0): Promise<void> {
  const before = scene.recorder.of('onConnected').length;
  const kept = {
    clientId: 'kept',
    cleanStart: false,
    ...(version === '5' && { properties: { sessionExpiryInterval: 60 } }),
  };
  scene.clients.connect(slot, connectOptions(scene.broker.port, kept));
  await scene.recorder.until(() => scene.recorder.of('onConnected').length > before);
}

describe.each<ProtocolVersion>(['3.1', '3.1.1', '5'])('QoS 2 of MQTT %s', (version) => {
  test('a message goes out once, is released and completed', async () => {
    const scene = await connected(version);
    scene.clients.publish(0, message('t', 'x', { qos: 2, packetId: 9 }));
    scene.clients.flush();
    await scene.recorder.first('onPubcomp');
    expect(scene.recorder.events.slice(1)).toEqual([
      { kind: 'onPubrec', slot: 0, packetId: 9, reasonCode: 0 },
      { kind: 'onPubcomp', slot: 0, packetId: 9, reasonCode: 0 },
    ]);
    expect(scene.broker.violations).toEqual([]);
  });

  test('a received message is told once, and its handshake comes to its end', async () => {
    const scene = await connected(version);
    scene.clients.subscribe(0, { packetId: 65_520, filters: ['t'], qos: 2 });
    scene.clients.flush();
    await scene.recorder.first('onSuback');
    for (let n = 0; n < 50; n += 1) {
      scene.broker.publish({ topic: 't', payload: Buffer.from(`${n}`), qos: 2 });
    }
    await scene.recorder.until(() => scene.broker.came('compToBroker') === 50);
    expect(scene.recorder.of('onPublish').map((e) => Number(e.payload))).toEqual(
      Array.from({ length: 50 }, (_, n) => n),
    );
    expect(scene.broker.violations).toEqual([]);
  });

  test('a message that comes again after a reconnect is not told again', async () => {
    // The broker never learns that the message came, and sends it again.
    const scene = await connected(version, [{ way: 'recToBroker', kind: 'cut', ...only(1) }]);
    scene.clients.subscribe(0, { packetId: 65_520, filters: ['t'], qos: 2 });
    scene.clients.flush();
    await scene.recorder.first('onSuback');
    scene.broker.publish({ topic: 't', payload: Buffer.from('once'), qos: 2 });
    await scene.recorder.first('onClosed');
    await connect(scene, version);
    await scene.recorder.until(() => scene.broker.came('compToBroker') === 1);
    expect(scene.broker.came('toSubscriber')).toBe(2);
    expect(scene.recorder.of('onPublish')).toHaveLength(1);
    expect(scene.broker.violations).toEqual([]);
  });

  test('a PUBREL that got lost is sent again by the next connection', async () => {
    const scene = await connected(version, [{ way: 'relToBroker', kind: 'cut', ...only(1) }]);
    scene.clients.publish(0, message('t', 'x', { qos: 2, packetId: 9 }));
    scene.clients.flush();
    await scene.recorder.first('onClosed');
    await connect(scene, version);
    scene.clients.release(0, 9);
    scene.clients.flush();
    expect(await scene.recorder.first('onPubcomp')).toMatchObject({ packetId: 9, reasonCode: 0 });
    expect(scene.broker.violations).toEqual([]);
  });

  test('a PUBREC for what nobody sent is answered, so that the broker comes to an end', async () => {
    const scene = await connected(version, [
      {
        way: 'toBroker',
        kind: 'send',
        more: [{ type: 'pubrec', packetId: 77, reasonCode: 0 }],
      },
    ]);
    scene.recorder.knows = (packetId) => packetId !== 77;
    scene.clients.publish(0, message('t', 'x'));
    scene.clients.flush();
    await scene.recorder.first('onPubrec');
    await scene.recorder.until(() => scene.broker.came('relToBroker') === 1);
    await delay(20);
    expect(scene.clients.isConnected(0)).toBe(true);
  });
});

// MQTT 3.1 does not say whether there is a session.
test.each<ProtocolVersion>(['3.1.1', '5'])(
  'a QoS 2 message of MQTT %s is not told again after a takeover',
  async (version) => {
    const recorder = new Recorder();
    const twins = await FaultBroker.start({
      faults: [{ way: 'recToBroker', kind: 'drop', ...only(1) }],
    });
    broker = twins;
    const own = createMqttClients({ slots: 2, handlers: recorder, version });
    clients = own;
    recorder.react = ({ kind, slot, sessionPresent }) => {
      if (kind === 'onConnected' && slot === 1 && sessionPresent === true) own.moveSession(0, 1);
    };
    await connect({ broker: twins, clients: own, recorder }, version);
    own.subscribe(0, { packetId: 65_520, filters: ['t'], qos: 2 });
    own.flush();
    await recorder.first('onSuback');
    twins.publish({ topic: 't', payload: Buffer.from('once'), qos: 2 });
    await recorder.first('onPublish');
    await connect({ broker: twins, clients: own, recorder }, version, 1);
    await recorder.until(() => twins.came('compToBroker') === 1);
    expect(twins.came('toSubscriber')).toBe(2);
    expect(recorder.of('onPublish')).toHaveLength(1);
  },
);
