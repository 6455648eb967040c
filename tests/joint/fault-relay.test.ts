import { connect, createServer, type Server, type Socket } from 'node:net';
import { StampWriter } from '@squall/core/stamp';
import { type Fault, only } from '@squall/mqtt/testing';
import { connectAsync } from 'mqtt';
import { describe, expect } from 'vitest';
import { brokerTest } from '../fixtures/broker-test.ts';
import { FaultRelay } from '../fixtures/fault-relay.ts';
import { until } from '../fixtures/process.ts';

const SOON = { timeout: 5_000, interval: 5 };

/** The relay itself, between a socket that sends what it is told and one that keeps what it gets. */
const test = brokerTest.extend<{ line: (faults?: readonly Fault[]) => Promise<Line> }>({
  line: async ({}, use) => {
    const lines: Line[] = [];
    await use(async (faults = []) => {
      const line = await Line.open(faults);
      lines.push(line);
      return line;
    });
    for (const line of lines) await line.close();
  },
});

describe('a fault relay without faults', () => {
  test('passes every byte, in both directions, however the packets are cut', async ({ line }) => {
    const { client, broker } = await line();
    const packets = Array.from({ length: 400 }, (_, k) =>
      publish({ seq: k, qos: (k % 2) as 0 | 1, size: 40 + ((k * 7919) % 60_000) }),
    );
    const up = Buffer.concat([CONNECT, ...packets, PINGREQ, SUBSCRIBE, DISCONNECT]);
    const down = Buffer.concat([CONNACK, SUBACK, ...packets.toReversed(), puback(7), PINGRESP]);
    await Promise.all([sendInPieces(client.socket, up), sendInPieces(broker.socket, down)]);
    await until('all has come', () => broker.length === up.length && client.length === down.length);
    expect(broker.bytes().equals(up)).toBe(true);
    expect(client.bytes().equals(down)).toBe(true);
  });

  test('looks into packets where a fault might choose one, and leaves them as they are', async ({
    line,
  }) => {
    const faults = (['toBroker', 'toSubscriber', 'ackToBroker', 'ackToPublisher'] as const).map(
      (way): Fault => ({ way, kind: 'drop', where: () => false }),
    );
    const { client, broker, relay } = await line(faults);
    const sent = Buffer.concat([CONNECT, publish({ seq: 0, qos: 1 }), puback(9), PINGREQ]);
    client.socket.write(sent);
    broker.socket.write(sent);
    await until('all has come', () => broker.length + client.length === 2 * sent.length);
    expect([broker.bytes().equals(sent), client.bytes().equals(sent)]).toEqual([true, true]);
    expect(relay.injected.map(({ count }) => count)).toEqual([0, 0, 0, 0]);
    expect(faults.map(({ way }) => relay.came(way))).toEqual([1, 1, 1, 1]);
  });

  test('ends one side when the other ends, with all that came before', async ({ line }) => {
    const { client, broker } = await line();
    client.socket.end(Buffer.concat([CONNECT, DISCONNECT]));
    await until('the broker sees the end', () => broker.ended);
    expect(broker.bytes()).toEqual(Buffer.concat([CONNECT, DISCONNECT]));
    await until('so does the client', () => client.ended);
  });

  test('refuses to go on with what is no MQTT, and says so when it is closed', async () => {
    const { client, relay, close } = await Line.open([]);
    client.socket.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0x01]));
    await until('the connection is cut', () => client.ended);
    await expect(relay.close()).rejects.toThrow(/remaining length/);
    await close().catch(() => undefined);
  });
});

