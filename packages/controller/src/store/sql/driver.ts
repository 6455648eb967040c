import {
  DatabaseSync,
  type DatabaseSyncInstance,
  type StatementSyncInstance,
} from '@photostructure/sqlite';
import type { SqliteDatabase, SqliteStatement } from 'kysely';

/** Prepared statements that are kept; the store asks about fifty different things. */
const MAX_STATEMENTS = 128;

/**
 * The embedded database. The package has the interface of `node:sqlite`, which takes its place, here
 * and nowhere else, as soon as every Node.js that we run on has it.
 */
export class Driver {
  readonly #database: DatabaseSyncInstance;
  readonly #statements = new Map<string, SqliteStatement>();

  /** Waits `lockWaitMs` for a file that someone else has. */
  constructor(file: string, lockWaitMs: number) {
    this.#database = new DatabaseSync(file, { timeout: lockWaitMs });
  }

  exec(statements: string): void {
    this.#database.exec(statements);
  }

  /** The first value of the first row. */
  value(query: string): unknown {
    const [row]: unknown[] = this.#database.prepare(query).all();
    return typeof row === 'object' && row !== null ? Object.values(row)[0] : undefined;
  }

  /**
   * Lets the file go. The connection itself lives on until the collector has taken the last of its
   * statements, so the lock is given back first; it is a part of the log [sqlite.org/wal.html, 8].
   */
  close(): void {
    try {
      this.exec('pragma busy_timeout = 0');
      this.exec('pragma journal_mode = DELETE; pragma locking_mode = NORMAL');
      this.value('select count(*) from sqlite_master');
    } catch {
      // A file that cannot be written, or was never ours, is not held either.
    }
    this.#statements.clear();
    this.#database.close();
  }

  /** As the query builder wants it. */
  forKysely(): SqliteDatabase {
    return { close: () => this.close(), prepare: (query) => this.#prepared(query) };
  }

  #prepared(query: string): SqliteStatement {
    const known = this.#statements.get(query);
    if (known !== undefined) return known;
    const statement = asKyselyTakesIt(this.#database.prepare(query));
    const [oldest] = this.#statements.keys();
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.delete(oldest ?? '');
    this.#statements.set(query, statement);
    return statement;
  }
}

function asKyselyTakesIt(statement: StatementSyncInstance): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (values) => statement.all(...values),
    run: (values) => statement.run(...values),
    iterate: (values) => statement.iterate(...values),
  };
}
