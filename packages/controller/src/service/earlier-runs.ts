import { SquallError } from '@squall/core/errors';
import type { Plan } from '@squall/core/plan';
import { EXIT_CODES } from '@squall/core/report';
import { decodeSavedRun } from '../run/checkpoint/run-codec.ts';
import type { SavedRun } from '../run/checkpoint/saved-run.ts';
import { type RunId, readRunId } from '../run/run-id.ts';
import type { SubmitOptions } from '../run/submit-options.ts';
import type { RunRecord, Store, TimelineChunk } from '../store/store.ts';
import type { TimeSource } from '../time-source.ts';
import { CHUNK_SECONDS, SECOND_US } from '../timeline/chunk.ts';
import { GROWING_CHUNKS } from '../timeline/recorder.ts';
import { MAX_PAGE } from './limits.ts';
import type { PlanReader } from './plan-reader.ts';

export interface EarlierRunsScene {
  readonly store: Store;
  readonly plans: PlanReader;
  readonly time: TimeSource;
  /** Version of the product, for the reports. */
  readonly version: string;
}

/** Runs that an earlier controller left behind, and that this one takes over. */
export interface EarlierRuns {
  readonly goingOn: readonly RunThatGoesOn[];
  /** They had not begun: they are queued again, in the order in which they came. */
  readonly waiting: readonly RunThatWaits[];
}

interface RunThatGoesOn {
  readonly record: RunRecord;
  readonly saved: SavedRun;
  /** The newest part of its time line. */
  readonly known: readonly TimelineChunk[];
}

interface RunThatWaits {
  readonly id: RunId;
  readonly record: RunRecord;
  readonly plan: Plan;
  readonly options: SubmitOptions;
}

/**
 * Finds what became of the runs that the store calls active though their controller is gone. One that
 * can neither be gone on with nor be queued again is over: it gets its end, and why.
 * @throws SquallError SQ_STORE
 */
export async function earlierRuns(scene: EarlierRunsScene): Promise<EarlierRuns> {
  const goingOn: RunThatGoesOn[] = [];
  const waiting: RunThatWaits[] = [];
  // Oldest first, as they had come.
  for (const record of (await activeRuns(scene.store)).toReversed()) {
    const found = await whatBecameOf(record, scene);
    if (typeof found === 'string') await endWithout(record, found, scene);
    else if ('saved' in found) goingOn.push(found);
    else waiting.push(found);
  }
  return { goingOn, waiting };
}

async function activeRuns(store: Store): Promise<RunRecord[]> {
  const all: RunRecord[] = [];
  for (;;) {
    const last = all.at(-1);
    const after = last === undefined ? {} : { after: last.id };
    const page = await store.runs({ state: 'active', limit: MAX_PAGE, ...after });
    all.push(...page);
    if (page.length < MAX_PAGE) return all;
  }
}

/** The reason where nothing can be done. */
async function whatBecameOf(
  record: RunRecord,
  scene: EarlierRunsScene,
): Promise<RunThatGoesOn | RunThatWaits | string> {
  const checkpoint = await scene.store.checkpoint(record.id);
  if (checkpoint === null) return waitsAgain(record, scene);
  try {
    const saved = await decodeSavedRun(checkpoint.state, checkpoint.pages);
    return { record, saved, known: await newestChunks(scene.store, saved) };
  } catch (error) {
    if (!(error instanceof SquallError)) throw error;
    return `the controller was started again and could not go on with the run: ${error.message}`;
  }
}

/** Those that may still grow when the checkpoint was written. */
function newestChunks(store: Store, { id, savedUs, startUs }: SavedRun) {
  const newest = Math.max(0, Math.floor((savedUs - startUs) / SECOND_US / CHUNK_SECONDS));
  return store.timeline(id.full, Math.max(0, newest - GROWING_CHUNKS), newest + 1);
}

async function waitsAgain(
  record: RunRecord,
  { plans, store, version }: EarlierRunsScene,
): Promise<RunThatWaits | string> {
  // The load begins with a checkpoint, so that nothing was measured before there is one.
  const began = !['waiting', 'assigning', 'starting'].includes(record.state);
  if (began) return 'the controller was started again, and the run had no checkpoint';
  const { agents, scale, strict, timeoutUs, vars } = record.options;
  if (Object.values(vars).some((value) => value.includes('***'))) return NOT_KEPT;
  const found = await store.plan(record.plan);
  if (found === null) return 'the controller was started again, and the plan is not there any more';
  const { labels } = record;
  const timeout = timeoutUs === null ? {} : { timeoutUs };
  const read = await plans.read(found.text, { vars, labels, scale, ...timeout }, null);
  if (!read.ok) return 'the controller was started again, and cannot read the plan';
  if (read.secrets.length > 0 || read.fileNames.length > 0) return NOT_KEPT;
  const { plan, scaled } = read;
  return {
    id: readRunId(record.id),
    record,
    plan: agents === null ? plan : withAgents(plan, agents),
    options: { version, labels, strict, timeout: timeoutUs !== null, scale, scaled },
  };
}

const NOT_KEPT =
  'the controller was started again before the run began, and keeps neither secrets nor files: submit it again';

function withAgents(plan: Plan, count: number): Plan {
  return { ...plan, limits: { ...plan.limits, agents: { ...plan.limits.agents, count } } };
}

/** It is over without a report: nobody knows any more what was measured. */
async function endWithout(
  record: RunRecord,
  reason: string,
  { store, time }: EarlierRunsScene,
): Promise<void> {
  await store.finishRun(record.id, {
    endedMs: time.utcMs(),
    verdict: 'error',
    validity: null,
    exitCode: EXIT_CODES.error,
    reasons: [reason],
    report: null,
  });
}