describe('faults', () => {
  test('befall every n-th packet of their way, and no other', async ({ line }) => {
    const { client, broker, relay } = await line([{ way: 'toBroker', kind: 'drop', every: 3 }]);
    const packets = Array.from({ length: 10 }, (_, seq) => publish({ seq, qos: 1 }));
    client.socket.write(Buffer.concat([...packets, puback(1), puback(2), puback(3)]));
    broker.socket.write(Buffer.concat(packets));
    const left = packets.filter((_, k) => k % 3 !== 2);
    await expect
      .poll(() => broker.hex(), SOON)
      .toBe(hex(Buffer.concat([...left, puback(1), puback(2), puback(3)])));
    await expect.poll(() => client.hex(), SOON).toBe(hex(Buffer.concat(packets)));
    expect(relay.injected[0]?.count).toBe(3);
  });

  test('can be asked for by the stamp, and for one packet alone', async ({ line }) => {
    const { client, broker, relay } = await line([
      { way: 'toBroker', kind: 'drop', where: ({ stamp }) => stamp?.seq === 4 },
      { way: 'toBroker', kind: 'drop', ...only(2) },
    ]);
    const packets = Array.from({ length: 8 }, (_, k) =>
      publish({ seq: k >> 1, publisher: k % 2, qos: 0 }),
    );
    const last = publish({ seq: 4, qos: 0 });
    client.socket.write(Buffer.concat([...packets, last]));
    await expect
      .poll(() => broker.hex(), SOON)
      .toBe(hex(Buffer.concat(packets.filter((_, k) => k !== 1))));
    expect(relay.injected.map(({ count }) => count)).toEqual([1, 1]);
  });

  test('duplicate: again with the DUP flag at QoS 1, the same at QoS 0', async ({ line }) => {
    const { client, broker } = await line([{ way: 'toBroker', kind: 'duplicate' }]);
    const [one, none] = [publish({ seq: 0, qos: 1 }), publish({ seq: 1, qos: 0 })];
    client.socket.write(Buffer.concat([one, none]));
    const again = Buffer.from(one);
    again[0] = (again[0] ?? 0) | 0x08;
    await expect.poll(() => broker.hex(), SOON).toBe(hex(Buffer.concat([one, again, none, none])));
  });

  test('corrupt: bits of one byte, from the front or from the end, and nothing else', async ({
    line,
  }) => {
    const { client, broker } = await line([
      { way: 'toBroker', kind: 'corrupt', at: 14, bits: 0xff, ...only(1) },
      { way: 'toBroker', kind: 'corrupt', at: -1, ...only(1) },
      { way: 'ackToBroker', kind: 'corrupt', at: 0, bits: 0x80 },
    ]);
    const packet = publish({ seq: 3, qos: 1, size: 100 });
    client.socket.write(Buffer.concat([packet, packet, packet, puback(5)]));
    const payloadAt = packet.length - 100;
    const damaged = Buffer.from(packet);
    damaged[payloadAt + 14] = (damaged[payloadAt + 14] ?? 0) ^ 0xff;
    const tail = Buffer.from(packet);
    tail[tail.length - 1] = (tail.at(-1) ?? 0) ^ 1;
    await expect
      .poll(() => broker.hex(), SOON)
      .toBe(hex(Buffer.concat([damaged, tail, packet, puback(0x8005)])));
  });

  test('swap: behind the next whole one of the same publisher, others go past', async ({
    line,
  }) => {
    const { client, broker, relay } = await line([
      { way: 'toBroker', kind: 'swap', ...only(1) },
      { way: 'toBroker', kind: 'corrupt', at: -1, where: ({ stamp }) => stamp?.seq === 1 },
    ]);
    const held = publish({ seq: 0, publisher: 1, qos: 1 });
    const other = publish({ seq: 0, publisher: 2, qos: 1 });
    const harmed = publish({ seq: 1, publisher: 1, qos: 1 });
    const whole = publish({ seq: 2, publisher: 1, qos: 1 });
    client.socket.write(Buffer.concat([held, other, harmed]));
    await until('both went past', () => broker.length === other.length + harmed.length);
    expect(relay.injected[0]?.count).toBe(0);
    client.socket.write(whole);
    const damaged = Buffer.from(harmed);
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    await expect
      .poll(() => broker.hex(), SOON)
      .toBe(hex(Buffer.concat([other, damaged, whole, held])));
    expect(relay.injected[0]).toMatchObject({ count: 1, overtaken: 1 });
  });

  test('hold: for a time, or until the end', async ({ line }) => {
    const { client, broker, relay } = await line([
      { way: 'toBroker', kind: 'hold', ms: 30, ...only(1) },
      { way: 'toBroker', kind: 'hold', ms: Number.POSITIVE_INFINITY, ...only(1) },
    ]);
    const [late, never, on] = [0, 1, 2].map((seq) => publish({ seq, qos: 0 }));
    if (late === undefined || never === undefined || on === undefined) throw new Error('three');
    client.socket.write(Buffer.concat([late, never, on]));
    await expect.poll(() => broker.hex(), SOON).toBe(hex(Buffer.concat([on, late])));
    expect(relay.injected.map(({ count, overtaken }) => [count, overtaken])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    client.socket.end(DISCONNECT);
    await expect.poll(() => broker.hex(), SOON).toBe(hex(Buffer.concat([on, late, DISCONNECT])));
  });

  test('cut: the connection is gone, and the packet with it', async ({ line }) => {
    const { client, broker, relay } = await line([{ way: 'toBroker', kind: 'cut', ...only(2) }]);
    const packet = publish({ seq: 0, qos: 0 });
    client.socket.write(packet);
    await expect.poll(() => broker.hex(), SOON).toBe(hex(packet));
    client.socket.write(Buffer.concat([packet, packet]));
    await until('both sides are gone', () => broker.ended && client.ended);
    expect(broker.bytes()).toEqual(packet);
    expect(relay.injected[0]?.count).toBe(1);
  });
});

describe('before a real broker', () => {
  test('clients publish and receive through it, large and small', async ({ broker }) => {
    const relay = await FaultRelay.before(broker.port);
    const client = await connectAsync(relay.url, { clientId: 'through-the-relay' });
    const got: number[] = [];
    client.on('message', (_topic, payload) => got.push(payload.length));
    await client.subscribeAsync('sizes/#', { qos: 1 });
    const sizes = [0, 1, 100, 127, 128, 16_383, 16_384, 500_000];
    for (const size of sizes) {
      await client.publishAsync(`sizes/${size}`, Buffer.alloc(size), { qos: 1 });
    }
    await until('all came back', () => got.length === sizes.length);
    await client.endAsync();
    await relay.close();
    expect(got).toEqual(sizes);
    expect(relay.came('toBroker')).toBe(sizes.length);
    expect(relay.came('toSubscriber')).toBe(sizes.length);
    expect(relay.came('ackToPublisher')).toBe(sizes.length);
  });
});

/** A socket and all that came to it. */
class End {
  readonly socket: Socket;
  length = 0;
  ended = false;
  readonly #chunks: Buffer[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => {
      this.#chunks.push(chunk);
      this.length += chunk.length;
    });
    socket.on('close', () => {
      this.ended = true;
    });
    socket.on('error', () => socket.destroy());
  }

  bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  hex(): string {
    return hex(this.bytes());
  }
}

