import { createServer, type Server, type Socket } from 'node:net';
import type { ConnectPacket, Qos } from '../../codec/packet.ts';
import type { Properties } from '../../codec/properties/properties.ts';
import { type Fault, FaultBook, type Injected } from '../fault.ts';
import type { ReadStamp } from '../gate-packet.ts';
import type { Way } from '../way.ts';
import { BrokerConnection } from './broker-connection.ts';
import type { AuthAnswer, AuthStep, BrokerScene } from './broker-scene.ts';
import type { Message } from './message.ts';
import type { Session } from './session.ts';
import { Switchboard } from './switchboard.ts';

const MAX_CONNECTIONS = 20_000;
/** Breaches by clients that are kept; a test that has so many is wrong anyway. */
const MAX_VIOLATIONS = 1_000;

export interface FaultBrokerOptions {
  /** One line each; the first that chooses a packet befalls it. */
  readonly faults?: readonly Fault[];
  /** What its CONNACKs say of it to clients of MQTT 5. */
  readonly connack?: Properties;
  /** The most that a subscription is granted; 2 unless said. */
  readonly grants?: Qos;
  /** Sends more messages at a time than a client's receive maximum allows. */
  readonly ignoresReceiveMaximum?: boolean;
  /** Enhanced authentication; without it every method is a bad one. */
  readonly auth?: (step: AuthStep) => AuthAnswer;
  /** For faults that ask for it. */
  readonly readStamp?: ReadStamp;
}

/**
 * A small broker of MQTT 3.1, 3.1.1 and 5 in this process: QoS 0 to 2, retained messages, shared
 * subscriptions, sessions that are kept. It does all of it right, but for the faults that it is given, and
 * counts how often each came about. For tests, beside real brokers and never in the place of one.
 */
export class FaultBroker {
  readonly #server: Server;
  readonly #port: number;
  readonly #book: FaultBook;
  readonly #board = new Switchboard();
  readonly #sockets = new Set<Socket>();
  readonly #connections = new Map<string, BrokerConnection>();
  readonly #violations: string[] = [];
  readonly #clientIds: string[] = [];
  #assigned = 0;

  private constructor(server: Server, port: number, options: FaultBrokerOptions) {
    this.#server = server;
    this.#port = port;
    this.#book = new FaultBook(options.faults ?? []);
    const scene: BrokerScene = {
      book: this.#book,
      board: this.#board,
      readStamp: options.readStamp ?? (() => null),
      connack: options.connack ?? {},
      grants: options.grants ?? 2,
      ignoresReceiveMaximum: options.ignoresReceiveMaximum ?? false,
      auth: options.auth,
      newClientId: () => `assigned-${++this.#assigned}`,
      violation: (clientId, why) => {
        if (this.#violations.length < MAX_VIOLATIONS) this.#violations.push(`${clientId}: ${why}`);
      },
      join: (connection, packet) => this.#join(connection, packet),
      leave: (connection, session) => this.#leave(connection, session),
    };
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      BrokerConnection.serve(socket, scene);
    });
  }

  static async start(options: FaultBrokerOptions = {}): Promise<FaultBroker> {
    const server = createServer({ noDelay: true });
    server.maxConnections = MAX_CONNECTIONS;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port to be had');
    return new FaultBroker(server, address.port, options);
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.#port}`;
  }

  /** What each fault did so far, in the order of the options. */
  get injected(): readonly Injected[] {
    return this.#book.injected;
  }

  /** What clients did that the specification forbids, or that could not be understood. */
  get violations(): readonly string[] {
    return this.#violations;
  }

  /** Of every CONNECT that was taken, in their order. */
  get clientIds(): readonly string[] {
    return this.#clientIds;
  }

  /** Clients that are connected now. */
  get connected(): number {
    return this.#connections.size;
  }

  /** How many packets of a way came, before any fault. */
  came(way: Way): number {
    return this.#book.came(way);
  }

  /** A message of the server itself. */
  publish(message: Pick<Message, 'topic' | 'payload'> & Partial<Message>): void {
    this.#board.publish({ qos: 0, retain: false, properties: {}, ...message }, null);
  }

  /** Ends all connections and listens no more. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(connection: BrokerConnection, packet: ConnectPacket) {
    const { clientId } = connection;
    this.#clientIds.push(clientId);
    this.#connections.get(clientId)?.takenOver();
    if (packet.cleanStart) this.#board.forget(clientId);
    this.#connections.set(clientId, connection);
    const opened = this.#board.open(clientId);
    opened.session.expiryS = expiryOf(packet);
    return opened;
  }

  #leave(connection: BrokerConnection, session: Session): void {
    session.detach(connection);
    if (this.#connections.get(session.clientId) === connection) {
      this.#connections.delete(session.clientId);
    }
    if (session.connected) return;
    if (!session.kept) {
      this.#forget(session);
      return;
    }
    if (!Number.isFinite(session.expiryS)) return;
    const timer = setTimeout(() => {
      if (!session.connected) this.#forget(session);
    }, session.expiryS * 1_000);
    timer.unref();
  }

  /** Unless another one has taken its place. */
  #forget(session: Session): void {
    if (this.#board.session(session.clientId) === session) this.#board.forget(session.clientId);
  }
}

/** A session without clean start never expires before MQTT 5 [MQTT-3.1.2-5 of 3.1.1]. */
function expiryOf({ version, cleanStart, properties }: ConnectPacket): number {
  if (version !== '5') return cleanStart ? 0 : Number.POSITIVE_INFINITY;
  const seconds = properties?.sessionExpiryInterval ?? 0;
  return seconds === 0xff_ff_ff_ff ? Number.POSITIVE_INFINITY : seconds;
}
