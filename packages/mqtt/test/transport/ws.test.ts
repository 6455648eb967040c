import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { type ConnectOptions, createMqttClients, type MqttClients } from '../../src/index.ts';
import { upgradeFault } from '../../src/transport/ws/upgrade.ts';
import { CONNACK, FakeBroker } from '../fixture/fake-broker.ts';
import { findMosquitto, freePort, Mosquitto } from '../fixture/mosquitto.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

const WS = { path: '/mqtt', headers: {}, subprotocol: 'mqtt' };

let clients: MqttClients | null = null;
let recorder = new Recorder();
let stop: () => Promise<void> = async () => undefined;

afterEach(async () => {
  clients?.close();
  clients = null;
  await stop();
  stop = async () => undefined;
});

function begin(port: number, overrides: Partial<ConnectOptions> = {}, slots = 1): MqttClients {
  recorder = new Recorder();
  const own = createMqttClients({ slots, handlers: recorder });
  clients = own;
  for (let slot = 0; slot < slots; slot += 1) {
    const identity = { clientId: `c${slot}`, ws: WS, timeoutUs: 2e6 };
    own.connect(slot, connectOptions(port, { ...identity, ...overrides }));
  }
  return own;
}

interface Seen {
  readonly request: IncomingMessage;
  readonly socket: WebSocket;
  readonly messages: Buffer[];
  closed: { readonly code: number } | null;
}

/** A WebSocket server of the `ws` library that answers the first message with CONNACK. */
async function serve(behave: (seen: Seen) => void = () => undefined) {
  const http = createServer();
  const server = new WebSocketServer({ server: http, handleProtocols: () => 'mqtt' });
  const all: Seen[] = [];
  server.on('connection', (socket, request) => {
    const seen: Seen = { request, socket, messages: [], closed: null };
    all.push(seen);
    socket.once('message', () => {
      socket.send(CONNACK);
      behave(seen);
    });
    socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) seen.messages.push(data);
    });
    socket.on('error', () => undefined);
    socket.on('close', (code) => {
      seen.closed = { code };
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  stop = async () => {
    for (const { socket } of all) socket.terminate();
    server.close();
    await new Promise((resolve) => {
      http.close(resolve);
      http.closeAllConnections();
    });
  };
  const address = http.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { port: address.port, all };
}

/** A peer that answers the upgrade with raw bytes. */
async function answering(answer: (request: string) => string | Buffer, then?: (s: Socket) => void) {
  const broker = await FakeBroker.start((socket) => {
    socket.once('data', (data) => {
      socket.write(answer(data.toString('latin1')));
      then?.(socket);
    });
  });
  stop = async () => await broker.stop();
  return broker.port;
}

async function failure(port: number, overrides: Partial<ConnectOptions> = {}): Promise<string> {
  begin(port, overrides);
  return (await recorder.first('onConnectFailed')).reason ?? '';
}

describe('with a server of the ws library', () => {
  test('messages of all sizes go through, both ways', async () => {
    const { port, all } = await serve();
    const own = begin(port);
    await recorder.first('onConnected');
    const [seen] = all;
    if (seen === undefined) throw new Error('no connection');
    const sizes = [0, 1, 100, 119, 120, 121, 65_000, 65_530, 65_540, 200_000];
    for (const size of sizes) own.publish(0, message('t', 'x'.repeat(size)));
    own.flush();
    const expected = sizes.reduce((sum, size) => sum + size, 0);
    await recorder.until(() => payloadOf(seen.messages.slice(1)) >= expected);
    const echoed = Buffer.concat(seen.messages.slice(1));
    seen.socket.send(echoed.subarray(0, 50), { fin: false });
    seen.socket.send(echoed.subarray(50));
    await recorder.until(() => recorder.of('onPublish').length === sizes.length);
    expect(recorder.of('onPublish').map((event) => event.payload?.length)).toEqual(sizes);
  });

  test('path, headers and sub-protocol stand in the request', async () => {
    const { port, all } = await serve();
    begin(port, {
      ws: { ...WS, path: '/broker/mqtt?x=1', headers: { Authorization: 'Bearer 7' } },
    });
    await recorder.first('onConnected');
    const { url, headers } = all[0]?.request ?? {};
    expect(url).toBe('/broker/mqtt?x=1');
    expect(headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      authorization: 'Bearer 7',
      'sec-websocket-protocol': 'mqtt',
      'sec-websocket-version': '13',
    });
    expect(headers?.['sec-websocket-extensions']).toBeUndefined();
  });

  test('a Ping is answered, and packets around it are heard', async () => {
    const pongs: Buffer[] = [];
    const { port } = await serve(({ socket }) => {
      socket.on('pong', (data) => pongs.push(data));
      socket.ping('are you there');
      socket.send(Buffer.from([0x40, 2, 0, 7]));
    });
    begin(port);
    await recorder.first('onPuback');
    await recorder.until(() => pongs.length === 1);
    expect(pongs[0]?.toString()).toBe('are you there');
  });

  test('disconnect says DISCONNECT and Close, and both sides end in order', async () => {
    const { port, all } = await serve();
    const own = begin(port);
    await recorder.first('onConnected');
    own.disconnect(0);
    expect(own.isIdle(0)).toBe(true);
    await recorder.until(() => own.closingCount === 0);
    await recorder.until(() => all[0]?.closed !== null);
    expect(all[0]?.closed).toEqual({ code: 1000 });
    expect(all[0]?.messages.at(-1)).toEqual(Buffer.from([0xe0, 0]));
    expect(recorder.of('onClosed')).toEqual([]);
  });

  test.each<[string, (seen: Seen) => void, string]>([
    ['closes', ({ socket }) => socket.close(1000), 'closed by broker'],
    ['goes away', ({ socket }) => socket.close(1001), 'closed by broker'],
    ['closes without a code', ({ socket }) => socket.close(), 'closed by broker'],
    [
      'closes with a code',
      ({ socket }) => socket.close(1008, 'not you'),
      'WebSocket: closed by broker with code 1008 (policy violation)',
    ],
    [
      'closes with a code of its own',
      ({ socket }) => socket.close(4321),
      'WebSocket: closed by broker with code 4321',
    ],
    ['vanishes', ({ socket }) => socket.terminate(), 'closed by broker'],
    [
      'sends text',
      ({ socket }) => socket.send('text'),
      'WebSocket: malformed frame: text frame [MQTT-6.0.0-1]',
    ],
  ])('a broker that %s ends the connection with a reason', async (_how, act, reason) => {
    const { port, all } = await serve();
    begin(port);
    await recorder.first('onConnected');
    const [seen] = all;
    if (seen === undefined) throw new Error('no connection');
    act(seen);
    expect((await recorder.first('onClosed')).reason).toBe(reason);
    await recorder.until(() => seen.closed !== null);
    expect(recorder.of('onClosed')).toHaveLength(1);
    expect(clients?.isIdle(0)).toBe(true);
  });

  test('a broker that does not read: unsent bytes are visible, and their end is told', async () => {
    const { port, all } = await serve();
    const own = begin(port);
    await recorder.first('onConnected');
    all[0]?.socket.pause();
    for (let n = 0; n < 200; n += 1) own.publish(0, message('t', 'x'.repeat(100_000)));
    own.flush();
    expect(own.writableLength(0)).toBeGreaterThan(64 * 1024);
    all[0]?.socket.resume();
    await recorder.first('onDrained');
    expect(own.writableLength(0)).toBe(0);
    await recorder.until(() => payloadOf(all[0]?.messages.slice(1) ?? []) >= 200 * 100_000);
  });
});

