import { formatDuration } from '@squall/core/units';
import type { AgentPosition, Store } from '../../store/store.ts';
import type { TimeSource } from '../../time-source.ts';
import type { Acknowledger } from '../acknowledger.ts';
import type { RunLedger } from '../run-ledger.ts';
import { encodePage } from './page-codec.ts';
import { encodeSavedRun } from './run-codec.ts';
import type { SavedRun } from './saved-run.ts';

/** How long an order to the agents waits for the checkpoint that has it. Less than its lead. */
const ORDER_PATIENCE_US = 500_000;

/** A store that has not answered for so long is told of. */
const SLOW_US = 5_000_000;

/** How long the end of a run waits for its last checkpoint. */
const LAST_PATIENCE_US = 10_000_000;

/** A run as it is put away. */
export interface TakenRun {
  readonly saved: SavedRun;
  /** How far each agent is in it. */
  readonly positions: readonly AgentPosition[];
  /** Pages of the ledger that no checkpoint has yet, and who is to know when this one has them. */
  readonly ledger: ReturnType<RunLedger['unsaved']>;
}

/** Where checkpoints go: all of one at once, or nothing of it. */
export type CheckpointStore = Pick<Store, 'saveCheckpoint'>;

export interface CheckpointerScene {
  readonly time: TimeSource;
  /** From the end of one checkpoint to the next. */
  readonly intervalUs: () => number;
  readonly store: CheckpointStore;
  readonly acknowledger: Acknowledger;
  /** All there is of the run at this moment. */
  readonly take: () => TakenRun;
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
  #ending = false;
  #ended = false;
  #stopTimer: () => void = () => undefined;

  constructor(scene: CheckpointerScene) {
    this.#scene = scene;
    // A life of the controller may be short: that it has begun is worth a checkpoint.
    void this.#goRound();
  }

  /**
   * Resolves when everything that is true now is in a checkpoint, or when that has failed or takes
   * too long: nobody is held up by a bad store.
   */
  async save(patienceUs = ORDER_PATIENCE_US): Promise<void> {
    const kept = this.#queue();
    await new Promise<void>((resolve) => {
      const calm = this.#scene.time.after(patienceUs, resolve);
      void kept.finally(() => {
        calm();
        resolve();
      });
    });
  }

  /** No other follows, and what is being written counts no more. */
  drop(): void {
    this.#ending = true;
    this.#ended = true;
    this.#stopTimer();
  }

  /** The last one. No other follows. */
  async end(): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    this.#stopTimer();
    await this.save(LAST_PATIENCE_US);
    this.#ended = true;
  }

  #arm(): () => void {
    return this.#scene.time.after(this.#scene.intervalUs(), () => void this.#goRound());
  }

  async #goRound(): Promise<void> {
    await this.#queue();
    if (!this.#ending) this.#stopTimer = this.#arm();
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
    if (this.#ended) return;
    const calm = this.#scene.time.after(SLOW_US, () => {
      this.#fail(`the store has not answered for ${formatDuration(SLOW_US)}`);
    });
    try {
      const { acknowledger, store, take } = this.#scene;
      const { saved, positions, ledger } = take();
      const state = await encodeSavedRun(saved);
      const pages = await Promise.all(ledger.pages.map(encodePage));
      const checkpoint = { savedMs: saved.savedUtcMs, state, agents: positions, pages };
      await store.saveCheckpoint(saved.id.full, checkpoint);
      ledger.kept();
      acknowledger.saved(positions);
      if (this.#failing) this.#scene.warning('checkpoints can be saved again');
      this.#failing = false;
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    } finally {
      calm();
    }
  }

  /** Told once, until one succeeds. */
  #fail(reason: string): void {
    if (this.#failing) return;
    this.#failing = true;
    this.#scene.warning(
      `no checkpoint can be saved: ${reason}; the run goes on, and the agents keep what they measure until one can`,
    );
  }
}
