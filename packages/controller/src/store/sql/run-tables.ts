import type { ExpressionBuilder, Kysely, Transaction } from 'kysely';
import type { KeyUse, NewRun, RunChange, RunEnd, RunQuery, RunRecord } from '../store.ts';
import { newRunRow, runOf } from './rows.ts';
import type { Tables } from './schema.ts';

/** The statements about runs. Each takes the connection (or the transaction) that it is a part of. */
type Db = Kysely<Tables>;

export async function insertRun(db: Transaction<Tables>, run: NewRun): Promise<void> {
  await db.insertInto('runs').values(newRunRow(run)).execute();
  await insertLabels(db, run.id, run.labels);
}

export async function selectRun(db: Db, id: string): Promise<RunRecord | null> {
  const row = await runRows(db).where('runs.id', '=', id).executeTakeFirst();
  return row === undefined ? null : runOf(row);
}

export async function selectRuns(db: Db, query: RunQuery): Promise<RunRecord[]> {
  let rows = runRows(db).orderBy('runs.id', 'desc').limit(query.limit);
  if (query.after !== undefined) rows = rows.where('runs.id', '<', query.after);
  if (query.plan !== undefined) rows = rows.where('runs.plan', '=', query.plan);
  if (query.name !== undefined) rows = rows.where('runs.name', '=', query.name);
  if (query.verdict !== undefined) rows = rows.where('runs.verdict', '=', query.verdict);
  if (query.state === 'done') rows = rows.where('runs.state', '=', 'done');
  if (query.state === 'active') rows = rows.where('runs.state', '!=', 'done');
  for (const [key, value] of Object.entries(query.labels ?? {})) {
    rows = rows.where((eb) => eb.exists(labelled(eb, key, value)));
  }
  return (await rows.execute()).map(runOf);
}

function labelled(eb: ExpressionBuilder<Tables, 'runs'>, key: string, value: string) {
  return eb
    .selectFrom('run_labels')
    .select('run_labels.run')
    .whereRef('run_labels.run', '=', 'runs.id')
    .where('run_labels.key', '=', key)
    .where('run_labels.value', '=', value);
}

function runRows(db: Db) {
  return db
    .selectFrom('runs')
    .leftJoin('reports', 'reports.run', 'runs.id')
    .selectAll('runs')
    .select((eb) =>
      eb.case().when('reports.run', 'is not', null).then(1).else(0).end().as('has_report'),
    );
}

export async function changeRun(
  db: Transaction<Tables>,
  id: string,
  change: RunChange,
): Promise<void> {
  const { state, startedMs, stage, labels, notes } = change;
  await db
    .updateTable('runs')
    .set((eb) => ({
      revision: eb('revision', '+', 1),
      ...(state === undefined ? {} : { state }),
      ...(startedMs === undefined ? {} : { started_ms: startedMs }),
      ...(stage === undefined ? {} : { stage }),
      ...(notes === undefined ? {} : { notes }),
      ...(labels === undefined ? {} : { labels_json: JSON.stringify(labels) }),
    }))
    .where('id', '=', id)
    .execute();
  if (labels === undefined) return;
  await db.deleteFrom('run_labels').where('run', '=', id).execute();
  await insertLabels(db, id, labels);
}

export async function endRun(db: Transaction<Tables>, id: string, end: RunEnd): Promise<void> {
  await db
    .updateTable('runs')
    .set((eb) => ({
      revision: eb('revision', '+', 1),
      state: 'done',
      ended_ms: end.endedMs,
      stage: null,
      verdict: end.verdict,
      validity: end.validity,
      exit_code: end.exitCode,
      reasons_json: JSON.stringify(end.reasons),
    }))
    .where('id', '=', id)
    .execute();
}

/** The run and everything that belongs to it. Its idempotency key stays used. */
export async function removeRun(db: Transaction<Tables>, id: string): Promise<boolean> {
  await db.deleteFrom('run_labels').where('run', '=', id).execute();
  await db.deleteFrom('reports').where('run', '=', id).execute();
  await db.deleteFrom('timeline').where('run', '=', id).execute();
  await db.deleteFrom('checkpoints').where('run', '=', id).execute();
  await db.deleteFrom('checkpoint_agents').where('run', '=', id).execute();
  await db.deleteFrom('ledger_pages').where('run', '=', id).execute();
  const { numDeletedRows } = await db
    .deleteFrom('runs')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

export async function selectKeyUse(db: Db, key: string): Promise<KeyUse | null> {
  const row = await db
    .selectFrom('idempotency')
    .select(['request', 'run'])
    .where('key', '=', key)
    .executeTakeFirst();
  return row ?? null;
}

async function insertLabels(
  db: Transaction<Tables>,
  run: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  const rows = Object.entries(labels).map(([key, value]) => ({ run, key, value }));
  if (rows.length > 0) await db.insertInto('run_labels').values(rows).execute();
}
