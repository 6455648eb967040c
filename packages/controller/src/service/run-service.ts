import { createHash } from 'node:crypto';
import { SquallError } from '@squall/core/errors';
import type { Plan, PlanProblem } from '@squall/core/plan';
import { type Report, redactVars, reportSchema } from '@squall/core/report';
import type { Controller } from '../controller.ts';
import type { AgentView } from '../hub/agent-view.ts';
import { createRunId } from '../run/run-id.ts';
import type { RunAgentView } from '../run/run-figures.ts';
import type {
  IdempotencyKey,
  NewRun,
  Page,
  PlanFormat,
  PlanRecord,
  PlanSummary,
  RunChange,
  RunQuery,
  RunRecord,
  Store,
} from '../store/store.ts';
import type { TimeSource } from '../time-source.ts';
import type { EventLog } from './event-log.ts';
import { MAX_WAITS } from './limits.ts';
import type { LiveRun } from './live-run.ts';
import type { LiveRuns } from './live-runs.ts';
import type { PlanReader } from './plan-reader.ts';
import { openTimeline, type RunTimeline } from './run-timeline.ts';

export interface RunServiceParts {
  readonly controller: Pick<Controller, 'agents' | 'submit'>;
  readonly store: Store;
  readonly live: LiveRuns;
  readonly plans: PlanReader;
  readonly time: TimeSource;
  /** Version of the product, for the reports. */
  readonly version: string;
}

/** What a run is asked for. */
export interface RunRequest {
  /** Id of a plan, or the text of one. */
  readonly plan: { readonly id: string } | { readonly text: string; readonly format: PlanFormat };
  readonly vars: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly notes: string;
  readonly scale: number;
  readonly strict: boolean;
  readonly timeoutUs: number | null;
  readonly agents: number | null;
  /** Values of `{{env.X}}`: handed to the agents, kept nowhere. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Files that the plan names, in base64, by those names: handed to the agents, kept nowhere. */
  readonly files: Readonly<Record<string, string>>;
}

/** A plan with faults: all of them, with their places. */
export interface PlanFaults {
  readonly ok: false;
  readonly errors: readonly PlanProblem[];
}

export interface CheckedPlan {
  readonly ok: true;
  readonly plan: PlanRecord;
  /** False: it was known already. */
  readonly created: boolean;
  readonly warnings: readonly PlanProblem[];
  /** Names that `{{env.X}}` needs. */
  readonly secrets: readonly string[];
  /** Names of the files and directories that it needs. */
  readonly fileNames: readonly string[];
}

export type SubmittedRun =
  | PlanFaults
  | {
      readonly ok: true;
      readonly run: RunRecord;
      /** True: this key was used before, for this very run. */
      readonly replayed: boolean;
      readonly warnings: readonly PlanProblem[];
    }
  /** The key was used before, for something else. */
  | { readonly ok: 'key used' };

/** Hex digits of the hash in the id of a plan: 80 bits. */
const PLAN_ID_DIGITS = 20;

/** Everything that can be done with plans and runs, whatever the way in which it is asked for. */
export class RunService {
  readonly #parts: RunServiceParts;
  #waits = 0;

  constructor(parts: RunServiceParts) {
    this.#parts = parts;
  }

  /** With `keep` false it is only looked at. */
  async putPlan(
    text: string,
    format: PlanFormat,
    keep: boolean,
  ): Promise<CheckedPlan | PlanFaults> {
    const { plans, store, time } = this.#parts;
    const read = await plans.read(text, {}, null);
    if (!read.ok) return { ok: false, errors: read.errors };
    const hash = createHash('sha256').update(text, 'utf8').digest('hex');
    const record: PlanRecord = {
      id: `p-${hash.slice(0, PLAN_ID_DIGITS)}`,
      hash,
      name: read.plan.name,
      format,
      createdMs: time.utcMs(),
      text,
      plan: read.plan,
    };
    const { warnings, secrets, fileNames } = read;
    const asked = { warnings, secrets, fileNames };
    if (!keep) return { ok: true, plan: record, created: false, ...asked };
    return { ok: true, ...(await store.putPlan(record)), ...asked };
  }

