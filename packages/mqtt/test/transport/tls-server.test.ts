import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  createMqttClients,
  createTlsContext,
  type MqttClients,
  type TlsRequest,
  TlsSessions,
} from '../../src/index.ts';
import { publishTo, readSlowly } from '../clients/slow-reader.ts';
import { Authority, noCertificates, read } from '../fixture/certificates.ts';
import { CONNACK, FakeBroker } from '../fixture/fake-broker.ts';
import { connectOptions, message } from '../fixture/options.ts';
import { Recorder } from '../fixture/recorder.ts';
import { TlsServer } from './tls-server.ts';

function accept(socket: TLSSocket): void {
  socket.once('data', () => socket.write(CONNACK));
}

describe.skipIf(noCertificates() !== null)(
  'with a TLS server that behaves as the test says',
  () => {
    let authority: Authority;
    let identity: { cert: string; key: string };
    let server: TlsServer | FakeBroker | null = null;
    let clients: MqttClients | null = null;

    beforeAll(() => {
      authority = new Authority();
      identity = read(authority.issue({ name: 'localhost', bears: 'IP:127.0.0.1' }));
    });
    afterAll(() => authority.dispose());
    afterEach(async () => {
      clients?.close();
      clients = null;
      await server?.stop();
      server = null;
    });

    function request(overrides: Partial<TlsRequest> = {}): TlsRequest {
      const ca = readFileSync(authority.ca, 'utf8');
      return {
        context: createTlsContext({ ca, cert: null, key: null, minVersion: null }),
        servername: null,
        verify: true,
        alpn: [],
        sessions: null,
        ...overrides,
      };
    }

    function attempt(port: number, tls: TlsRequest): Recorder {
      const recorder = new Recorder();
      clients = createMqttClients({ slots: 1, handlers: recorder });
      clients.connect(0, connectOptions(port, { tls, timeoutUs: 1e6 }));
      return recorder;
    }

    async function answering(options: object): Promise<number> {
      server = await TlsServer.start({ ...identity, ...options }, accept);
      return server.port;
    }

    test('unsent bytes are visible, intact, and their end is told', async () => {
      const own = await TlsServer.start(identity, readSlowly);
      server = own;
      const result = await publishTo(own, { tls: request() });
      expect(result.stuckBytes).toBeGreaterThan(64 * 1024);
      expect(result.stuckAfterwards).toBe(0);
      expect(result.received.equals(result.sent)).toBe(true);
      expect(result.drained).toBe(1);
    });

    test('a least version that the broker does not speak is named', async () => {
      const port = await answering({ maxVersion: 'TLSv1.2' });
      const context = createTlsContext({ ca: null, cert: null, key: null, minVersion: 'TLSv1.3' });
      const { reason } = await attempt(port, request({ context })).first('onConnectFailed');
      expect(reason).toBe('TLS: no common version of TLS');
    });

    test('protocols are offered by ALPN, and the server name is sent', async () => {
      const port = await answering({ ALPNProtocols: ['x-amzn-mqtt-ca', 'mqtt'] });
      const own = server;
      if (!(own instanceof TlsServer)) throw new Error('no server');
      const options = { alpn: ['mqtt'], servername: 'broker.example', verify: false };
      await attempt(port, request(options)).first('onConnected');
      const [socket] = own.sockets;
      expect(socket?.alpnProtocol).toBe('mqtt');
      expect(Reflect.get(socket ?? {}, 'servername')).toBe('broker.example');
    });

    test.each([
      ['TLSv1.2', false, 1],
      ['TLSv1.3', false, 1],
      // A broker that was started anew knows none of the sessions that it gave before.
      ['TLSv1.3', true, 0],
    ] as const)(
      'sessions of %s, keys changed: %s, resumed: %i',
      async (version, renewed, times) => {
        const keys = () => ({
          minVersion: version,
          maxVersion: version,
          ticketKeys: randomBytes(48),
        });
        const own = await TlsServer.start({ ...identity, ...keys() }, accept);
        server = own;
        const sessions = new TlsSessions();
        for (let round = 0; round < 2; round += 1) {
          if (renewed) own.renewTicketKeys(randomBytes(48));
          const recorder = attempt(own.port, request({ sessions }));
          await recorder.first('onConnected');
          clients?.close();
        }
        expect(sessions.handshakes).toBe(2);
        expect(sessions.resumed).toBe(times);
      },
    );

    test('a session is offered to the address that gave it, and to no other', () => {
      const sessions = new TlsSessions();
      sessions.keep(3, 'a:1', Buffer.from('ticket'));
      expect(sessions.of(3, 'a:1')?.toString()).toBe('ticket');
      expect(sessions.of(3, 'b:1')).toBeUndefined();
      expect(sessions.of(4, 'a:1')).toBeUndefined();
      sessions.keep(3, 'a:1', Buffer.alloc(100_000));
      expect(sessions.of(3, 'a:1')).toBeUndefined();
    });

    test('a broker that speaks none of the offered protocols is named', async () => {
      const port = await answering({ ALPNProtocols: ['http/1.1'] });
      const { reason } = await attempt(port, request({ alpn: ['mqtt'] })).first('onConnectFailed');
      expect(reason).toBe('TLS: broker speaks none of the protocols of tls.alpn');
    });

    test('a peer that answers something else than TLS is named', async () => {
      server = await FakeBroker.start((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
      const { reason } = await attempt(server.port, request()).first('onConnectFailed');
      expect(reason).toBe('TLS: the port does not speak TLS');
    });

    test('a peer that never answers is waited for no longer than the time-out', async () => {
      server = await FakeBroker.start(() => undefined);
      const { reason } = await attempt(server.port, request()).first('onConnectFailed');
      expect(reason).toBe('timed out');
    });

    test('nobody listens', async () => {
      const port = await answering({});
      await server?.stop();
      const { reason } = await attempt(port, request()).first('onConnectFailed');
      expect(reason).toBe('connection refused');
    });

    test.each<[string, (socket: TLSSocket) => void, string]>([
      ['closes', (socket) => socket.end(), 'closed by broker'],
      ['vanishes', (socket) => socket.destroy(), 'closed by broker'],
    ])('a broker that %s ends the connection with a reason', async (_how, act, reason) => {
      const port = await answering({});
      const own = server;
      if (!(own instanceof TlsServer)) throw new Error('no server');
      const recorder = attempt(port, request());
      await recorder.first('onConnected');
      for (const socket of own.sockets) act(socket);
      expect((await recorder.first('onClosed')).reason).toBe(reason);
      await delay(20);
      expect(recorder.of('onClosed')).toHaveLength(1);
    });

    test.each(['end', 'destroy'] as const)(
      'a broker that goes (%s) while messages are on their way ends the connection with a reason',
      async (how) => {
        const own = await TlsServer.start(identity, accept);
        server = own;
        const reasons = new Set<string>();
        for (let round = 0; round < 8; round += 1) {
          const recorder = attempt(own.port, request());
          await recorder.first('onConnected');
          const busy = setInterval(() => {
            for (let n = 0; clients?.isConnected(0) === true && n < 20; n += 1) {
              clients.publish(0, message('t', 'x'.repeat(2_000)));
              clients.flush();
            }
          }, 1);
          await delay(round % 7);
          for (const socket of own.sockets) socket[how]();
          reasons.add((await recorder.first('onClosed')).reason ?? '');
          clearInterval(busy);
          clients?.close();
        }
        for (const reason of reasons)
          expect(reason).toMatch(/^(closed by broker|connection reset)$/);
      },
    );

    test('destroying a client in the middle of everything leaves nothing behind', async () => {
      const port = await answering({});
      const recorder = new Recorder();
      const own = createMqttClients({ slots: 40, handlers: recorder });
      clients = own;
      for (let slot = 0; slot < 40; slot += 1) {
        own.connect(slot, connectOptions(port, { tls: request() }));
        setTimeout(() => own.destroy(slot), slot);
      }
      await delay(300);
      expect(own.connectedCount).toBe(0);
      expect(recorder.of('onConnectFailed')).toEqual([]);
      expect(recorder.of('onClosed')).toEqual([]);
    });
  },
);

describe.skipIf(noCertificates() !== null)('certificates and keys', () => {
  const none = { ca: null, cert: null, key: null, minVersion: null };

  test('that cannot be used are refused, and it is said which', () => {
    const authority = new Authority();
    const one = read(authority.issue({ name: 'one' }));
    const other = read(authority.issue({ name: 'other' }));
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(() => createTlsContext({ ...none, ca: 'nothing' })).toThrow(
      /no PEM certificate in .*ca/,
    );
    expect(() => createTlsContext({ ...none, ca: broken })).toThrow(/\(ca\) cannot be read/);
    expect(() => createTlsContext({ ...none, cert: one.cert })).toThrow(/key is missing/);
    expect(() => createTlsContext({ ...none, key: one.key })).toThrow(/cert is missing/);
    expect(() => createTlsContext({ ...none, cert: one.key, key: one.key })).toThrow(/\(cert\)/);
    expect(() => createTlsContext({ ...none, cert: one.cert, key: other.key })).toThrow(
      /key values mismatch/,
    );
    const locked = one.key.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY');
    expect(() => createTlsContext({ ...none, ...one, key: locked })).toThrow(/key .*is encrypted/);
    expect(() => createTlsContext({ ...none, ...one })).not.toThrow();
    authority.dispose();
  });
});
