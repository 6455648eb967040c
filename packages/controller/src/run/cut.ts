import type { Plan, Stage } from '@squall/core/plan';
import { formatDuration } from '@squall/core/units';
import type { StageEnd } from './stage-walk.ts';
import type { SubmitOptions } from './submit-options.ts';

/** Why a run did not go its whole way. The first cause counts; later ones only add hurry. */
export interface Cut {
  readonly cause: /** By the API or a signal. */
    | 'stopped'
    | 'agent_lost'
    | 'max_duration'
    /** `onIncomplete: abort`. */
    | 'incomplete'
    /** A threshold with `abort` failed. */
    | 'threshold'
    /** Before the start: too few agents, one that refused, or a bus that is out of order. */
    | 'agents'
    /** A fault of ours. */
    | 'error';
  /** Plain sentences for the report. */
  readonly reasons: readonly string[];
  /** Who stopped it. */
  readonly by?: 'signal' | 'api';
}

/** Why the longest duration ended a run: which limit it was, whose, and how far the run had come. */
export function tooLong(run: {
  readonly plan: Plan;
  readonly options: SubmitOptions;
  /** The last that was entered. */
  readonly stage: Stage | undefined;
}): string {
  const limit = formatDuration(run.plan.limits.maxDurationUs);
  const whose =
    run.options.timeout === true
      ? `its time-out of ${limit} (--timeout)`
      : `its limits.maxDuration of ${limit}`;
  const where = run.stage === undefined ? 'before its first stage' : `in stage ${run.stage.name}`;
  return `the run took longer than ${whose} allows: it was still ${where}`;
}

export function stageEndOf(cut: Cut | null): StageEnd {
  const cause = cut?.cause;
  return cause === 'agent_lost' || cause === 'stopped' ? cause : 'aborted';
}
