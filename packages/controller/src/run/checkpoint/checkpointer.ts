import type { TimeSource } from '../../time-source.ts';
import type { AgentPosition } from '../../store/store.ts';
import { encodeSavedRun } from './run-codec.ts';
import type { SavedRun } from './saved-run.ts';

/** From the end of one checkpoint to the next. */
export const CHECKPOINT_US = 3_000_000;

/** How long an order to the agents waits for the checkpoint that has it. Less than its lead. */
export const ORDER_PATIENCE_US = 500_000;

/** How long the end of a run waits for its last checkpoint. */
export const LAST_PATIENCE_US = 10_000_000;

/** A run as it is put away. */
export interface TakenRun {
  readonly saved: SavedRun;
  /** The sequence up to which each agent is in it. */
  readonly agents: readonly AgentPosition[];
}

export interface CheckpointerScene {
  readonly time: TimeSource;
  /** All there is of the run at this moment. */
  take(): TakenRun;
  /** Writes state and positions, all at once or not at all. */
  keep(state: Uint8Array, taken: TakenRun): Promise<void>;
  /** They are safe: from now on these frames may be forgotten. */
  kept(agents: readonly AgentPosition[]): void;
  warning(text: string): void;
}

/**
 * Puts a run away every few seconds and before each order to its agents. At most one checkpoint is
 * being written and one waits for its turn. One that fails is told and tried again: until it works
 * nothing is acknowledged, and the agents keep what they measure in their bounded outboxes.
 */
export class Checkpointer {
  readonly #scene: CheckpointerScene;
  /** The one that is being written, or resolved. */
  #current: Promise<void> = Promise.resolve();
  /** The one that was asked for after that had begun. */
  #next: Promise<void> | null = null;
  #failing = false;
  #stopped = false;
  #stopTimer: () => void;

  constructor(scene: CheckpointerScene) {
    this.#scene = scene;
    this.#stopTimer = this.#arm();
  }

  /**
   * Resolves when everything that is true now is in a checkpoint, or when that has failed or takes
   * too long: nobody is held up by a bad store.
   */
  save(patienceUs = ORDER_PATIENCE_US): Promise<void> {
    return new Promise((resolve) => {
      const giveUp = this.#scene.time.after(patienceUs, resolve);
      void this.#queue().then(() => {
        giveUp();
        resolve();
      });
    });
  }

  /** The last one. No other follows. */
  async end(): Promise<void> {
    if (this.#stopped) return;
    this.#stopTimer();
    await this.save(LAST_PATIENCE_US);
    this.#stopped = true;
  }

  #arm(): () => void {
    return this.#scene.time.after(CHECKPOINT_US, () => {
      void this.#queue().then(() => {
        if (!this.#stopped) this.#stopTimer = this.#arm();
      });
    });
  }

  #queue(): Promise<void> {
    this.#next ??= this.#current.then(() => {
      this.#next = null;
      this.#current = this.#write();
      return this.#current;
    });
    return this.#next;
  }

  async #write(): Promise<void> {
    // What happens in this very moment happens to the end, so that nothing is put away half-done.
    await new Promise<void>((resolve) => this.#scene.time.after(0, resolve));
    if (this.#stopped) return;
    try {
      const taken = this.#scene.take();
      await this.#scene.keep(await encodeSavedRun(taken.saved), taken);
      this.#scene.kept(taken.agents);
      if (this.#failing) this.#scene.warning('checkpoints can be saved again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#scene.warning(failureText(error));
      this.#failing = true;
    }
  }
}

function failureText(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return (
    `no checkpoint can be saved: ${reason}; ` +
    'the run goes on, and the agents keep what they measure until it can'
  );
}