describe('an upgrade that is not granted', () => {
  const good = [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Accept: %',
    'Sec-WebSocket-Protocol: mqtt',
  ];

  test.each<[string, (request: string) => string, string]>([
    ['404', () => head(['HTTP/1.1 404 Not Found']), 'WebSocket: refused with HTTP 404'],
    [
      'a redirect',
      () => head(['HTTP/1.1 302 Found', 'Location: /']),
      'WebSocket: refused with HTTP 302',
    ],
    ['a wrong key', () => head(good), 'WebSocket: wrong Sec-WebSocket-Accept'],
    [
      'no upgrade',
      () => head(['HTTP/1.1 101 Yes', 'Connection: Upgrade']),
      'WebSocket: answer 101 without Upgrade: websocket and Connection: Upgrade',
    ],
    [
      'another sub-protocol',
      (request) => granted(request, ['Sec-WebSocket-Protocol: wamp']),
      'WebSocket: broker did not choose the sub-protocol [MQTT-6.0.0-4]',
    ],
    [
      'no sub-protocol',
      (request) => granted(request, []),
      'WebSocket: broker did not choose the sub-protocol [MQTT-6.0.0-4]',
    ],
    [
      'an extension',
      (request) =>
        granted(request, ['Sec-WebSocket-Protocol: mqtt', 'Sec-WebSocket-Extensions: x']),
      'WebSocket: broker chose an extension that was not offered',
    ],
    ['something else', () => 'SSH-2.0-OpenSSH\r\n', 'WebSocket: the port does not speak HTTP'],
    [
      'a head without end',
      () => `HTTP/1.1 101 Yes\r\n${'X: y\r\n'.repeat(4_000)}`,
      'WebSocket: answer to the upgrade above 16 KiB',
    ],
  ])('because of %s', async (_what, answer, reason) => {
    expect(await failure(await answering(answer))).toBe(reason);
    expect(clients?.isIdle(0)).toBe(true);
  });

  test('because the peer closes', async () => {
    const port = await answering(
      () => '',
      (socket) => socket.end(),
    );
    expect(await failure(port)).toMatch(/^WebSocket: closed by the peer during the upgrade/);
  });

  test('because nothing comes within the time-out', async () => {
    expect(await failure(await answering(() => 'HTTP/1.1 '), { timeoutUs: 300_000 })).toBe(
      'timed out',
    );
  });

  test('whatever the answer is, it is a refusal with a reason', () => {
    const answers = fc.array(
      fc.oneof(
        fc.constantFrom(...good, 'upgrade: h2c', 'Sec-WebSocket-Extensions: x', 'HTTP/1.1 200 OK'),
        fc.string({ unit: 'binary', maxLength: 40 }),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(answers, (lines) => {
        const expected = { accept: 'none of these', subprotocol: 'mqtt' };
        expect(upgradeFault(lines.join('\r\n'), expected)).toMatch(/^WebSocket: /);
      }),
    );
  });

  test.each([
    [{ path: '/a b' }, /no path/],
    [{ path: 'mqtt' }, /no path/],
    [{ headers: { 'X y': '1' } }, /no name of a header/],
    [{ headers: { X: 'a\r\nHost: b' } }, /character that fits in none/],
    [{ headers: { Upgrade: 'h2c' } }, /belongs to the upgrade/],
  ])('because the request cannot be made: %j', (ws, reason) => {
    clients = createMqttClients({ slots: 1, handlers: new Recorder() });
    const options = connectOptions(1, { ws: { ...WS, ...ws } });
    expect(() => clients?.connect(0, options)).toThrow(reason);
    expect(clients.isIdle(0)).toBe(true);
  });
});

describe('a broker that breaks the protocol', () => {
  test('has its garbage named or waited for, and never hangs a client', async () => {
    let garbage = Buffer.alloc(0);
    const port = await answering(
      (request) => granted(request, ['Sec-WebSocket-Protocol: mqtt']),
      (socket) => {
        socket.write(Buffer.concat([Buffer.from([0x82, 4]), CONNACK]));
        socket.end(garbage);
      },
    );
    const own = createMqttClients({ slots: 1, handlers: recorder });
    clients = own;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 500 }), async (bytes) => {
        garbage = Buffer.from(bytes);
        recorder.events.length = 0;
        own.connect(0, connectOptions(port, { ws: WS }));
        await recorder.until(() => own.isIdle(0));
        const ends = [...recorder.of('onClosed'), ...recorder.of('onConnectFailed')];
        expect(ends).toHaveLength(1);
        expect(ends[0]?.reason).toMatch(
          /^(WebSocket: |malformed packet|protocol error|closed by broker|connection res)/,
        );
      }),
      { numRuns: 150 },
    );
  });

  test('may cut the answer and the frames anywhere', async () => {
    const broker = await FakeBroker.start((socket) => {
      socket.once('data', (data) => {
        const answer = granted(data.toString('latin1'), ['Sec-WebSocket-Protocol: mqtt']);
        const bytes = Buffer.concat([Buffer.from(answer), Buffer.from([0x82, 4]), CONNACK]);
        void (async () => {
          for (const byte of bytes) {
            socket.write(Buffer.from([byte]));
            await delay(1);
          }
        })();
      });
    });
    stop = async () => await broker.stop();
    begin(broker.port);
    expect(await recorder.first('onConnected')).toMatchObject({ sessionPresent: false });
  });
});

