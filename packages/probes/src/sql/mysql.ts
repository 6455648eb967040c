import { type Connection, createConnection } from 'mysql2/promise';
import { type Probe, ProbeError, type Reading } from '../probe.ts';
import { onlyNumber } from './number.ts';
import { type SqlProbeOptions, sqlError } from './options.ts';

const TIMEOUT_MS = 10_000;

/** One number of MySQL or MariaDB, over one connection of its own in a session that cannot write. */
export class MysqlProbe implements Probe {
  readonly #options: SqlProbeOptions;
  #connection: Connection | null = null;

  constructor(options: SqlProbeOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const cut = () => this.#drop();
    signal.addEventListener('abort', cut, { once: true });
    try {
      const connection = (this.#connection ??= await connected(this.#options.url));
      if (signal.aborted) this.#drop();
      const [rows] = await connection.query({ sql: this.#options.query, rowsAsArray: true });
      if (!Array.isArray(rows)) throw new ProbeError('not one number');
      return onlyNumber(rows.map((row) => (Array.isArray(row) ? row : [row])));
    } catch (error) {
      this.#drop();
      throw signal.aborted ? new ProbeError('timed out') : sqlError(error);
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }

  async close(): Promise<void> {
    this.#drop();
  }

  /** A query that took too long holds its connection: another one is opened for the next. */
  #drop(): void {
    this.#connection?.destroy();
    this.#connection = null;
  }
}

async function connected(address: string): Promise<Connection> {
  const url = new URL(address);
  const connection = await createConnection({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? 3306 : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
    connectTimeout: TIMEOUT_MS,
    multipleStatements: false,
    ...(url.searchParams.get('tls') === 'true' ? { ssl: {} } : {}),
  });
  // It is only asked when it is used; what breaks in between is told by the next query.
  connection.on('error', () => undefined);
  await connection.query('SET SESSION TRANSACTION READ ONLY');
  return connection;
}
