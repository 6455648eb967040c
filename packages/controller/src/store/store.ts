import type { Plan } from '@squall/core/plan';
import type { ValidityState, Verdict } from '@squall/core/report';
import type { RunState } from '../run/run-handle.ts';

/**
 * What outlives the controller: plans, runs with their reports and time lines, and the checkpoints of
 * runs that are going on. One interface, so that another database can take the place of the embedded
 * one.
 *
 * Every call may reject with SquallError SQ_STORE (full, read-only, damaged); what was being written
 * is then not in the store, in whole or in part. Texts hold no NUL: databases cut them off there.
 */
export interface Store {
  /** The same text is the same plan: one that is known already stays as it is. */
  putPlan(plan: PlanRecord): Promise<{ readonly plan: PlanRecord; readonly created: boolean }>;
  plan(id: string): Promise<PlanRecord | null>;
  /** Newest first. */
  plans(page: Page): Promise<readonly PlanSummary[]>;

  /**
   * Enters a new run. With a key that was used before nothing is entered, and what it was used for
   * comes back.
   */
  createRun(run: NewRun, key?: IdempotencyKey): Promise<KeyUse | null>;
  /** What the key was used for, or null where it is new. */
  keyUse(key: string): Promise<KeyUse | null>;
  run(id: string): Promise<RunRecord | null>;
  /** Newest first. */
  runs(query: RunQuery): Promise<readonly RunRecord[]>;
  /** Every change makes a new revision. Resolves with the record as it is then; null: no such run. */
  updateRun(id: string, change: RunChange): Promise<RunRecord | null>;
  /** Enters the end and the report, and drops the checkpoint, all at once. */
  finishRun(id: string, end: RunEnd): Promise<RunRecord | null>;
  /** With everything that belongs to it. False: there is none. */
  deleteRun(id: string): Promise<boolean>;
  /** JSON text of the report; null where the run has none. */
  report(id: string): Promise<string | null>;

  /** Chunks take the place of those with the same index. */
  putTimeline(run: string, chunks: readonly TimelineChunk[]): Promise<void>;
  /** In order; indexes from `from` to `to`, both included. */
  timeline(run: string, from: number, to: number): Promise<readonly TimelineChunk[]>;

  /**
   * State, sequences and the time line's open chunks, all at once or not at all. Pages are added to
   * those that are there; all else takes the place of the checkpoint before.
   */
  saveCheckpoint(run: string, checkpoint: Checkpoint): Promise<void>;
  /** With all pages, in no order. */
  checkpoint(run: string): Promise<Checkpoint | null>;

  /** Deletes runs that ended before this moment, used keys, and plans that nobody uses any more. */
  purge(before: PurgeLimits): Promise<number>;
  /** Rejects where nothing can be written. */
  probe(): Promise<void>;
  close(): Promise<void>;
}

/** Moments are ms since the epoch. */
export interface PlanRecord extends PlanSummary {
  readonly text: string;
  /** Normalised, without variables of a run. */
  readonly plan: Plan;
}

export interface PlanSummary {
  /** From the hash. */
  readonly id: string;
  /** SHA-256 of the text, hex. */
  readonly hash: string;
  readonly name: string;
  readonly format: PlanFormat;
  readonly createdMs: number;
}

export type PlanFormat = 'yaml' | 'json';

/** `after`: the id (runs) or hash-id (plans) of the last entry of the page before. */
export interface Page {
  readonly limit: number;
  readonly after?: string;
}

export interface NewRun {
  readonly id: string;
  readonly plan: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly notes: string;
  readonly submittedMs: number;
  /** What it was given besides the plan, without secrets. */
  readonly options: RunOptions;
}

export interface RunOptions {
  readonly vars: Readonly<Record<string, string>>;
  readonly scale: number;
  readonly strict: boolean;
  /** `limits.maxDuration` for this run, µs. */
  readonly timeoutUs: number | null;
  /** Agents asked for, where not those of the plan. */
  readonly agents: number | null;
}

export interface RunRecord extends NewRun {
  readonly state: RunState;
  /** Counts the changes. */
  readonly revision: number;
  /** T. */
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  readonly stage: string | null;
  readonly verdict: Verdict | null;
  readonly validity: ValidityState | null;
  readonly exitCode: number | null;
  /** Why this verdict, most important first. */
  readonly reasons: readonly string[];
  readonly hasReport: boolean;
}

/** What may change while a run goes on. What is left out stays. */
export interface RunChange {
  readonly state?: RunState;
  readonly startedMs?: number;
  readonly stage?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly notes?: string;
}

export interface RunEnd {
  readonly endedMs: number;
  readonly verdict: Verdict;
  readonly validity: ValidityState | null;
  readonly exitCode: number;
  readonly reasons: readonly string[];
  /** JSON text; null where a run ended without one (its controller died). */
  readonly report: string | null;
}

export interface RunQuery extends Page {
  /** All of them must be there. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly plan?: string;
  readonly name?: string;
  /** `active`: not done. */
  readonly state?: 'active' | 'done';
  readonly verdict?: Verdict;
}

export interface IdempotencyKey {
  readonly key: string;
  /** Hash of what was asked for with it. */
  readonly request: string;
}

export interface KeyUse {
  readonly request: string;
  readonly run: string;
}

/** `CHUNK_STEPS` seconds of a run's time line, encoded (`timeline/chunk.ts`). */
export interface TimelineChunk {
  readonly index: number;
  readonly bytes: Uint8Array;
}

/** What a controller needs to go on with a run after its death. */
export interface Checkpoint {
  readonly savedMs: number;
  readonly state: Uint8Array;
  /** The last sequence of each agent that is in the state: what may be acknowledged. */
  readonly agents: readonly AgentPosition[];
  readonly chunks?: readonly TimelineChunk[];
  /** Pages of the delivery ledger that came since the checkpoint before. */
  readonly pages?: readonly StoredPage[];
}

/** One page of one worker's ledger, encoded (`run/checkpoint/page-codec.ts`). */
export interface StoredPage {
  readonly agent: string;
  readonly worker: number;
  readonly page: number;
  readonly bytes: Uint8Array;
}

export interface AgentPosition {
  readonly agent: string;
  readonly epoch: number;
  readonly seq: number;
}

export interface PurgeLimits {
  readonly runsEndedBeforeMs: number | null;
  readonly keysBeforeMs: number;
}
