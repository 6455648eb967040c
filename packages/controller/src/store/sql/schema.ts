import type { ValidityState, Verdict } from '@squall/core/report';
import type { ColumnType } from 'kysely';
import type { RunState } from '../../run/run-handle.ts';
import type { PlanFormat } from '../store.ts';

/** A blob: written as bytes, read as the driver gives it (an ArrayBuffer). */
type Blob = ColumnType<ArrayBuffer | Uint8Array, Uint8Array, Uint8Array>;

/** The tables, as `migrations.ts` makes them. Moments are ms since the epoch; `json`: JSON text. */
export interface Tables {
  readonly store_version: { version: number };
  readonly plans: {
    id: string;
    hash: string;
    name: string;
    format: PlanFormat;
    text: string;
    json: string;
    created_ms: number;
  };
  readonly runs: {
    id: string;
    plan: string;
    name: string;
    labels_json: string;
    notes: string;
    options_json: string;
    submitted_ms: number;
    state: RunState;
    revision: number;
    started_ms: number | null;
    ended_ms: number | null;
    stage: string | null;
    verdict: Verdict | null;
    validity: ValidityState | null;
    exit_code: number | null;
    reasons_json: string;
  };
  readonly run_labels: { run: string; key: string; value: string };
  readonly reports: { run: string; deflated: Blob };
  readonly timeline: { run: string; chunk: number; bytes: Blob };
  readonly idempotency: { key: string; request: string; run: string; used_ms: number };
  readonly checkpoints: { run: string; saved_ms: number; state: Blob };
  readonly checkpoint_agents: { run: string; agent: string; epoch: number; seq: number };
  readonly ledger_pages: { run: string; agent: string; worker: number; page: number; bytes: Blob };
}
