import postgres from 'postgres';
import { type Probe, ProbeError, type Reading } from '../probe.ts';
import { onlyNumber } from './number.ts';
import { type SqlProbeOptions, sqlError } from './options.ts';

const TIMEOUT_S = 10;

/** One number of PostgreSQL, over one connection of its own in a session that cannot write. */
export class PostgresProbe implements Probe {
  readonly #options: SqlProbeOptions;
  #sql: postgres.Sql | null = null;

  constructor(options: SqlProbeOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const cut = () => this.#drop();
    signal.addEventListener('abort', cut, { once: true });
    try {
      const sql = (this.#sql ??= client(this.#options.url));
      return onlyNumber(await sql.unsafe(this.#options.query).values());
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

  #drop(): void {
    const sql = this.#sql;
    this.#sql = null;
    // The server may be gone: nobody waits for its good-bye.
    void sql?.end({ timeout: 0 }).catch(() => undefined);
  }
}

function client(url: string): postgres.Sql {
  return postgres(url, {
    max: 1,
    connect_timeout: TIMEOUT_S,
    onnotice: () => undefined,
    connection: { application_name: 'squall', default_transaction_read_only: true },
  });
}
