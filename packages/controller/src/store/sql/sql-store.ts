import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Kysely, Transaction } from 'kysely';
import type {
  Checkpoint,
  IdempotencyKey,
  KeyUse,
  NewRun,
  Page,
  PlanRecord,
  PlanSummary,
  PurgeLimits,
  RunChange,
  RunEnd,
  RunQuery,
  RunRecord,
  Store,
  StoredPage,
  TimelineChunk,
} from '../store.ts';
import type { Driver } from './driver.ts';
import { openDatabase, type OpenedDatabase } from './open.ts';
import { bytesOf, planOf, summaryOf } from './rows.ts';
import {
  changeRun,
  endRun,
  insertRun,
  removeRun,
  selectKeyUse,
  selectRun,
  selectRuns,
} from './run-tables.ts';
import type { Tables } from './schema.ts';
import { storeError } from './store-error.ts';

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Runs that one transaction of a purge deletes: others are let in between. */
const PURGE_BATCH = 20;
/** Free pages given back to the disk after each of them. */
const VACUUM_PAGES = 2_000;

/**
 * Opens the embedded store, one SQLite file, for this process alone.
 * @throws SquallError SQ_STORE: locked by another controller, read-only, damaged, newer, no store.
 */
export async function openStore(file: string): Promise<Store> {
  return new SqlStore(await openDatabase(file), file);
}

/** The store over SQL. Everything that belongs together is one transaction. */
class SqlStore implements Store {
  readonly #driver: Driver;
  readonly #db: Kysely<Tables>;
  readonly #file: string;

  constructor({ driver, db }: OpenedDatabase, file: string) {
    this.#driver = driver;
    this.#db = db;
    this.#file = file;
  }

  putPlan(record: PlanRecord): Promise<{ plan: PlanRecord; created: boolean }> {
    return this.#atOnce(async (db) => {
      const row = await db
        .selectFrom('plans')
        .selectAll()
        .where('hash', '=', record.hash)
        .executeTakeFirst();
      if (row !== undefined) return { plan: planOf(row), created: false };
      const { id, hash, name, format, text, plan, createdMs } = record;
      await db
        .insertInto('plans')
        .values({ id, hash, name, format, text, json: JSON.stringify(plan), created_ms: createdMs })
        .execute();
      return { plan: record, created: true };
    });
  }

  plan(id: string): Promise<PlanRecord | null> {
    return this.#do(async (db) => {
      const row = await db.selectFrom('plans').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : planOf(row);
    });
  }

  plans({ limit, after }: Page): Promise<PlanSummary[]> {
    return this.#do(async (db) => {
      let rows = db
        .selectFrom('plans')
        .select(['id', 'hash', 'name', 'format', 'created_ms'])
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc')
        .limit(limit);
      if (after !== undefined) {
        const last = await db
          .selectFrom('plans')
          .select('created_ms')
          .where('id', '=', after)
          .executeTakeFirst();
        const beforeMs = last?.created_ms ?? 0;
        rows = rows.where((eb) =>
          eb.or([
            eb('created_ms', '<', beforeMs),
            eb.and([eb('created_ms', '=', beforeMs), eb('id', '<', after)]),
          ]),
        );
      }
      return (await rows.execute()).map(summaryOf);
    });
  }

  createRun(run: NewRun, key?: IdempotencyKey): Promise<KeyUse | null> {
    return this.#atOnce(async (db) => {
      if (key !== undefined) {
        const used = await selectKeyUse(db, key.key);
        if (used !== null) return used;
        const row = { key: key.key, request: key.request, run: run.id, used_ms: run.submittedMs };
        await db.insertInto('idempotency').values(row).execute();
      }
      await insertRun(db, run);
      return null;
    });
  }

  keyUse(key: string): Promise<KeyUse | null> {
    return this.#do((db) => selectKeyUse(db, key));
  }

  run(id: string): Promise<RunRecord | null> {
    return this.#do((db) => selectRun(db, id));
  }

  runs(query: RunQuery): Promise<RunRecord[]> {
    return this.#do((db) => selectRuns(db, query));
  }

  updateRun(id: string, change: RunChange): Promise<RunRecord | null> {
    return this.#atOnce(async (db) => {
      await changeRun(db, id, change);
      return selectRun(db, id);
    });
  }

  async finishRun(id: string, end: RunEnd): Promise<RunRecord | null> {
    const deflated = end.report === null ? null : await deflate(end.report);
    return this.#atOnce(async (db) => {
      await endRun(db, id, end);
      const run = await selectRun(db, id);
      if (run === null) return null;
      if (deflated !== null) {
        await db.insertInto('reports').orReplace().values({ run: id, deflated }).execute();
      }
      await dropCheckpoint(db, id);
      await db.deleteFrom('ledger_pages').where('run', '=', id).execute();
      return { ...run, hasReport: run.hasReport || deflated !== null };
    });
  }

  deleteRun(id: string): Promise<boolean> {
    return this.#atOnce((db) => removeRun(db, id));
  }

  report(id: string): Promise<string | null> {
    return this.#do(async (db) => {
      const row = await db
        .selectFrom('reports')
        .select('deflated')
        .where('run', '=', id)
        .executeTakeFirst();
      return row === undefined ? null : (await inflate(bytesOf(row.deflated))).toString('utf8');
    });
  }

  putTimeline(run: string, chunks: readonly TimelineChunk[]): Promise<void> {
    return this.#atOnce((db) => writeChunks(db, run, chunks));
  }

  timeline(run: string, from: number, to: number): Promise<TimelineChunk[]> {
    return this.#do(async (db) => {
      const rows = await db
        .selectFrom('timeline')
        .select(['chunk', 'bytes'])
        .where('run', '=', run)
        .where('chunk', '>=', from)
        .where('chunk', '<=', to)
        .orderBy('chunk')
        .execute();
      return rows.map(({ chunk, bytes }) => ({ index: chunk, bytes: bytesOf(bytes) }));
    });
  }

  saveCheckpoint(run: string, checkpoint: Checkpoint): Promise<void> {
    const { savedMs, state, agents, chunks = [], pages = [] } = checkpoint;
    return this.#atOnce(async (db) => {
      await dropCheckpoint(db, run);
      await db.insertInto('checkpoints').values({ run, saved_ms: savedMs, state }).execute();
      const positions = agents.map((position) => ({ run, ...position }));
      if (positions.length > 0) {
        await db.insertInto('checkpoint_agents').values(positions).execute();
      }
      await writeChunks(db, run, chunks);
      await writePages(db, run, pages);
    });
  }

  checkpoint(run: string): Promise<Checkpoint | null> {
    return this.#atOnce(async (db) => {
      const row = await db
        .selectFrom('checkpoints')
        .selectAll()
        .where('run', '=', run)
        .executeTakeFirst();
      if (row === undefined) return null;
      const agents = await db
        .selectFrom('checkpoint_agents')
        .select(['agent', 'epoch', 'seq'])
        .where('run', '=', run)
        .orderBy('agent')
        .execute();
      const pages = await readPages(db, run);
      return { savedMs: row.saved_ms, state: bytesOf(row.state), agents, pages };
    });
  }

  async purge({ runsEndedBeforeMs, keysBeforeMs }: PurgeLimits): Promise<number> {
    await this.#do((db) =>
      db.deleteFrom('idempotency').where('used_ms', '<', keysBeforeMs).execute(),
    );
    if (runsEndedBeforeMs === null) return 0;
    let purged = 0;
    for (;;) {
      const batch = await this.#atOnce((db) => purgeSome(db, runsEndedBeforeMs));
      await this.#do(async () => this.#driver.exec(`pragma incremental_vacuum(${VACUUM_PAGES})`));
      purged += batch;
      if (batch < PURGE_BATCH) break;
    }
    await this.#do((db) => purgePlans(db, runsEndedBeforeMs));
    return purged;
  }

  probe(): Promise<void> {
    return this.#atOnce(async (db) => {
      await db
        .updateTable('store_version')
        .set((eb) => ({ version: eb.ref('version') }))
        .execute();
    });
  }

  close(): Promise<void> {
    return this.#db.destroy();
  }

  async #do<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
    try {
      return await work(this.#db);
    } catch (error) {
      throw storeError(error, this.#file);
    }
  }

  #atOnce<T>(work: (db: Transaction<Tables>) => Promise<T>): Promise<T> {
    return this.#do((db) => db.transaction().execute(work));
  }
}