  /** @throws SquallError SQ_NOT_FOUND */
  async plan(id: string): Promise<PlanRecord> {
    return (await this.#parts.store.plan(id)) ?? missing('plan', id);
  }

  plans(page: Page): Promise<readonly PlanSummary[]> {
    return this.#parts.store.plans(page);
  }

  /** @throws SquallError SQ_NOT_FOUND for the plan, SQ_BUSY where the queue is full, SQ_STORE */
  async submit(request: RunRequest, key?: IdempotencyKey): Promise<SubmittedRun> {
    const { controller, live, plans, store, time, version } = this.#parts;
    const used = key === undefined ? null : await store.keyUse(key.key);
    if (key !== undefined && used !== null) return this.#usedBefore(key, used);
    const { vars, labels, scale, timeoutUs, secrets: env } = request;
    const found = await this.#planOf(request.plan);
    if (!found.ok) return found;
    const options = { vars, labels, scale, env, ...(timeoutUs === null ? {} : { timeoutUs }) };
    const read = await plans.read(found.plan.text, options, request.files);
    if (!read.ok) return { ok: false, errors: read.errors };
    if (live.isFull) {
      throw new SquallError('SQ_BUSY', 'too many runs wait for agents', {
        hint: 'try again when some of them have begun, or stop some',
      });
    }
    const id = createRunId(time.utcMs());
    const run = newRun(id.full, { request, plan: found.plan, time, labels: read.plan.labels });
    const lost = await store.createRun(run, key);
    if (key !== undefined && lost !== null) return this.#usedBefore(key, lost);
    const secrets = Object.fromEntries(read.secrets.map((name) => [name, env[name] ?? '']));
    const handle = controller.submit(
      withAgents(read.plan, request.agents),
      {
        version,
        secrets,
        material: { files: filesOf(request.files, read.plan), rows: read.rows },
        labels,
        strict: request.strict,
        timeout: timeoutUs !== null,
        scale,
        scaled: read.scaled,
      },
      id,
    );
    const { record } = live.add(handle, recordOf(run));
    return { ok: true, run: record, replayed: false, warnings: read.warnings };
  }

  /** @throws SquallError SQ_NOT_FOUND */
  async run(id: string): Promise<RunRecord> {
    return (
      this.#parts.live.get(id)?.record ?? (await this.#parts.store.run(id)) ?? missing('run', id)
    );
  }

  /** Newest first. What is true here stands before what the store has. */
  async runs(query: RunQuery): Promise<readonly RunRecord[]> {
    const records = await this.#parts.store.runs(query);
    return records.map((record) => this.#parts.live.get(record.id)?.record ?? record);
  }

  /**
   * The run as soon as it `fits`, or as it is when the time is over or nobody asks any more.
   * @throws SquallError SQ_NOT_FOUND; SQ_BUSY where too many wait.
   */
  async runWhen(
    id: string,
    wait: {
      readonly fits: (run: RunRecord) => boolean;
      readonly waitUs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<RunRecord> {
    const run = this.#parts.live.get(id);
    // Nothing changes any more but by others who ask us.
    if (run === undefined || run.done || wait.fits(run.record)) return this.run(id);
    if (this.#waits >= MAX_WAITS) {
      throw new SquallError('SQ_BUSY', 'too many requests wait for runs', { hint: 'try again' });
    }
    this.#waits++;
    try {
      await this.#changed(run, wait);
    } finally {
      this.#waits--;
    }
    return run.record;
  }

  /** @throws SquallError SQ_NOT_FOUND, SQ_STATE where it is over. */
  async stop(id: string, mode: 'graceful' | 'hard'): Promise<RunRecord> {
    const run = this.#parts.live.get(id);
    if (run === undefined || run.done) {
      await this.run(id);
      throw new SquallError('SQ_STATE', 'the run is over', { path: id });
    }
    run.handle.stop(mode, 'api');
    return run.record;
  }

  /** @throws SquallError SQ_NOT_FOUND, SQ_STORE */
  async change(id: string, change: Pick<RunChange, 'labels' | 'notes'>): Promise<RunRecord> {
    const run = this.#parts.live.get(id);
    if (run !== undefined) {
      run.change(change);
      return run.record;
    }
    return (await this.#parts.store.updateRun(id, change)) ?? missing('run', id);
  }

  /** @throws SquallError SQ_NOT_FOUND, SQ_STATE while it goes on. */
  async remove(id: string): Promise<void> {
    const { live, store } = this.#parts;
    const run = live.get(id);
    if (run !== undefined) {
      const why = run.done ? 'its end is not in the store yet' : 'it goes on';
      const hint = run.done ? 'try again' : 'stop it first and wait for its end';
      throw new SquallError('SQ_STATE', `the run cannot be deleted: ${why}`, { path: id, hint });
    }
    if (!(await store.deleteRun(id))) missing('run', id);
    live.forget(id);
  }

  /** The events of a run, or null where they are not kept (any more). @throws SQ_NOT_FOUND */
  async events(id: string): Promise<EventLog | null> {
    const log = this.#parts.live.log(id);
    if (log === undefined) await this.run(id);
    return log ?? null;
  }

  /** JSON text. @throws SquallError SQ_NOT_FOUND; SQ_STATE before the end, and where there is none. */
  async reportText(id: string): Promise<string> {
    const report = this.#parts.live.get(id)?.report ?? (await this.#parts.store.report(id));
    if (report !== null) return report;
    const run = await this.run(id);
    if (run.state !== 'done') {
      throw new SquallError('SQ_STATE', 'the run is not over, so there is no report yet', {
        path: id,
        hint: `wait for its end: GET /v1/runs/${id}?wait=60s`,
      });
    }
    throw new SquallError('SQ_NOT_FOUND', 'the run ended without a report', {
      path: id,
      hint: run.reasons[0] ?? 'see the reasons of the run',
    });
  }

  /** As `reportText`. */
  async report(id: string): Promise<Report> {
    return reportSchema.parse(JSON.parse(await this.reportText(id)));
  }

  /** The run while it goes on; undefined: it is over (or was never). */
  active(id: string): LiveRun | undefined {
    const run = this.#parts.live.get(id);
    return run?.done === true ? undefined : run;
  }

  /** The agents of a run, while it goes on as after its end. @throws SQ_NOT_FOUND, SQ_STATE */
  async agentsOf(id: string): Promise<readonly RunAgentView[]> {
    const run = this.active(id);
    if (run !== undefined) return run.handle.agents();
    return (await this.report(id)).agents.map((agent) => ({
      ...agent,
      state: agent.state === 'completed' ? 'done' : agent.state,
      reason: agent.reason ?? null,
      framesMissing: Math.max(0, (agent.framesProduced ?? 0) - agent.framesReceived),
      reportedUpToUs: null,
    }));
  }

  /** @throws SquallError SQ_NOT_FOUND */
  async timeline(id: string): Promise<RunTimeline> {
    const run = this.#parts.live.get(id);
    return openTimeline({ store: this.#parts.store, record: await this.run(id), run });
  }

  fleet(): readonly AgentView[] {
    return this.#parts.controller.agents();
  }

  /** Why nothing should be asked of this controller now; empty: all is well. */
  async troubles(): Promise<readonly string[]> {
    const { live, store } = this.#parts;
    if (live.storeTrouble === null) return [];
    try {
      await store.probe();
      return [];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    }
  }

  async #planOf(plan: RunRequest['plan']): Promise<CheckedPlan | PlanFaults | FoundPlan> {
    if ('text' in plan) return this.putPlan(plan.text, plan.format, true);
    return { ok: true, plan: await this.plan(plan.id) };
  }

  async #usedBefore(
    key: IdempotencyKey,
    used: { readonly request: string; readonly run: string },
  ): Promise<SubmittedRun> {
    if (used.request !== key.request) return { ok: 'key used' };
    return { ok: true, run: await this.run(used.run), replayed: true, warnings: [] };
  }

  #changed(
    run: LiveRun,
    { fits, waitUs, signal }: Parameters<RunService['runWhen']>[1],
  ): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        stopTimer();
        stopListening();
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const stopTimer = this.#parts.time.after(waitUs, finish);
      const stopListening = run.onChange(() => {
        if (fits(run.record)) finish();
      });
      signal.addEventListener('abort', finish);
      if (signal.aborted) finish();
    });
  }
}

/** Those that the plan names; what else was sent is nobody's. */
function filesOf(
  files: Readonly<Record<string, string>>,
  plan: Plan,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(files).filter(([name]) => Object.hasOwn(plan.files, name)),
  );
}

