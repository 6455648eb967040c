import {
  type FromAgent,
  type FromController,
  fromController,
  MAX_ASSIGN_BYTES,
} from '@squall/core/control';
import { SquallError } from '@squall/core/errors';
import { type RawData, WebSocket } from 'ws';
import type { AgentLimits } from './limits.ts';
import { monotonicUs } from './monotonic.ts';
import type { AgentLogger } from './options.ts';

export type Hello = Extract<FromAgent, { type: 'hello' }>;
export type Welcome = Extract<FromController, { type: 'welcome' }>;
export type Rejected = Extract<FromController, { type: 'rejected' }>;

/** What the link tells its owner. `receivedUs` was read before anything else was done. */
export interface LinkListener {
  /** The greeting of each new connection. */
  hello(): Hello;
  up(welcome: Welcome): void;
  message(message: FromController, receivedUs: number): void;
  /** The controller closes after it; the owner may close the link, else it is tried again. */
  rejected(message: Rejected): void;
  down(): void;
}

export interface LinkOptions {
  readonly url: string;
  readonly listener: LinkListener;
  readonly logger: AgentLogger;
  readonly limits: AgentLimits;
}

/** Close code of a party that leaves on purpose (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;
const PROTOCOL_ERROR = 1002;

/**
 * The agent's connection to its controller: dialled out, greeted, and dialled again with back-off
 * whenever it is lost. Messages that cannot be sent now are not kept: who needs an answer says it
 * again when the link is up.
 */
export class Link {
  readonly #url: string;
  readonly #logger: AgentLogger;
  readonly #listener: LinkListener;
  readonly #limits: AgentLimits;
  #socket: WebSocket | null = null;
  #up = false;
  #closed = false;
  #backoffUs: number;
  #complained = false;
  #heardUs = 0;
  #retryTimer: NodeJS.Timeout | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;

  /** @throws SquallError SQ_USAGE for an address that is not one of a WebSocket. */
  constructor(options: LinkOptions) {
    this.#url = checkedUrl(options.url);
    this.#listener = options.listener;
    this.#logger = options.logger;
    this.#limits = options.limits;
    this.#backoffUs = options.limits.reconnectMinUs;
  }

  get isUp(): boolean {
    return this.#up;
  }

  start(): void {
    this.#dial();
  }

  /** False when there is no link: the message is gone. */
  send(message: FromAgent): boolean {
    if (!this.#up || this.#socket === null) return false;
    this.#socket.send(JSON.stringify(message));
    return true;
  }

  /** Resolves when the bytes are with the kernel; rejects when the link is down or goes down. */
  sendBinary(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#up || this.#socket === null) {
        reject(new SquallError('SQ_CONTROL', 'there is no link to the controller'));
        return;
      }
      this.#socket.send(bytes, { binary: true }, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the link for good. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    const socket = this.#socket;
    if (socket === null) return;
    socket.close(GOING_AWAY);
    // A controller that does not answer the close frame must not keep this process alive.
    setTimeout(() => socket.terminate(), this.#limits.linkCloseUs / 1000).unref();
  }

  #dial(): void {
    const socket = new WebSocket(this.#url, {
      perMessageDeflate: false,
      maxPayload: MAX_ASSIGN_BYTES,
      handshakeTimeout: this.#limits.linkOpenUs / 1000,
    });
    this.#socket = socket;
    socket.on('open', () => this.#greet(socket));
    socket.on('message', (data, isBinary) => {
      const receivedUs = monotonicUs();
      this.#receive(data, isBinary, receivedUs);
    });
    socket.on('error', (error) => this.#complain(error.message));
    socket.on('close', () => this.#lost(socket));
  }

  #greet(socket: WebSocket): void {
    socket.send(JSON.stringify(this.#listener.hello()));
    this.#openTimer = setTimeout(() => {
      this.#complain('the controller did not answer the greeting');
      socket.terminate();
    }, this.#limits.linkOpenUs / 1000);
  }

  #receive(data: RawData, isBinary: boolean, receivedUs: number): void {
    this.#heardUs = receivedUs;
    const message = isBinary ? undefined : parse(data);
    if (message === undefined) {
      this.#logger.warn('the controller sent a message that does not fit the protocol');
      this.#socket?.close(PROTOCOL_ERROR);
    } else if (message.type === 'welcome') {
      this.#welcomed(message);
    } else if (message.type === 'rejected') {
      this.#complained = true;
      this.#listener.rejected(message);
    } else {
      this.#listener.message(message, receivedUs);
    }
  }

  #welcomed(message: Welcome): void {
    clearTimeout(this.#openTimer);
    this.#up = true;
    this.#complained = false;
    this.#backoffUs = this.#limits.reconnectMinUs;
    this.#watchSilence();
    this.#listener.up(message);
  }

  /** A half-open connection says nothing and reports nothing: only silence gives it away. */
  #watchSilence(): void {
    clearInterval(this.#silenceTimer);
    const intervalUs = this.#limits.linkSilenceUs / 4;
    let tickUs = monotonicUs();
    this.#silenceTimer = setInterval(() => {
      const nowUs = monotonicUs();
      // This process itself stood still: what arrived meanwhile has not been read yet.
      if (nowUs - tickUs > 2 * intervalUs) this.#heardUs = nowUs;
      tickUs = nowUs;
      if (nowUs - this.#heardUs < this.#limits.linkSilenceUs) return;
      this.#complain('the controller has been silent for too long');
      this.#socket?.terminate();
    }, intervalUs / 1000);
  }

  #lost(socket: WebSocket): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    clearTimeout(this.#openTimer);
    clearInterval(this.#silenceTimer);
    const wasUp = this.#up;
    this.#up = false;
    if (wasUp) {
      if (!this.#closed) this.#complain('the link was closed');
      this.#listener.down();
    }
    if (this.#closed) return;
    this.#retryTimer = setTimeout(() => this.#dial(), jittered(this.#backoffUs) / 1000);
    this.#backoffUs = Math.min(this.#backoffUs * 2, this.#limits.reconnectMaxUs);
  }

  /** Says once an outage what is wrong, not at every attempt. */
  #complain(reason: string): void {
    if (this.#complained) return;
    this.#complained = true;
    this.#logger.warn(`no link to ${this.#url}: ${reason}; trying again`);
  }
}

/** Agents that lost one controller together must not all return in the same instant. */
function jittered(us: number): number {
  return us * (0.5 + Math.random() / 2);
}

function parse(data: RawData): FromController | undefined {
  try {
    const result = fromController.safeParse(JSON.parse(toText(data)));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8');
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8');
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^wss?:$/.test(new URL(url).protocol)) return url;
  throw new SquallError('SQ_USAGE', `${JSON.stringify(url)} is not the address of a controller`, {
    hint: 'write it as ws://host:port',
  });
}
