import type { Redis, RedisOptions } from 'ioredis';
import type { RedisAddress } from './address.ts';
import { busFailure } from './failure.ts';
import type { RedisLimits } from './limits.ts';

export interface DialOptions {
  readonly address: RedisAddress;
  /** Shown by `CLIENT LIST`. */
  readonly name: string;
  readonly limits: RedisLimits;
}

/**
 * One connection to a Redis server, from the dial to its end. It is never reconnected or given the
 * same command twice behind the caller's back: what a lost connection left undone only the owner of
 * the frames can tell. A command without an answer ends the connection.
 */
export class Connection {
  readonly address: RedisAddress;
  readonly #client: Redis;
  readonly #limits: RedisLimits;
  #closed = false;
  #leaving = false;
  #broken: unknown = null;

  /** @throws SquallError SQ_BUS, with what is wrong and what can be done. */
  static async dial(options: DialOptions): Promise<Connection> {
    // Loaded where it is used: agents on the link bus never need it.
    const { Redis: Client } = await import('ioredis');
    const connection = new Connection(new Client(clientOptions(options)), options);
    await connection.#connect();
    return connection;
  }

  private constructor(client: Redis, options: DialOptions) {
    this.#client = client;
    this.address = options.address;
    this.#limits = options.limits;
    // Without a listener the library prints errors, command and arguments included.
    client.on('error', (error) => {
      this.#broken ??= error;
    });
    client.on('end', () => {
      this.#closed = true;
    });
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  /**
   * Gives the server one command, or a row of them in one go.
   * @param patienceMs beyond the usual time for an answer, for commands that wait by themselves.
   * @throws SquallError SQ_BUS. A server that refused leaves the connection as it is; no answer ends it.
   */
  async ask<T>(command: (client: Redis) => Promise<T>, patienceMs = 0): Promise<T> {
    if (this.#closed) throw busFailure(this.address, this.#broken ?? 'the connection is closed');
    try {
      return await this.#inTime(command(this.#client), this.#limits.answerMs + patienceMs);
    } catch (error) {
      throw busFailure(this.address, error);
    }
  }

  /** Ends it at once. What is under way is rejected. */
  close(): void {
    this.#closed = true;
    if (this.#leaving) return;
    this.#leaving = true;
    this.#client.disconnect();
  }

  async #connect(): Promise<void> {
    try {
      await this.#inTime(this.#client.connect(), this.#limits.connectMs);
    } catch (error) {
      this.close();
      // The library's own rejection only says that the connection is closed.
      throw busFailure(this.address, this.#broken ?? error);
    }
  }

  async #inTime<T>(answer: Promise<T>, limitMs: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`no answer within ${limitMs / 1000} s`));
        this.close();
      }, limitMs);
    });
    // The loser of the race is rejected with the connection's end, and nobody waits for it.
    answer.catch(() => undefined);
    try {
      return await Promise.race([answer, tooLong]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function clientOptions({ address, limits, name }: DialOptions) {
  const { db, host, password, port, tls, username } = address;
  return {
    host,
    port,
    db,
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectionName: name.replaceAll(/[^!-~]/g, '_'),
    lazyConnect: true,
    connectTimeout: limits.connectMs,
    // One connection is one server process: the next one is dialled by the owner, knowingly.
    retryStrategy: null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: null,
    // A server that is loading says so by itself, and INFO may be forbidden.
    enableReadyCheck: false,
    disableClientInfo: true,
    disconnectTimeout: 100,
  } satisfies RedisOptions;
}
