import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { generate } from 'mqtt-packet';
import { afterEach, describe, expect, test } from 'vitest';
import { encodePacket, type Packet } from '../../src/codec/index.ts';
import { createMqttClients, type MqttClients, type ProtocolVersion } from '../../src/index.ts';
import { anyPacket } from '../codec/any-packet.ts';
import { CONNACK, FakeBroker } from '../fixture/fake-broker.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

let broker: FakeBroker | null = null;
let clients: MqttClients | null = null;

afterEach(async () => {
  clients?.close();
  clients = null;
  await broker?.stop();
  broker = null;
});

function make(recorder: Recorder, slots = 1): MqttClients {
  clients = createMqttClients({ slots, handlers: recorder, maxPacketBytes: 100_000 });
  return clients;
}

/** Connects one client to a broker that behaves as given, and gives what its handlers heard. */
async function attempt(serve: (socket: Socket) => void, overrides = {}): Promise<Recorder> {
  broker = await FakeBroker.start(serve);
  const recorder = new Recorder();
  make(recorder).connect(0, connectOptions(broker.port, overrides));
  return recorder;
}

/** Gets one client connected, then the broker does its worst. */
async function connected(serve: (socket: Socket) => void, overrides = {}): Promise<Recorder> {
  broker = await FakeBroker.accepting(serve);
  const recorder = new Recorder();
  make(recorder).connect(0, connectOptions(broker.port, overrides));
  await recorder.first('onConnected');
  return recorder;
}

