import type { StageEnd } from './stage-walk.ts';

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

export function stageEndOf(cut: Cut | null): StageEnd {
  const cause = cut?.cause;
  return cause === 'agent_lost' || cause === 'stopped' ? cause : 'aborted';
}
