import type { RunBus } from '@squall/core/bus';
import type { Plan } from '@squall/core/plan';
import type { AgentHub } from '../hub/hub.ts';
import type { RunTiming } from '../limits.ts';
import type { Logger } from '../logger.ts';
import type { TimeSource } from '../time-source.ts';
import type { AgentQueue } from './agent-queue.ts';
import type { CheckpointStore } from './checkpoint/checkpointer.ts';
import type { SavedRun } from './checkpoint/saved-run.ts';
import type { RunId } from './run-id.ts';
import type { SubmitOptions } from './submit-options.ts';

/** What a run is made of, and its surroundings. */
export interface RunParts {
  readonly id: RunId;
  readonly plan: Plan;
  readonly options: SubmitOptions;
  readonly hub: AgentHub;
  readonly queue: AgentQueue;
  readonly bus: RunBus;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly logger: Logger;
  /** Where the run is put away while it goes on. Null: it lives and ends with this process. */
  readonly checkpoints: CheckpointStore | null;
  /** Of this process: `clock-domain.ts`. */
  readonly clockDomain: string;
  /** The run as an earlier process left it. Null: it begins here. */
  readonly saved: SavedRun | null;
}
