import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConnectOptions,
  createMqttClients,
  createTlsContext,
  type MqttClients,
  type TlsMaterial,
  type TlsRequest,
  TlsSessions,
} from '../../src/index.ts';
import { Authority, noCertificates, type Pair, read } from '../fixture/certificates.ts';
import { findMosquitto, freePort, Mosquitto } from '../fixture/mosquitto.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';

const program = findMosquitto();
const missing = noCertificates() ?? (program === null ? 'mosquitto is not on PATH' : null);

describe.skipIf(missing !== null)('with a Mosquitto that speaks TLS', () => {
  const ports = { open: 0, strict: 0, expired: 0, otherHost: 0 };
  let authority: Authority;
  let stranger: Authority;
  let device: Pair;
  let broker: Mosquitto;
  let clients: MqttClients | null = null;
  let recorder = new Recorder();

  beforeAll(async () => {
    authority = new Authority();
    stranger = new Authority('Another authority');
    device = authority.issue({ name: 'device' });
    const server = authority.issue({ name: 'localhost', bears: 'DNS:localhost,IP:127.0.0.1' });
    for (const name of ['open', 'strict', 'expired', 'otherHost'] as const) {
      ports[name] = await freePort();
    }
    broker = await Mosquitto.start(program ?? '', [
      ...listener(ports.open, server),
      ...listener(ports.strict, server),
      'require_certificate true',
      `cafile ${authority.ca}`,
      ...listener(ports.expired, authority.issue({ name: 'localhost', expired: true })),
      ...listener(ports.otherHost, authority.issue({ name: 'elsewhere.example' })),
    ]);
  });
  afterAll(async () => {
    await broker.stop();
    authority.dispose();
    stranger.dispose();
  });
  afterEach(() => clients?.close());

  function tls(
    overrides: Partial<TlsRequest> = {},
    material: Partial<TlsMaterial> = {},
  ): TlsRequest {
    const ca = readFileSync(authority.ca, 'utf8');
    return {
      context: createTlsContext({ ca, cert: null, key: null, minVersion: null, ...material }),
      servername: null,
      verify: true,
      alpn: [],
      sessions: null,
      ...overrides,
    };
  }

  function begin(port: number, overrides: Partial<ConnectOptions>, slots = 1): MqttClients {
    recorder = new Recorder();
    const own = createMqttClients({ slots, handlers: recorder });
    clients = own;
    for (let slot = 0; slot < slots; slot += 1) {
      own.connect(slot, connectOptions(port, { clientId: `c${slot}`, ...overrides }));
    }
    return own;
  }

  async function failure(port: number, overrides: Partial<ConnectOptions>): Promise<string> {
    begin(port, overrides);
    return (await recorder.first('onConnectFailed')).reason ?? '';
  }

  test.each(['127.0.0.1', 'localhost'])('messages go through, with %s', async (host) => {
    const own = begin(ports.open, { tls: tls(), host }, 2);
    await recorder.until(() => own.connectedCount === 2);
    own.subscribe(1, { packetId: 65_520, filters: ['room/+'], qos: 1 });
    own.flush();
    await recorder.first('onSuback');
    own.publish(0, message('room/1', 'zero'));
    own.publish(0, message('room/2', 'x'.repeat(300_000), { qos: 1, packetId: 77 }));
    own.flush();
    await recorder.until(() => recorder.of('onPublish').length === 2);
    expect(await recorder.first('onPuback')).toMatchObject({ slot: 0, packetId: 77 });
    expect(recorder.of('onPublish').map((e) => e.payload?.length)).toEqual([4, 300_000]);
    own.disconnect(0);
    await recorder.until(() => own.closingCount === 0);
    expect(recorder.of('onClosed')).toEqual([]);
  });

  test('thousands of messages, many a tick, arrive in order', async () => {
    const own = begin(ports.open, { tls: tls() }, 2);
    await recorder.until(() => own.connectedCount === 2);
    own.subscribe(1, { packetId: 65_520, filters: ['flow'], qos: 1 });
    own.flush();
    await recorder.first('onSuback');
    for (let packetId = 1; packetId <= 3_000; packetId += 1) {
      own.publish(0, message('flow', `${packetId}`, { qos: 1, packetId }));
      if (packetId % 7 === 0) own.flush();
    }
    own.flush();
    await recorder.until(() => recorder.of('onPublish').length >= 3_000);
    expect(recorder.of('onPublish').map((e) => Number(e.payload))).toEqual(
      Array.from({ length: 3_000 }, (_, n) => n + 1),
    );
    expect(own.writableLength(0)).toBe(0);
  });

  test('a client certificate is shown where it is asked for', async () => {
    begin(ports.strict, { tls: tls({}, read(device)) });
    expect(await recorder.first('onConnected')).toMatchObject({ slot: 0 });
  });

  test.each<[string, () => Promise<string>, string]>([
    [
      'an authority that is not ours',
      () => failure(ports.open, { tls: tls({}, { ca: readFileSync(stranger.ca, 'utf8') }) }),
      'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
    ],
    [
      'an authority that Node.js does not know',
      () => failure(ports.open, { tls: tls({}, { ca: null }) }),
      'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
    ],
    [
      'a certificate that has expired',
      () => failure(ports.expired, { tls: tls() }),
      'TLS: certificate has expired',
    ],
    [
      'a certificate for another host',
      () => failure(ports.otherHost, { tls: tls() }),
      'TLS: certificate is for another host: set tls.servername to a name that it bears',
    ],
    [
      'a server name that the certificate does not bear',
      () => failure(ports.open, { tls: tls({ servername: 'elsewhere.example' }) }),
      'TLS: certificate is for another host: set tls.servername to a name that it bears',
    ],
    [
      'no client certificate',
      () => failure(ports.strict, { tls: tls() }),
      'TLS: broker requires a client certificate',
    ],
    [
      'a client certificate of an authority that the broker does not know',
      () => failure(ports.strict, { tls: tls({}, read(stranger.issue({ name: 'device' }))) }),
      'TLS: broker does not know the authority of the client certificate',
    ],
    [
      'a client certificate that has expired',
      () =>
        failure(ports.strict, {
          tls: tls({}, read(authority.issue({ name: 'device', expired: true }))),
        }),
      'TLS: broker refuses the client certificate: expired',
    ],
    [
      'TLS to a port without it',
      () => failure(broker.port, { tls: tls() }),
      'TLS: closed by the peer during the handshake: does the port speak TLS?',
    ],
  ])('%s has a reason of its own', async (_what, attempt, reason) => {
    expect(await attempt()).toBe(reason);
    expect(clients?.isIdle(0)).toBe(true);
  });

  test('plain MQTT to a port with TLS ends with a reason', async () => {
    expect(await failure(ports.open, {})).toMatch(/^(connection reset|closed by broker)$/);
  });

  test('verification can be switched off', async () => {
    begin(ports.otherHost, { tls: tls({ verify: false }, { ca: null }) });
    expect(await recorder.first('onConnected')).toMatchObject({ slot: 0 });
  });

  test('the name to look for can be given', async () => {
    begin(ports.otherHost, { tls: tls({ servername: 'elsewhere.example' }) });
    expect(await recorder.first('onConnected')).toMatchObject({ slot: 0 });
  });

  test('a client that connects again resumes its session', async () => {
    const sessions = new TlsSessions();
    const options = { tls: tls({ sessions }) };
    const own = begin(ports.open, options);
    await recorder.first('onConnected');
    own.subscribe(0, { packetId: 65_520, filters: ['any'], qos: 0 });
    own.flush();
    await recorder.first('onSuback');
    own.disconnect(0);
    own.connect(0, connectOptions(ports.open, options));
    await recorder.until(() => recorder.of('onConnected').length === 2);
    expect(sessions.handshakes).toBe(2);
    expect(sessions.resumed).toBe(1);
  });
});

function listener(port: number, server: Pair): string[] {
  return [`listener ${port} 127.0.0.1`, `certfile ${server.cert}`, `keyfile ${server.key}`];
}
