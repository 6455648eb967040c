import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { SquallError } from '@squall/core/errors';
import { Kysely, SqliteDialect, sql } from 'kysely';
import { Driver } from './driver.ts';
import { MIGRATIONS } from './migrations.ts';
import type { Tables } from './schema.ts';
import { RESULT, refusal, storeError } from './store-error.ts';

/** A controller that is being replaced may take this long to let its store go. */
const LOCK_WAIT_MS = 2_000;
/** "SQLL": tells our files from those of other programs [sqlite.org/pragma.html#pragma_application_id]. */
const APPLICATION_ID = 0x53514c4c;
/** Checking a larger file would hold up the start for too long. */
const MAX_CHECKED_BYTES = 1024 * 1024 * 1024;

export interface OpenedDatabase {
  readonly driver: Driver;
  readonly db: Kysely<Tables>;
}

/**
 * Opens the file (makes it where there is none), takes it for this process alone until it is closed,
 * and brings it into its newest form.
 * @throws SquallError SQ_STORE: locked by another controller, read-only, damaged, newer, no store.
 */
export async function openDatabase(file: string): Promise<OpenedDatabase> {
  const checked = await checkFile(file);
  let driver: Driver | null = null;
  try {
    driver = new Driver(file, LOCK_WAIT_MS);
    takeAlone(driver, file);
    if (checked) checkPages(driver, file);
    const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: driver.forKysely() }) });
    await migrate(db, file);
    return { driver, db };
  } catch (error) {
    driver?.close();
    throw storeError(error, file);
  }
}

/** What SQLite tells badly is found out before. @returns whether the pages are to be checked. */
async function checkFile(file: string): Promise<boolean> {
  const folder = path.dirname(path.resolve(file));
  try {
    // SQLite keeps its log beside the file, so the folder must be open to it, too.
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    throw refusal(missing ? RESULT.cannotOpen : RESULT.readOnly, file, cause);
  }
  const found = await stat(file).catch(() => null);
  if (found === null) return false;
  if (!found.isFile()) throw refusal(RESULT.notOurs, file);
  try {
    await access(file, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw refusal(RESULT.readOnly, file, cause);
  }
  return found.size > 0 && found.size <= MAX_CHECKED_BYTES;
}

/**
 * The lock is the kernel's, so it goes with the process, however that ends. `FULL`: what was
 * acknowledged to an agent survives the power, too.
 */
function takeAlone(driver: Driver, file: string): void {
  driver.exec('pragma locking_mode = EXCLUSIVE');
  // Only a file without pages takes this, and the next line writes its first one.
  driver.exec('pragma auto_vacuum = INCREMENTAL');
  driver.exec('begin exclusive; commit');
  const id = driver.value('pragma application_id');
  if (id !== APPLICATION_ID) {
    const made = driver.value('select count(*) from sqlite_master');
    if (id !== 0 || made !== 0) throw refusal(RESULT.notOurs, file);
    driver.exec(`pragma application_id = ${APPLICATION_ID}`);
  }
  driver.exec('pragma journal_mode = WAL; pragma synchronous = FULL');
}

function checkPages(driver: Driver, file: string): void {
  const found = driver.value('pragma quick_check(1)');
  if (found !== 'ok') throw refusal(RESULT.damaged, file, new Error(String(found)));
}

async function migrate(db: Kysely<Tables>, file: string): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    await sql`create table if not exists store_version (version integer not null)`.execute(
      transaction,
    );
    const known = await transaction.selectFrom('store_version').select('version').execute();
    const version = known[0]?.version ?? 0;
    if (version > MIGRATIONS.length) {
      throw new SquallError('SQ_STORE', 'the store was made by a newer version of Squall', {
        path: file,
        hint: `use that version, or another file; this one knows version ${MIGRATIONS.length}, the store has ${version}`,
      });
    }
    for (const step of MIGRATIONS.slice(version)) await step(transaction);
    await transaction.deleteFrom('store_version').execute();
    await transaction.insertInto('store_version').values({ version: MIGRATIONS.length }).execute();
  });
}