/** Client, relay and broker, one connection. */
class Line {
  readonly client: End;
  readonly broker: End;
  readonly relay: FaultRelay;
  readonly #server: Server;

  static async open(faults: readonly Fault[]): Promise<Line> {
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port to be had');
    const relay = await FaultRelay.before(address.port, faults);
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const client = connect({ port: relay.port, host: '127.0.0.1', noDelay: true });
    return new Line(server, relay, [new End(client), new End(await accepted)]);
  }

  private constructor(server: Server, relay: FaultRelay, ends: readonly [End, End]) {
    this.#server = server;
    this.relay = relay;
    [this.client, this.broker] = ends;
  }

  readonly close = async (): Promise<void> => {
    this.client.socket.destroy();
    this.broker.socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.relay.close();
  };
}

async function sendInPieces(socket: Socket, bytes: Buffer): Promise<void> {
  let at = 0;
  for (let k = 0; at < bytes.length; k++) {
    const to = Math.min(bytes.length, at + 1 + ((k * 104_729) % 130_000));
    await new Promise((resolve) => socket.write(bytes.subarray(at, to), resolve));
    at = to;
  }
}

const CONNECT = encoded(0x10, Buffer.from('00044d5154540402003c00026331', 'hex'));
const CONNACK = encoded(0x20, Buffer.from([0, 0]));
const SUBSCRIBE = encoded(0x82, Buffer.from('000100016101', 'hex'));
const SUBACK = encoded(0x90, Buffer.from([0, 1, 1]));
const PINGREQ = encoded(0xc0, Buffer.alloc(0));
const PINGRESP = encoded(0xd0, Buffer.alloc(0));
const DISCONNECT = encoded(0xe0, Buffer.alloc(0));

function puback(packetId: number): Buffer {
  return encoded(0x40, Buffer.from([packetId >> 8, packetId & 0xff]));
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

function publish(message: {
  readonly seq: number;
  readonly qos: 0 | 1;
  readonly publisher?: number;
  readonly size?: number;
}): Buffer {
  const payload = Buffer.alloc(message.size ?? 60, 'x');
  const writer = new StampWriter({ runHash: 1, subject: 0, clockDomain: 1 });
  writer.publisher = message.publisher ?? 0;
  writer.seq = message.seq;
  writer.takeRest(payload, 0, payload.length);
  writer.write(payload, 0);
  const id = Buffer.from([0, 1 + (message.seq % 200)]);
  const head = Buffer.concat([Buffer.from([0, 3]), Buffer.from('a/b')]);
  const body = message.qos === 0 ? [head, payload] : [head, id, payload];
  return encoded(0x30 | (message.qos << 1), Buffer.concat(body));
}

function encoded(header: number, body: Buffer): Buffer {
  const length: number[] = [];
  let rest = body.length;
  do {
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    rest >>= 7;
  } while (rest > 0);
  return Buffer.concat([Buffer.from([header, ...length]), body]);
}
