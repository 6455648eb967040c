import type { AddressInfo } from 'node:net';
import type { FromAgent, FromController } from '@squall/core/control';
import { CONTROL_PROTOCOL, fromAgent } from '@squall/core/control';
import { decodeFrame, type Frame } from '@squall/core/metrics';
import { split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { type WebSocket, WebSocketServer } from 'ws';
import { monotonicUs } from '../../src/main/monotonic.ts';

export type Of<T extends FromAgent['type']> = Extract<FromAgent, { type: T }>;

const WAIT_MS = 10_000;

export const RUN = { run: 'run-1', epoch: 1 };

/** A controller that does what the test says, and nothing else but greeting and telling the time. */
export class FakeController {
  readonly heard: FromAgent[] = [];
  readonly frames: Frame[] = [];
  /** Added to the controller's clock: it stands for another host. */
  clockOffsetUs = 0;
  acknowledging = true;
  answering = true;
  token = 'secret';
  greeting: (hello: Of<'hello'>) => FromController = (hello) => ({
    type: 'welcome',
    controller: 'fake',
    heartbeatUs: 50_000,
    agent: hello.agent.id,
  });
  readonly port: number;
  readonly #server: WebSocketServer;
  readonly #watchers = new Set<() => void>();
  #socket: WebSocket | null = null;

  static async open(port = 0): Promise<FakeController> {
    const server = new WebSocketServer({ port, host: '127.0.0.1' });
    await new Promise((resolve) => server.once('listening', resolve));
    return new FakeController(server);
  }

  private constructor(server: WebSocketServer) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      this.#socket = socket;
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) this.#frame(data);
        else this.#message(socket, fromAgent.parse(JSON.parse(data.toString())));
        for (const watch of this.#watchers) watch();
      });
    });
  }

  get url(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  get agents(): number {
    return this.#server.clients.size;
  }

  send(message: FromController): void {
    this.#socket?.send(JSON.stringify(message));
  }

  sendRaw(text: string): void {
    this.#socket?.send(text);
  }

  /** Breaks the line without a word. */
  cut(): void {
    for (const socket of this.#server.clients) socket.terminate();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  all<T extends FromAgent['type']>(type: T): Of<T>[] {
    return this.heard.filter((message): message is Of<T> => message.type === type);
  }

  /** The first message of the type that fits, waited for. */
  async next<T extends FromAgent['type']>(
    type: T,
    fits: (message: Of<T>) => boolean = () => true,
  ): Promise<Of<T>> {
    const find = () => this.all(type).find(fits);
    await this.until(() => find() !== undefined, type);
    return find() as Of<T>;
  }

  until(condition: () => boolean, what = 'condition'): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = () => {
        if (!condition()) return;
        clearTimeout(timer);
        clearInterval(poll);
        this.#watchers.delete(check);
        resolve();
      };
      const heard = () =>
        this.heard.map((message) => message.type).filter((t) => !/clock|heart/.test(t));
      const timer = setTimeout(() => {
        clearInterval(poll);
        reject(new Error(`no ${what}; heard ${heard().join(', ')}`));
      }, WAIT_MS);
      const poll = setInterval(check, 20);
      this.#watchers.add(check);
      check();
    });
  }

  nowUs(): number {
    return monotonicUs() + this.clockOffsetUs;
  }

  assign(
    plan: Plan,
    options: { agent: string; workers: number; secrets?: Record<string, string> },
  ) {
    const [share] = split(
      plan.groups.map(({ clients }) => clients),
      [{ agent: options.agent, workers: options.workers }],
    );
    if (share === undefined) throw new Error('no share');
    this.send({
      type: 'assign',
      ...RUN,
      shortRun: 'r1',
      plan,
      share,
      bus: { kind: 'link' },
      secrets: options.secrets ?? {},
    });
  }

  advance(stage: number, delayUs = 0): void {
    this.send({ type: 'advance', ...RUN, stage, at: this.nowUs() + delayUs });
  }

  /** Sum of a counter over the frames, each sequence once. */
  total(metric: string): number {
    const once = new Map(this.frames.map((frame) => [frame.seqFrom, frame]));
    const series = [...once.values()].flatMap(({ slices }) => slices.flatMap((s) => s.series));
    return series
      .filter((delta) => delta.metric === metric)
      .reduce((sum, { value }) => sum + (value ?? 0), 0);
  }

  #frame(data: Buffer): void {
    const frame = decodeFrame(data);
    this.frames.push(frame);
    if (this.acknowledging) this.acknowledge(frame.seqTo);
  }

  acknowledge(seq: number): void {
    this.send({ type: 'frame_ack', ...RUN, seq });
  }

  #message(socket: WebSocket, message: FromAgent): void {
    this.heard.push(message);
    if (message.type === 'hello') this.#greet(socket, message);
    if (message.type !== 'clock_probe' || !this.answering) return;
    const now = this.nowUs();
    this.send({
      type: 'clock_answer',
      agentSentUs: message.agentSentUs,
      controllerReceivedUs: now,
      controllerSentUs: now,
    });
  }

  #greet(socket: WebSocket, hello: Of<'hello'>): void {
    let answer = this.greeting(hello);
    if (hello.token !== this.token) {
      answer = { type: 'rejected', code: 'token', message: 'the join token is wrong' };
    } else if (hello.protocol !== CONTROL_PROTOCOL) {
      answer = { type: 'rejected', code: 'protocol', message: 'another protocol' };
    }
    socket.send(JSON.stringify(answer));
    if (answer.type === 'rejected') socket.close(1008);
  }
}