describe('a connection that does not come to be', () => {
  test.each([
    [1, 'unacceptable protocol version (0x01)'],
    [2, 'client id rejected (0x02)'],
    [3, 'server unavailable (0x03)'],
    [4, 'bad user name or password (0x04)'],
    [5, 'not authorized (0x05)'],
  ])('CONNACK code %i is named', async (code, reason) => {
    const recorder = await attempt((socket) => {
      socket.once('data', () => socket.end(Buffer.from([0x20, 2, 0, code])));
    });
    expect((await recorder.first('onConnectFailed')).reason).toBe(reason);
    expect(clients?.isIdle(0)).toBe(true);
  });

  test('nobody listens', async () => {
    const recorder = await attempt(() => undefined);
    await recorder.until(() => clients?.isIdle(0) === false);
    clients?.destroy(0);
    const port = broker?.port ?? 0;
    await broker?.stop();
    broker = null;
    clients?.connect(0, connectOptions(port));
    expect((await recorder.first('onConnectFailed')).reason).toBe('connection refused');
  });

  test('the broker never answers', async () => {
    const recorder = await attempt(() => undefined, { timeoutUs: 300_000 });
    const startedAt = performance.now();
    expect((await recorder.first('onConnectFailed')).reason).toBe('timed out');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test('the broker closes at once', async () => {
    const recorder = await attempt((socket) => socket.end());
    expect((await recorder.first('onConnectFailed')).reason).toBe('closed by broker');
  });

  test('the broker resets', async () => {
    const recorder = await attempt((socket) => {
      socket.once('data', () => socket.resetAndDestroy());
    });
    expect((await recorder.first('onConnectFailed')).reason).toBe('connection reset');
  });

  test.each([
    ['HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), /CONNACK .*: the port speaks HTTP$/],
    ['TLS', Buffer.from([0x15, 3, 3, 0, 2, 2, 70]), /CONNACK .*: the port speaks TLS$/],
    ['another protocol', Buffer.from('SSH-2.0-OpenSSH\r\n'), /^protocol error: .*CONNACK/],
  ])('the peer speaks %s', async (_what, bytes, reason) => {
    const recorder = await attempt((socket) => socket.write(bytes));
    expect((await recorder.first('onConnectFailed')).reason).toMatch(reason);
  });

  test('a session is present though a clean one was asked for', async () => {
    const recorder = await attempt((socket) => socket.write(Buffer.from([0x20, 2, 1, 0])));
    expect((await recorder.first('onConnectFailed')).reason).toMatch(/session present/);
  });

  test('a name that does not exist', async () => {
    const recorder = await attempt(() => undefined, { host: 'nowhere.invalid' });
    expect((await recorder.first('onConnectFailed')).reason).toMatch(/^host name/);
  });

  test('a name that stands for several addresses, one of them with a broker', async () => {
    const recorder = await attempt((socket) => socket.write(CONNACK), { host: 'localhost' });
    expect(await recorder.first('onConnected')).toMatchObject({ slot: 0 });
  });

  test('a source address that this host does not have', async () => {
    const recorder = await attempt(() => undefined, { localAddress: '192.0.2.1' });
    expect((await recorder.first('onConnectFailed')).reason).toMatch(/EADDRNOTAVAIL/);
  });

  test('the slot can be connected again inside the handler', async () => {
    let attempts = 0;
    const recorder = new Recorder();
    broker = await FakeBroker.start((socket) => {
      attempts += 1;
      if (attempts < 4) socket.end(Buffer.from([0x20, 2, 0, 3]));
      else socket.write(CONNACK);
    });
    const { port } = broker;
    const own = make(recorder);
    recorder.react = (event) => {
      if (event.kind === 'onConnectFailed') own.connect(0, connectOptions(port));
    };
    own.connect(0, connectOptions(port));
    await recorder.first('onConnected');
    expect(recorder.of('onConnectFailed')).toHaveLength(3);
    expect(own.connectedCount).toBe(1);
  });
});

/** The packet with some of its bytes changed. */
function broken(
  packet: Packet,
  version: ProtocolVersion,
  changed: readonly (readonly [at: number, byte: number])[],
): Buffer {
  const bytes = encodePacket(packet, version);
  for (const [at, byte] of changed) bytes[at % bytes.length] = byte;
  return bytes;
}

describe('a connection that goes wrong', () => {
  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['closes', (socket) => socket.end(), /^closed by broker$/],
    [
      'closes mid-packet',
      (socket) => socket.end(Buffer.from([0x30, 50, 0, 3, 0x61])),
      /^closed by/,
    ],
    [
      'resets',
      // Not in one go with CONNACK: libuv then reports the end of the stream instead.
      (socket) => setTimeout(() => socket.resetAndDestroy(), 50),
      /^connection reset$/,
    ],
    [
      'sends a fifth length byte',
      (socket) => socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 1])),
      /^malformed packet: remaining length/,
    ],
    [
      'announces a packet beyond the limit',
      (socket) => socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f])),
      /^malformed packet: packet above the size limit$/,
    ],
    ['sends CONNECT', (socket) => socket.write(Buffer.from([0x10, 0])), /unexpected CONNECT /],
    ['sends CONNACK again', (socket) => socket.write(CONNACK), /unexpected CONNACK/],
    ['sends SUBSCRIBE', (socket) => socket.write(Buffer.from([0x82, 0])), /unexpected SUBSCRIBE/],
    ['sends PINGREQ', (socket) => socket.write(Buffer.from([0xc0, 0])), /unexpected PINGREQ/],
    ['sends DISCONNECT', (socket) => socket.write(Buffer.from([0xe0, 0])), /unexpected DISCONNECT/],
    [
      'sends type 0',
      (socket) => socket.write(Buffer.from([0, 0])),
      /packet of the reserved type 0/,
    ],
    ['sends AUTH', (socket) => socket.write(Buffer.from([0xf0, 0])), /unexpected AUTH/],
    [
      'sends a bad PUBREL',
      (socket) => socket.write(Buffer.from([0x60, 2, 0, 1])),
      /^malformed .*PUBREL/,
    ],
    [
      'sends a bad PUBACK',
      (socket) => socket.write(Buffer.from([0x40, 1, 0])),
      /^malformed .*PUBACK/,
    ],
    [
      'sends a bad PINGRESP',
      (socket) => socket.write(Buffer.from([0xd1, 0])),
      /^malformed .*PINGRESP/,
    ],
    ['publishes with QoS 3', (socket) => socket.write(Buffer.from([0x36, 0])), /3.3.1-4/],
  ])('the broker %s', async (_name, serve, reason) => {
    const recorder = await connected(serve);
    expect((await recorder.first('onClosed')).reason).toMatch(reason);
    expect(recorder.of('onConnectFailed')).toEqual([]);
    expect(clients?.isIdle(0)).toBe(true);
    expect(clients?.connectedCount).toBe(0);
    await delay(20);
    expect(recorder.of('onClosed')).toHaveLength(1);
  });

  test('garbage ends the connection with a reason or is waited on, and never throws', async () => {
    const recorder = new Recorder();
    let garbage = Buffer.alloc(0);
    broker = await FakeBroker.accepting((socket) => {
      socket.end(garbage);
    });
    const { port } = broker;
    const own = make(recorder);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 2_000 }), async (bytes) => {
        garbage = Buffer.from(bytes);
        recorder.events.length = 0;
        own.connect(0, connectOptions(port));
        const { reason } = await recorder.first('onClosed');
        expect(reason).toMatch(
          /^(malformed packet|protocol error|closed by broker|connection res)/,
        );
        expect(own.isIdle(0)).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test.each<ProtocolVersion>(['3.1.1', '5'])(
    'broken packets of MQTT %s end the connection with a reason, or are waited on',
    async (version) => {
      const recorder = new Recorder();
      let sent = Buffer.alloc(0);
      const connack = encodePacket(
        { type: 'connack', sessionPresent: false, reasonCode: 0 },
        version,
      );
      broker = await FakeBroker.start((socket) => {
        socket.once('data', () => {
          socket.write(connack);
          socket.end(sent);
        });
      });
      const { port } = broker;
      const own = createMqttClients({ slots: 1, handlers: recorder, version });
      clients = own;
      const changes = fc.array(fc.tuple(fc.nat(500), fc.nat(255)), { maxLength: 3 });
      const packets = fc.array(fc.tuple(anyPacket(version), changes), {
        minLength: 1,
        maxLength: 3,
      });
      await fc.assert(
        fc.asyncProperty(packets, async (given) => {
          sent = Buffer.concat(given.map(([packet, changed]) => broken(packet, version, changed)));
          recorder.events.length = 0;
          own.connect(0, connectOptions(port));
          const { reason } = await recorder.first('onClosed');
          expect(reason).toMatch(
            /^(malformed packet|protocol error|(closed|disconnected) by broker|connection res)/,
          );
          expect(own.isIdle(0)).toBe(true);
        }),
        { numRuns: 150 },
      );
    },
  );

  test('packets that trickle in byte by byte are understood', async () => {
    const bytes = Buffer.concat([
      generate({ cmd: 'puback', messageId: 7 }),
      generate({
        cmd: 'publish',
        topic: 't',
        payload: 'x'.repeat(200),
        qos: 0,
        dup: false,
        retain: false,
      }),
      generate({ cmd: 'suback', messageId: 9, granted: [1, 128] }),
    ]);
    const recorder = await connected((socket) => {
      void (async () => {
        for (const byte of bytes) {
          socket.write(Buffer.from([byte]));
          await delay(1);
        }
      })();
    });
    await recorder.first('onSuback');
    expect(recorder.events.slice(1)).toEqual([
      { kind: 'onPuback', slot: 0, packetId: 7, reasonCode: 0 },
      expect.objectContaining({ kind: 'onPublish', topic: 't', payload: 'x'.repeat(200), qos: 0 }),
      { kind: 'onSuback', slot: 0, packetId: 9, codes: [1, 128] },
    ]);
  });

  test('packets behind one whose handler ended the connection are not heard', async () => {
    const puback = generate({ cmd: 'puback', messageId: 7 });
    const recorder = new Recorder();
    broker = await FakeBroker.accepting((socket) => socket.write(Buffer.concat([puback, puback])));
    const own = make(recorder);
    recorder.react = (event) => {
      if (event.kind === 'onPuback') own.destroy(0);
    };
    own.connect(0, connectOptions(broker.port));
    await recorder.first('onPuback');
    await delay(30);
    expect(recorder.of('onPuback')).toHaveLength(1);
    expect(recorder.of('onClosed')).toEqual([]);
  });

  test('a missing PINGRESP ends the connection by keep-alive', async () => {
    const sent: Buffer[] = [];
    const recorder = await connected((socket) => socket.on('data', (data) => sent.push(data)), {
      keepAliveS: 1,
    });
    expect((await recorder.first('onClosed')).reason).toBe('keep-alive timeout: no PINGRESP');
    expect(Buffer.concat(sent).subarray(0, 2)).toEqual(Buffer.from([0xc0, 0]));
  });
});

