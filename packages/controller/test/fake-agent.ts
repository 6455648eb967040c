import {
  type AgentFacts,
  CONTROL_PROTOCOL,
  type FromAgent,
  type FromController,
  fromController,
} from '@squall/core/control';
import { WebSocket } from 'ws';

let nextPid = 1000;

export interface FakeAgentOptions {
  readonly url: string;
  readonly id: string;
  readonly token?: string;
  readonly workers?: number;
  readonly labels?: Record<string, string>;
  readonly host?: string;
  readonly pid?: number;
  readonly heartbeatMs?: number;
}

/** An agent that says exactly what a test lets it say, over a real WebSocket. */
export class FakeAgent {
  readonly options: FakeAgentOptions;
  readonly facts: AgentFacts;
  /** Where it dials. */
  url: string;
  readonly received: FromController[] = [];
  /** What the controller calls it. */
  id: string;
  onMessage: (message: FromController) => void = () => {};
  #socket: WebSocket | null = null;
  #heartbeat: NodeJS.Timeout | undefined;
  readonly #waiters = new Set<() => void>();

  constructor(options: FakeAgentOptions) {
    this.options = options;
    this.id = options.id;
    this.url = options.url;
    this.facts = {
      id: options.id,
      host: options.host ?? 'test-host',
      pid: options.pid ?? nextPid++,
      version: '0.1.0',
      cores: 2,
      workers: options.workers ?? 1,
      memoryBytes: 2 ** 30,
      descriptorLimit: 1024,
      descriptorsFree: 1000,
      ports: 28_000,
      clockDomain: 'test',
      labels: options.labels ?? {},
    };
  }

  get open(): boolean {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  async connect(options: { origin?: string } = {}): Promise<void> {
    const socket = new WebSocket(this.url, { perMessageDeflate: false, ...options });
    this.#socket = socket;
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => {
      if (isBinary || !Buffer.isBuffer(data)) throw new Error('the controller sends text only');
      const message = fromController.parse(JSON.parse(data.toString('utf8')));
      this.received.push(message);
      if (message.type === 'welcome') this.id = message.agent;
      this.onMessage(message);
      this.#wake();
    });
    socket.on('close', () => {
      clearInterval(this.#heartbeat);
      this.#wake();
    });
  }

  /** Connects, says hello, tells its clock and beats. */
  async join(resume: { run: string; epoch: number } | null = null): Promise<this> {
    this.received.length = 0;
    await this.connect();
    this.say(this.hello({ resume }));
    await this.next('welcome');
    const agentUs = Number(process.hrtime.bigint()) / 1_000;
    this.say({ type: 'clock_report', agentUs, offsetUs: 0, boundUs: 50, rttUs: 100 });
    if (resume !== null) this.repeat();
    this.beat();
    this.#heartbeat = setInterval(() => this.beat(), this.options.heartbeatMs ?? 200);
    return this;
  }

  /** What is said again on each new link of a run. */
  protected repeat(): void {}

  hello(more: Partial<Extract<FromAgent, { type: 'hello' }>> = {}): FromAgent {
    return {
      type: 'hello',
      protocol: CONTROL_PROTOCOL,
      token: this.options.token ?? '',
      agent: this.facts,
      resume: null,
      ...more,
    };
  }

  beat(): void {
    this.say({
      type: 'heartbeat',
      health: { cpuSeconds: 0.5, rssBytes: 1_000_000, loopDelayP99Us: 1_000, outboxFrames: 0 },
      host: { cpu_used: 0.25, net_in: 1_000, load: 2 },
    });
  }

  say(message: FromAgent): void {
    this.sayRaw(JSON.stringify(message));
  }

  sayRaw(text: string): void {
    if (this.open) this.#socket?.send(text);
  }

  sayBytes(bytes: Uint8Array): void {
    if (this.open) this.#socket?.send(bytes, { binary: true });
  }

  /** Stops beating, leaves the line open. */
  fallSilent(): void {
    clearInterval(this.#heartbeat);
  }

  /** As SIGKILL would: the connection is reset. */
  kill(): void {
    clearInterval(this.#heartbeat);
    this.#socket?.terminate();
  }

  async closed(): Promise<void> {
    await this.until(() => !this.open);
  }

  /** The first message of a kind, now or later. */
  async next<T extends FromController['type']>(
    type: T,
    fits: (message: Extract<FromController, { type: T }>) => boolean = () => true,
  ): Promise<Extract<FromController, { type: T }>> {
    const is = (m: FromController): m is Extract<FromController, { type: T }> => m.type === type;
    const find = () => this.received.filter((m) => is(m)).find((m) => fits(m));
    await this.until(() => find() !== undefined || !this.open);
    const found = find();
    if (found === undefined) throw new Error(`the link closed before ${type}`);
    return found;
  }

  async until(condition: () => boolean, timeoutMs = 10_000): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters.delete(look);
        reject(new Error(`agent ${this.id} waited in vain; got ${this.#names()}`));
      }, timeoutMs);
      const look = () => {
        if (!condition()) return;
        clearTimeout(timer);
        this.#waiters.delete(look);
        resolve();
      };
      this.#waiters.add(look);
    });
  }

  #names(): string {
    return this.received.map((message) => message.type).join(' ');
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter();
  }
}
