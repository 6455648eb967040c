import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { SquallError } from '@squall/core/errors';
import { HookClocks, type SeenClock } from './hook-clocks.ts';
import { BACKLOG, BODY_LIMIT, GOODBYE_MS, REQUEST_MS } from './limits.ts';
import { monotonicUs } from './monotonic.ts';
import { type HookStats, hookStats } from './stats.ts';
import { HookTally } from './tally.ts';
import { answerOwnPage } from './own-pages.ts';

export interface HookOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Of this process, boot id and time namespace: publishers with the same one are timed as they are. */
  readonly clockDomain: string;
  /** What requests are answered with, 200…599; 200 by default. */
  readonly status?: number;
  /** How long each answer is held back; 0 by default. */
  readonly delayUs?: number;
  /** Share of requests that are answered with 503 and not counted, evenly spread; 0 by default. */
  readonly errorShare?: number;
  /** Bytes of a body at most; longer ones are answered with 413. */
  readonly bodyLimit?: number;
  /** The only run whose messages count. */
  readonly run?: string;
}

const REFUSED = 503;
const TOO_LARGE = 413;

/**
 * A web server that stands where a rule engine posts messages to, and says what came: how many requests
 * and messages, which of them twice, which not at all, and how long they took. Its own pages are
 * `GET /stats` (JSON), `/metrics` (Prometheus) and `/healthz`; every POST and PUT is a request.
 */
export class HookReceiver {
  readonly #options: HookOptions;
  readonly #tally: HookTally;
  readonly #clocks: HookClocks;
  readonly #server: Server;
  readonly #bodyLimit: number;
  readonly #speaker = {
    stats: (run?: string) => this.stats(run),
    see: (clocks: readonly SeenClock[]) => this.see(clocks),
    clock: () => ({ domain: this.#clocks.ownHash, nowUs: monotonicUs() }),
  };
  /** Grows by the error share with each request; at 1 one is refused. */
  #error = 0;

  private constructor(options: HookOptions) {
    this.#options = options;
    this.#bodyLimit = options.bodyLimit ?? BODY_LIMIT;
    this.#clocks = new HookClocks(options.clockDomain);
    const only = options.run === undefined ? {} : { run: options.run };
    this.#tally = new HookTally({ clocks: this.#clocks, ...only });
    this.#server = createServer({ requestTimeout: REQUEST_MS }, (request, response) =>
      this.#take(request, response),
    );
  }

  /** @throws SquallError SQ_LISTEN */
  static async open(options: HookOptions): Promise<HookReceiver> {
    const { host, port } = options;
    const receiver = new HookReceiver(options);
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', (cause) => {
        reject(
          new SquallError('SQ_LISTEN', `cannot listen on ${host}:${port}: ${cause.message}`, {
            path: `${host}:${port}`,
            hint: 'choose an address of this machine and a port that nobody has',
            cause,
          }),
        );
      });
      receiver.#server.listen({ port, host, backlog: BACKLOG }, resolve);
    });
    return receiver;
  }

  get port(): number {
    const bound = this.#server.address();
    return bound !== null && typeof bound === 'object' ? bound.port : this.#options.port;
  }

  /** `run`: of this run only. */
  stats(run?: string): HookStats {
    return hookStats(this.#tally, run);
  }

  /** How the clocks of publishers on other hosts relate to this host's, now. */
  see(clocks: readonly SeenClock[]): void {
    this.#clocks.see(clocks, monotonicUs());
  }

  /** Takes no more requests; those under way have two seconds. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeIdleConnections();
    const cutOff = setTimeout(() => this.#server.closeAllConnections(), GOODBYE_MS);
    await closed;
    clearTimeout(cutOff);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'POST' && request.method !== 'PUT') {
      answerOwnPage(request, response, this.#speaker);
      return;
    }
    if (this.#isRefused()) {
      this.#tally.refuse();
      request.resume();
      this.#answer(response, REFUSED);
      return;
    }
    this.#read(request, response);
  }

  /** Spread evenly, so that a share of 1 % is every hundredth. */
  #isRefused(): boolean {
    const { errorShare = 0 } = this.#options;
    this.#error += errorShare;
    // Sums of shares are a hair below the whole number that they mean.
    if (this.#error < 1 - 1e-9) return false;
    this.#error -= 1;
    return true;
  }

  #read(request: IncomingMessage, response: ServerResponse): void {
    let first: Buffer | null = null;
    let more: Buffer[] | null = null;
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > this.#bodyLimit) return;
      if (first === null) first = chunk;
      else (more ??= [first]).push(chunk);
    });
    request.on('end', () => {
      if (bytes > this.#bodyLimit) {
        this.#tally.badBody('too large', bytes);
        this.#answer(response, TOO_LARGE);
        return;
      }
      const body = more === null ? (first ?? NO_BODY) : Buffer.concat(more);
      this.#tally.body(body, monotonicUs());
      this.#answer(response, this.#options.status ?? 200);
    });
    request.on('error', () => this.#tally.badBody('cut off', bytes));
  }

  #answer(response: ServerResponse, status: number): void {
    const { delayUs = 0 } = this.#options;
    if (delayUs === 0) end(response, status);
    else setTimeout(() => end(response, status), delayUs / 1_000);
  }
}

const NO_BODY = Buffer.alloc(0);
const HEADERS = { 'content-length': 0 };
/** Answers that have no body have no length either [RFC 9110, 8.6]. */
const BARE = new Set([204, 304]);

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, BARE.has(status) ? undefined : HEADERS);
  response.end();
}