describe('a broker that does not read', () => {
  test('disconnect waits a second at most', async () => {
    await connected((socket) => {
      socket.pause();
      // Half open: never closes its own side.
      socket.allowHalfOpen = true;
    });
    const own = clients;
    if (own === null) throw new Error('no clients');
    const item = message('t', 'x'.repeat(60_000));
    for (let n = 0; n < 300; n += 1) own.publish(0, item);
    own.disconnect(0);
    expect(own.isIdle(0)).toBe(true);
    expect(own.closingCount).toBe(1);
    await delay(1_600);
    expect(own.closingCount).toBe(0);
  });
});

describe('calls that do not fit', () => {
  test('throw, and change nothing', async () => {
    await connected(() => undefined);
    const own = clients;
    if (own === null) throw new Error('no clients');
    expect(() => own.connect(0, connectOptions(1))).toThrow(/not idle/);
    own.destroy(0);
    expect(() => own.publish(0, message('t', 'x'))).toThrow(/not connected/);
    expect(() => own.subscribe(0, { packetId: 1, filters: ['t'], qos: 0 })).toThrow(
      /not connected/,
    );
    expect(() => own.connect(0, connectOptions(1, { clientId: 'a\0' }))).toThrow(RangeError);
    expect(() => own.connect(0, connectOptions(70_000))).toThrow(RangeError);
    expect(() => own.connect(0, connectOptions(1, { localAddress: 'here' }))).toThrow(TypeError);
    expect(own.isIdle(0)).toBe(true);
    own.disconnect(0);
    own.destroy(0);
  });
});
