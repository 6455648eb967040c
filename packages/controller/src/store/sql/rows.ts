import type { Plan } from '@squall/core/plan';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { NewRun, PlanRecord, PlanSummary, RunRecord } from '../store.ts';
import type { Tables } from './schema.ts';

/** What stands in columns as JSON text. */
const texts = z.record(z.string(), z.string());
const lines = z.array(z.string());
const options = z.object({
  vars: texts,
  scale: z.number(),
  strict: z.boolean(),
  timeoutUs: z.number().nullable(),
  agents: z.number().nullable(),
});
/** Was normalised before it was written. */
const plan = z.custom<Plan>((value) => typeof value === 'object' && value !== null);

export type RunRow = Selectable<Tables['runs']> & { readonly has_report: number };

export function runOf(row: RunRow): RunRecord {
  return {
    id: row.id,
    plan: row.plan,
    name: row.name,
    labels: texts.parse(JSON.parse(row.labels_json)),
    notes: row.notes,
    options: options.parse(JSON.parse(row.options_json)),
    submittedMs: row.submitted_ms,
    state: row.state,
    revision: row.revision,
    startedMs: row.started_ms,
    endedMs: row.ended_ms,
    stage: row.stage,
    verdict: row.verdict,
    validity: row.validity,
    exitCode: row.exit_code,
    reasons: lines.parse(JSON.parse(row.reasons_json)),
    hasReport: row.has_report === 1,
  };
}

export function newRunRow(run: NewRun): Selectable<Tables['runs']> {
  return {
    id: run.id,
    plan: run.plan,
    name: run.name,
    labels_json: JSON.stringify(run.labels),
    notes: run.notes,
    options_json: JSON.stringify(run.options),
    submitted_ms: run.submittedMs,
    state: 'waiting',
    revision: 1,
    started_ms: null,
    ended_ms: null,
    stage: null,
    verdict: null,
    validity: null,
    exit_code: null,
    reasons_json: '[]',
  };
}

type SummaryRow = Pick<
  Selectable<Tables['plans']>,
  'id' | 'hash' | 'name' | 'format' | 'created_ms'
>;

export function summaryOf(row: SummaryRow): PlanSummary {
  return {
    id: row.id,
    hash: row.hash,
    name: row.name,
    format: row.format,
    createdMs: row.created_ms,
  };
}

export function planOf(row: Selectable<Tables['plans']>): PlanRecord {
  return { ...summaryOf(row), text: row.text, plan: plan.parse(JSON.parse(row.json)) };
}

export function bytesOf(blob: ArrayBuffer | Uint8Array): Uint8Array {
  return blob instanceof Uint8Array ? blob : new Uint8Array(blob);
}
