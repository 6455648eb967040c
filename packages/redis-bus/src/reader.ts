import type { BusNotice } from '@squall/core/bus';
import type { RedisAddress } from './address.ts';
import { Connection } from './connection.ts';
import type { RedisLimits } from './limits.ts';
import { Pause } from './pause.ts';
import type { AgentStream, RawEntry } from './stream.ts';

export interface ReaderOptions {
  readonly address: RedisAddress;
  readonly limits: RedisLimits;
  readonly streams: ReadonlyMap<string, AgentStream>;
  frame(agent: string, bytes: Uint8Array): void;
  notice(notice: BusNotice): void;
}

/**
 * Reads the streams of one run as they grow, over a connection of its own, until it is closed. A
 * server that is away is dialled again for as long as that takes; what was read stays read.
 */
export class Reader {
  readonly #options: ReaderOptions;
  readonly #pause = new Pause();
  readonly #over: Promise<void>;
  #connection: Connection | null = null;
  #interruptedAtMs: number | null = null;
  #closed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#over = this.#run();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#connection?.close();
    this.#pause.end();
    await this.#over;
  }

  async #run(): Promise<void> {
    const { limits } = this.#options;
    let backoffMs = limits.retryMinMs;
    while (!this.#closed) {
      try {
        await this.#dial();
        while (!this.#closed) {
          await this.#read();
          backoffMs = limits.retryMinMs;
        }
      } catch (error) {
        this.#connection?.close();
        this.#interrupted(error);
        await this.#pause.for(backoffMs);
        backoffMs = Math.min(2 * backoffMs, limits.retryMaxMs);
      }
    }
  }

  async #dial(): Promise<void> {
    const { address, limits } = this.#options;
    this.#connection = await Connection.dial({ address, limits, name: 'squall-controller-reader' });
    if (this.#closed) this.#connection.close();
  }

  async #read(): Promise<void> {
    const { limits, streams } = this.#options;
    const list = [...streams.values()];
    const keys = list.map(({ key }) => key);
    const ids = list.map(({ row }) => row.readId);
    const replies = await this.#connection?.ask(
      (client) =>
        client.xreadBuffer(
          'COUNT',
          limits.readFrames,
          'BLOCK',
          limits.blockMs,
          'STREAMS',
          ...keys,
          ...ids,
        ),
      limits.blockMs,
    );
    this.#resumed();
    for (const [key, entries] of repliesOf(replies)) {
      const stream = list[keys.indexOf(key.toString())];
      if (stream === undefined) continue;
      for (const entry of entries) {
        if (this.#closed) return;
        this.#take(stream, entry);
      }
    }
  }

  #take(stream: AgentStream, entry: RawEntry): void {
    const taken = stream.take(entry);
    if (taken === null) return;
    const { agent } = stream;
    if (taken.hole !== null) this.#options.notice({ kind: 'gap', agent, ...taken.hole });
    this.#options.frame(agent, taken.bytes);
  }

  #interrupted(error: unknown): void {
    if (this.#closed || this.#interruptedAtMs !== null) return;
    this.#interruptedAtMs = performance.now();
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.notice({ kind: 'interrupted', reason });
  }

  #resumed(): void {
    if (this.#interruptedAtMs === null) return;
    const afterUs = Math.round((performance.now() - this.#interruptedAtMs) * 1000);
    this.#interruptedAtMs = null;
    this.#options.notice({ kind: 'resumed', afterUs });
  }
}

type Reply = readonly [key: Buffer, entries: readonly RawEntry[]];

/** The library leaves the shape of this answer open. */
function repliesOf(answer: unknown): readonly Reply[] {
  return Array.isArray(answer) ? answer.filter(isReply) : [];
}

function isReply(value: unknown): value is Reply {
  return (
    Array.isArray(value) &&
    Buffer.isBuffer(value[0]) &&
    Array.isArray(value[1]) &&
    value[1].every(
      (entry) => Array.isArray(entry) && Buffer.isBuffer(entry[0]) && Array.isArray(entry[1]),
    )
  );
}
