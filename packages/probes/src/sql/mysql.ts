import { type Connection, createConnection } from 'mysql2/promise';
import { type Probe, ProbeError, type Reading } from '../probe.ts';
import { onlyNumber } from './number.ts';
import { boundedQuery, calledOff, type SqlProbeOptions, sqlError } from './options.ts';

const TIMEOUT_MS = 10_000;

/** One number of MySQL or MariaDB, over one connection of its own in a session that cannot write. */
export class MysqlProbe implements Probe {
  readonly #options: SqlProbeOptions;
  #connection: Connection | null = null;

  constructor(options: SqlProbeOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    try {
      return await Promise.race([this.#read(), calledOff(signal)]);
    } catch (error) {
      if (signal.aborted) void this.#endQuery();
      this.#drop();
      throw sqlError(error);
    }
  }

  async close(): Promise<void> {
    this.#drop();
  }

  async #read(): Promise<Reading> {
    const connection = (this.#connection ??= await connected(this.#options.url));
    const sql = boundedQuery(this.#options);
    const [rows] = await connection.query({ sql, rowsAsArray: true });
    if (!Array.isArray(rows)) throw new ProbeError('not one number');
    return onlyNumber(rows.map((row) => (Array.isArray(row) ? row : [row])));
  }

  /** The server would go on counting for nobody, and the next query would do the same beside it. */
  async #endQuery(): Promise<void> {
    const id = this.#connection?.threadId;
    if (id === undefined) return;
    try {
      const other = await connected(this.#options.url);
      await other.query(`KILL QUERY ${id}`).catch(() => undefined);
      other.destroy();
    } catch {
      // A server that cannot be reached ends it by itself.
    }
  }

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
