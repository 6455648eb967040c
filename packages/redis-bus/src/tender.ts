import type { BusNotice } from '@squall/core/bus';
import type { RedisAddress } from './address.ts';
import { Connection } from './connection.ts';
import type { RedisLimits } from './limits.ts';
import { Pause } from './pause.ts';
import { lookAt, warningsOf } from './server-state.ts';
import type { AgentStream } from './stream.ts';

export interface TenderOptions {
  readonly address: RedisAddress;
  readonly limits: RedisLimits;
  readonly streams: ReadonlyMap<string, AgentStream>;
  /** The server process that the run began on. */
  readonly runId: string | null;
  notice(notice: BusNotice): void;
  /** An agent's row has a hole still: what belongs there is to be sent again. */
  ask(stream: AgentStream): void;
}

/**
 * Keeps the streams of one run in order: trims what the checkpoint covers, looks again at rows with a
 * hole, watches length and memory, and deletes all when the run is over.
 */
export class Tender {
  readonly #options: TenderOptions;
  readonly #pause = new Pause();
  readonly #told = new Set<string>();
  readonly #over: Promise<void>;
  #connection: Connection | null = null;
  #runId: string | null;
  #checkedAtMs = performance.now();
  #closed = false;

  constructor(options: TenderOptions) {
    this.#options = options;
    this.#runId = options.runId;
    this.#over = this.#run();
  }

  async stop(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    await this.#over;
  }

  hangUp(): void {
    this.#connection?.close();
  }

  /** Deletes the streams, as far as the server can be reached; what stays goes with its TTL. */
  async clear(): Promise<void> {
    const { limits, streams } = this.#options;
    const keys = [...streams.values()].map(({ key }) => key);
    const deadlineMs = performance.now() + limits.deleteMs;
    const timer = setTimeout(() => this.hangUp(), limits.deleteMs);
    while (performance.now() < deadlineMs) {
      try {
        const connection = await this.#connected();
        await connection.ask((client) => client.unlink(...keys));
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, limits.retryMinMs));
      }
    }
    clearTimeout(timer);
    this.hangUp();
  }

  async #run(): Promise<void> {
    const { limits } = this.#options;
    while (!this.#closed) {
      await this.#pause.for(limits.tendMs);
      if (this.#closed) return;
      this.#askForHoles();
      try {
        await this.#trim();
        if (performance.now() - this.#checkedAtMs >= limits.checkMs) await this.#check();
      } catch (error) {
        // A server that is away is the reader's to tell; one that answers and refuses is told here.
        if (this.#connection?.isOpen === true && error instanceof Error) {
          this.#warn(`its streams cannot be kept in order: ${error.message}`);
        }
      }
    }
  }

  #askForHoles(): void {
    for (const stream of this.#options.streams.values()) {
      if (!stream.row.hasHole) continue;
      stream.row.rewind();
      this.#options.ask(stream);
    }
  }

  async #trim(): Promise<void> {
    const due = [...this.#options.streams.values()].flatMap((stream) => {
      const minId = stream.trimId();
      return minId === null ? [] : [{ stream, minId }];
    });
    if (due.length === 0) return;
    const connection = await this.#connected();
    await connection.ask((client) =>
      Promise.all(due.map(({ stream, minId }) => client.xtrim(stream.key, 'MINID', minId))),
    );
    for (const { stream } of due) stream.trimmed();
  }

  async #check(): Promise<void> {
    const { limits, streams } = this.#options;
    this.#checkedAtMs = performance.now();
    const connection = await this.#connected();
    const state = await lookAt(connection);
    if (this.#runId !== null && state.runId !== null && state.runId !== this.#runId) {
      this.#options.notice({ kind: 'restarted' });
    }
    this.#runId = state.runId ?? this.#runId;
    for (const warning of warningsOf(state, limits)) this.#warn(warning);
    const list = [...streams.values()];
    const lengths = await connection.ask((client) =>
      Promise.all(list.map(({ key }) => client.xlen(key))),
    );
    for (const [at, stream] of list.entries()) {
      const entries = lengths[at] ?? 0;
      if (stream.alarmed || entries <= limits.alarmEntries) continue;
      stream.alarmed = true;
      this.#options.notice({ kind: 'long', agent: stream.agent, entries });
    }
  }

  /** Each warning once. Figures in it change, so it is known by its words. */
  #warn(reason: string): void {
    const words = reason.replaceAll(/\d+/g, '');
    if (this.#told.has(words)) return;
    this.#told.add(words);
    this.#options.notice({ kind: 'memory', reason });
  }

  async #connected(): Promise<Connection> {
    if (this.#connection?.isOpen === true) return this.#connection;
    const { address, limits } = this.#options;
    this.#connection = await Connection.dial({ address, limits, name: 'squall-controller' });
    return this.#connection;
  }
}