interface FoundPlan {
  readonly ok: true;
  readonly plan: PlanRecord;
}

function missing(what: 'plan' | 'run', id: string): never {
  throw new SquallError('SQ_NOT_FOUND', `there is no ${what} ${id}`, { path: id });
}

function withAgents(plan: Plan, count: number | null): Plan {
  if (count === null) return plan;
  return { ...plan, limits: { ...plan.limits, agents: { ...plan.limits.agents, count } } };
}

function newRun(
  id: string,
  from: {
    readonly request: RunRequest;
    readonly plan: PlanRecord;
    readonly labels: Readonly<Record<string, string>>;
    readonly time: TimeSource;
  },
): NewRun {
  const { notes, vars, scale, strict, timeoutUs, agents } = from.request;
  return {
    id,
    plan: from.plan.id,
    name: from.plan.name,
    labels: from.labels,
    notes,
    submittedMs: from.time.utcMs(),
    options: { vars: redactVars(vars), scale, strict, timeoutUs, agents },
  };
}

/** A run as it is entered. */
function recordOf(run: NewRun): RunRecord {
  return {
    ...run,
    state: 'waiting',
    revision: 1,
    startedMs: null,
    endedMs: null,
    stage: null,
    verdict: null,
    validity: null,
    exitCode: null,
    reasons: [],
    hasReport: false,
  };
}
