import { type Kysely, sql } from 'kysely';
import type { Tables } from './schema.ts';

/**
 * The steps from an empty store to the newest form, in order; the version of a store is the number of
 * steps that it has taken. A step that was released is never changed: a change is a further step.
 */
export const MIGRATIONS: readonly ((db: Kysely<Tables>) => Promise<void>)[] = [
  firstTables,
  ledgerPages,
];

async function firstTables(db: Kysely<Tables>): Promise<void> {
  for (const statement of FIRST_TABLES) await sql.raw(statement).execute(db);
}

async function ledgerPages(db: Kysely<Tables>): Promise<void> {
  await sql
    .raw(
      `create table ledger_pages (
        run text not null, agent text not null, worker integer not null, page integer not null,
        bytes blob not null, primary key (run, agent, worker, page))`,
    )
    .execute(db);
}

const FIRST_TABLES = [
  `create table plans (
    id text primary key, hash text not null unique, name text not null, format text not null,
    text text not null, json text not null, created_ms integer not null)`,
  `create table runs (
    id text primary key, plan text not null, name text not null, labels_json text not null,
    notes text not null, options_json text not null, submitted_ms integer not null,
    state text not null, revision integer not null, started_ms integer, ended_ms integer,
    stage text, verdict text, validity text, exit_code integer, reasons_json text not null)`,
  'create index runs_by_plan on runs (plan)',
  'create index runs_by_end on runs (ended_ms)',
  `create table run_labels (
    run text not null, key text not null, value text not null, primary key (run, key))`,
  'create index runs_by_label on run_labels (key, value, run)',
  'create table reports (run text primary key, deflated blob not null)',
  `create table timeline (
    run text not null, chunk integer not null, bytes blob not null, primary key (run, chunk))`,
  `create table idempotency (
    key text primary key, request text not null, run text not null, used_ms integer not null)`,
  'create table checkpoints (run text primary key, saved_ms integer not null, state blob not null)',
  `create table checkpoint_agents (
    run text not null, agent text not null, epoch integer not null, seq integer not null,
    primary key (run, agent))`,
];