async function writeChunks(
  db: Transaction<Tables>,
  run: string,
  chunks: readonly TimelineChunk[],
): Promise<void> {
  for (const { index, bytes } of chunks) {
    await db.insertInto('timeline').orReplace().values({ run, chunk: index, bytes }).execute();
  }
}

async function writePages(
  db: Transaction<Tables>,
  run: string,
  pages: readonly StoredPage[],
): Promise<void> {
  for (const page of pages) {
    await db
      .insertInto('ledger_pages')
      .orReplace()
      .values({ run, ...page })
      .execute();
  }
}

async function readPages(db: Transaction<Tables>, run: string): Promise<StoredPage[]> {
  const rows = await db
    .selectFrom('ledger_pages')
    .select(['agent', 'worker', 'page', 'bytes'])
    .where('run', '=', run)
    .execute();
  return rows.map(({ bytes, ...page }) => ({ ...page, bytes: bytesOf(bytes) }));
}

/** All but the pages of the ledger, which stay until the run is over. */
async function dropCheckpoint(db: Transaction<Tables>, run: string): Promise<void> {
  await db.deleteFrom('checkpoints').where('run', '=', run).execute();
  await db.deleteFrom('checkpoint_agents').where('run', '=', run).execute();
}

async function purgeSome(db: Transaction<Tables>, endedBeforeMs: number): Promise<number> {
  const old = await db
    .selectFrom('runs')
    .select('id')
    .where('ended_ms', '<', endedBeforeMs)
    .limit(PURGE_BATCH)
    .execute();
  for (const { id } of old) await removeRun(db, id);
  return old.length;
}

/** A plan goes with the last run of it. */
async function purgePlans(db: Kysely<Tables>, createdBeforeMs: number): Promise<void> {
  await db
    .deleteFrom('plans')
    .where('created_ms', '<', createdBeforeMs)
    .where((eb) =>
      eb.not(
        eb.exists(eb.selectFrom('runs').select('runs.id').whereRef('runs.plan', '=', 'plans.id')),
      ),
    )
    .execute();
}
