import type { FromWorker } from '../worker/ipc.ts';

export type WorkerStageState = Omit<Extract<FromWorker, { type: 'stage_state' }>, 'type'>;

interface Gathered {
  readonly workers: Set<number>;
  /** Clients that finally failed, a group, over the workers that reported. */
  readonly failed: Record<string, number>;
  readonly state: WorkerStageState;
  told: boolean;
}

/**
 * Gathers what the workers say of a stage: the agent has reached a state when all of its live workers
 * have. A worker that is gone holds nothing up; what it had counted stays counted.
 */
export class StageStates {
  readonly #gathered = new Map<string, Gathered>();
  readonly #tell: (state: WorkerStageState) => void;

  constructor(tell: (state: WorkerStageState) => void) {
    this.#tell = tell;
  }

  reached(worker: number, state: WorkerStageState, live: readonly number[]): void {
    const key = `${state.stage}:${state.state}`;
    const gathered = this.#gathered.get(key) ?? {
      workers: new Set<number>(),
      failed: {},
      state,
      told: false,
    };
    this.#gathered.set(key, gathered);
    if (gathered.workers.has(worker)) return;
    gathered.workers.add(worker);
    for (const [group, count] of Object.entries(state.failed)) {
      gathered.failed[group] = (gathered.failed[group] ?? 0) + count;
    }
    this.review(live);
  }

  /** Tells every state that all live workers have reached by now. Call it when a worker is gone. */
  review(live: readonly number[]): void {
    if (live.length === 0) return;
    for (const gathered of this.#gathered.values()) {
      if (gathered.told || !live.every((worker) => gathered.workers.has(worker))) continue;
      gathered.told = true;
      this.#tell({ ...gathered.state, failed: gathered.failed });
    }
  }

  /** Whether every live worker has reached this state, in whatever stage. */
  allReached(state: WorkerStageState['state'], live: readonly number[]): boolean {
    const reached = new Set<number>();
    for (const { state: of, workers } of this.#gathered.values()) {
      if (of.state === state) for (const worker of workers) reached.add(worker);
    }
    return live.every((worker) => reached.has(worker));
  }
}