describe('with a Mosquitto that speaks WebSocket', () => {
  test('messages go through, in order', async (context) => {
    const program = findMosquitto();
    if (program === null) {
      context.skip('mosquitto is not on PATH');
      return;
    }
    const port = await freePort();
    const broker = await Mosquitto.start(program, [
      `listener ${port} 127.0.0.1`,
      'protocol websockets',
    ]);
    stop = async () => await broker.stop();
    const own = begin(port, {}, 2);
    await recorder.until(() => own.connectedCount === 2);
    own.subscribe(1, { packetId: 65_520, filters: ['flow'], qos: 1 });
    own.flush();
    await recorder.first('onSuback');
    for (let packetId = 1; packetId <= 1_000; packetId += 1) {
      own.publish(0, message('flow', `${packetId}`, { qos: 1, packetId }));
      if (packetId % 7 === 0) own.flush();
    }
    own.flush();
    await recorder.until(() => recorder.of('onPublish').length >= 1_000);
    expect(recorder.of('onPublish').map((e) => Number(e.payload))).toEqual(
      Array.from({ length: 1_000 }, (_, n) => n + 1),
    );
    own.close();
    expect(await failure(broker.port)).toMatch(/^WebSocket: closed by the peer during the upgrade/);
  });
});

function head(lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** An answer with the right key. */
function granted(request: string, further: readonly string[]): string {
  const key = /Sec-WebSocket-Key: (\S+)/.exec(request)?.[1] ?? '';
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`);
  return head([
    'HTTP/1.1 101 Switching Protocols',
    'upgrade: WebSocket',
    'connection: keep-alive, Upgrade',
    `sec-websocket-accept: ${accept.digest('base64')}`,
    ...further,
  ]);
}

/** Bytes of PUBLISH payload in messages that bear whole packets, topic "t". */
function payloadOf(messages: readonly Buffer[]): number {
  const bytes = Buffer.concat(messages);
  let at = 0;
  let sum = 0;
  while (at < bytes.length) {
    let length = 0;
    let shift = 0;
    let place = at + 1;
    for (;;) {
      const byte = bytes[place] ?? 0;
      length += (byte & 0x7f) << shift;
      shift += 7;
      place += 1;
      if (byte < 0x80) break;
    }
    if (place + length > bytes.length) return sum;
    sum += length - 3;
    at = place + length;
  }
  return sum;
}
