import postgres from 'postgres';
import type { Probe, Reading } from '../probe.ts';
import { onlyNumber } from './number.ts';
import { boundedQuery, calledOff, type SqlProbeOptions, sqlError } from './options.ts';

const TIMEOUT_S = 10;

/** One number of PostgreSQL, over one connection of its own in a session that cannot write. */
export class PostgresProbe implements Probe {
  readonly #options: SqlProbeOptions;
  #sql: postgres.Sql | null = null;

  constructor(options: SqlProbeOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const sql = (this.#sql ??= client(this.#options.url));
    // With an argument it goes by the extended protocol, which takes one statement only.
    const query = sql.unsafe(`${boundedQuery(this.#options)} OFFSET $1`, [0]);
    try {
      return onlyNumber(await Promise.race([query.values(), calledOff(signal)]));
    } catch (error) {
      // The server would go on counting for nobody.
      if (signal.aborted) query.cancel();
      this.#drop();
      throw sqlError(error);
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
