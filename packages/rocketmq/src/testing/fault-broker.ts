import { createServer, type Server, type Socket } from 'node:net';
import type { RemotingCommand } from '../codec/command.ts';
import { decodeFrame, encodeFrame } from '../codec/frame.ts';
import { FrameFramer } from '../codec/frame-framer.ts';
import { CommandFlag, RequestCode } from '../codec/request-code.ts';
import type { RoutedBroker } from './broker/broker-state.ts';
import { Groups } from './broker/groups.ts';
import { HeldPulls } from './broker/held-pulls.ts';
import { MessageStore } from './broker/message-store.ts';
import { answerUsually } from './broker/usual-answers.ts';
import { type Fault, FaultBook, type Injected, isOfStore } from './fault.ts';
import { Outgoing } from './outgoing.ts';
import { type Behaviour, blankAnswer, isLeftUndone, type Reply, replyTo } from './reply.ts';

/** Requests that are kept to be looked at; those of a load are counted only. */
const REQUESTS_KEPT = 10_000;
/** As brokers have it. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * A name server and a broker on one port, in memory, that do what real ones do not do when asked to:
 * by faults (`inject`), or by a test's own behaviour for a code (`on`). Several of them make a cluster
 * (`peers`).
 */
export class FaultBroker {
  readonly name: string;
  /** The first of them, in their order. */
  readonly requests: RemotingCommand[] = [];
  readonly sockets = new Set<Socket>();
  readonly store = new MessageStore();
  readonly groups = new Groups();
  readonly held = new HeldPulls(this.store);
  /** Others in its routes; a broker that was stopped is in none. */
  readonly peers: FaultBroker[] = [];
  /** Address in its routes, where it is not its own. */
  routedTo: string | null = null;
  queues = 4;
  permissions = 6;
  /** Topics are made by whoever sends to them, or asks for their route. */
  autoCreate = true;
  maxMessageBytes = MAX_MESSAGE_BYTES;
  /** Topics without a route yet. */
  readonly unrouted = new Set<string>();
  readonly #server: Server;
  readonly #address: string;
  readonly #book = new FaultBook();
  readonly #behaviours = new Map<number, Behaviour>();
  readonly #came = new Map<number, number>();
  #isUp = true;

  private constructor(server: Server, name: string) {
    this.#server = server;
    this.name = name;
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    this.#address = `127.0.0.1:${address.port}`;
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(name = 'b'): Promise<FaultBroker> {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return new FaultBroker(server, name);
  }

  get address(): string {
    return this.#address;
  }

  get injected(): readonly Injected[] {
    return this.#book.injected;
  }

  /** Behind those that are there already: the first that chooses a request has it. */
  inject(fault: Fault): Injected {
    return this.#book.add(fault);
  }

  /** All faults and behaviours of before are over. */
  heal(): void {
    this.#book.clear();
    this.#behaviours.clear();
  }

  /** All requests of a code are left to this. */
  on(code: number, behaviour: Behaviour): void {
    this.#behaviours.set(code, behaviour);
  }

  /** How many requests of a code came. */
  came(code: number): number {
    return this.#came.get(code) ?? 0;
  }

  requestsOf(code: number): RemotingCommand[] {
    return this.requests.filter((request) => request.code === code);
  }

  /** Asks something of every client. */
  ask(command: Partial<RemotingCommand> & { readonly code: number }): void {
    const whole = { ...blankAnswer(), flag: 0, ...command };
    for (const socket of this.sockets) socket.write(encodeFrame(whole));
  }

  /** Tells the members of a group that there are others than before. */
  notify(group: string): void {
    const bytes = encodeFrame({
      ...blankAnswer(),
      code: RequestCode.notifyConsumerIdsChanged,
      flag: CommandFlag.oneWay,
      ext: { consumerGroup: group },
    });
    for (const socket of this.groups.sockets(group)) if (socket.writable) socket.write(bytes);
  }

  brokers(): readonly RoutedBroker[] {
    const up = [this, ...this.peers].filter((each) => each.#isUp);
    return up.map((each) => ({ name: each.name, address: each.routedTo ?? each.address }));
  }

  /** Cuts every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.#isUp = false;
    this.held.end();
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #serve(socket: Socket): void {
    const outgoing = new Outgoing(socket);
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.held.left(socket);
      for (const group of this.groups.left(socket)) this.notify(group);
    });
    socket.on('error', () => socket.destroy());
    const framer = new FrameFramer({
      frame: (view) => {
        this.#handle({ socket, outgoing }, decodeFrame(view));
        return !socket.destroyed;
      },
      malformed: () => socket.destroy(),
    });
    socket.on('data', (chunk) => framer.feed(chunk, chunk.length));
  }

  #handle(
    connection: { readonly socket: Socket; readonly outgoing: Outgoing },
    request: RemotingCommand,
  ): void {
    const { code, flag, opaque } = request;
    if (this.requests.length < REQUESTS_KEPT) this.requests.push(request);
    this.#came.set(code, this.came(code) + 1);
    if ((flag & CommandFlag.response) !== 0) return;
    const behaviour = this.#behaviours.get(code);
    const fault = behaviour === undefined ? this.#book.choose(request) : null;
    const reply = replyTo({ ...connection, opaque, fault });
    if (behaviour !== undefined) behaviour(request, reply);
    else this.#answer(request, reply, fault);
  }

  #answer(request: RemotingCommand, reply: Reply, fault: Fault | null): void {
    if (fault !== null && isLeftUndone(fault)) {
      reply.answer();
      return;
    }
    answerUsually(this, { request, reply }, fault !== null && isOfStore(fault) ? fault : null);
  }
}
