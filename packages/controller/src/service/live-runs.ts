import type { RunHandle } from '../run/run-handle.ts';
import type { Checkpoint, RunRecord, Store, TimelineChunk } from '../store/store.ts';
import type { TimeSource } from '../time-source.ts';
import { TimelineRecorder } from '../timeline/recorder.ts';
import { EventLog } from './event-log.ts';
import { MAX_ENDED_LOGS, MAX_UNSAVED_RUNS, MAX_WAITING_RUNS } from './limits.ts';
import { LiveRun } from './live-run.ts';

export interface LiveRunsParts {
  readonly store: Store;
  readonly time: TimeSource;
  /** How long the figures of a run stay after its end, µs. */
  readonly lingerUs: number;
}

/** The runs of this process: those that go on, and what is kept of those that are over. */
export class LiveRuns {
  readonly #parts: LiveRunsParts;
  /** Names this process in the ids of events. */
  readonly #life: string;
  readonly #runs = new Map<string, LiveRun>();
  readonly #logs = new Map<string, EventLog>();
  /** Ended a moment ago: whoever reads figures now and then sees the last ones, too. */
  readonly #lingering = new Map<string, RunHandle>();
  readonly #timers = new Set<() => void>();
  #trouble: string | null = null;

  constructor(parts: LiveRunsParts) {
    this.#parts = parts;
    this.#life = parts.time.utcMs().toString(36);
  }

  /** What the store said when it failed last; null: all is well. */
  get storeTrouble(): string | null {
    return this.#trouble;
  }

  get(id: string): LiveRun | undefined {
    return this.#runs.get(id);
  }

  log(id: string): EventLog | undefined {
    return this.#runs.get(id)?.log ?? this.#logs.get(id);
  }

  all(): readonly LiveRun[] {
    return [...this.#runs.values()];
  }

  /** Runs that go on or wait. */
  active(): readonly LiveRun[] {
    return this.all().filter((run) => !run.done);
  }

  /** Runs whose figures can be read: they go on, or ended a moment ago. */
  measured(): readonly RunHandle[] {
    return [...this.active().map((run) => run.handle), ...this.#lingering.values()];
  }

  get isFull(): boolean {
    return this.active().filter((run) => run.record.state === 'waiting').length >= MAX_WAITING_RUNS;
  }

  /** `known`: what an earlier process wrote down of its time line. */
  add(handle: RunHandle, record: RunRecord, known: readonly TimelineChunk[] = []): LiveRun {
    const { store, time } = this.#parts;
    const log = new EventLog(this.#life);
    const run = new LiveRun({
      handle,
      record,
      log,
      store,
      time,
      timeline: new TimelineRecorder(known),
      storeTrouble: (trouble) => {
        this.#trouble = trouble;
      },
      saved: () => this.#remove(handle.id),
    });
    this.#runs.set(handle.id, run);
    log.onEnd(() => this.#over(run));
    return run;
  }

  /** The run was deleted: nothing is told of it any more. */
  forget(id: string): void {
    this.#logs.delete(id);
    this.#lingering.delete(id);
  }

  /** Writes a checkpoint, and with it what the time line has got since the last one. */
  async saveCheckpoint(run: string, checkpoint: Checkpoint): Promise<void> {
    const changed = this.#runs.get(run)?.timeline.changed();
    const chunks = changed?.chunks ?? [];
    try {
      await this.#parts.store.saveCheckpoint(run, { ...checkpoint, chunks });
      changed?.kept();
      this.#trouble = null;
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error);
      throw error;
    }
  }

  /** Ends all timers, and resolves when nothing is being written any more. */
  async close(): Promise<void> {
    for (const stop of this.#timers) stop();
    await Promise.all(this.all().map((run) => run.close()));
  }

  #over({ handle, log }: LiveRun): void {
    this.#logs.set(handle.id, log);
    for (const id of this.#logs.keys()) {
      if (this.#logs.size <= MAX_ENDED_LOGS) break;
      this.#logs.delete(id);
    }
    this.#lingering.set(handle.id, handle);
    this.#after(this.#parts.lingerUs, () => this.#lingering.delete(handle.id));
    const unsaved = this.all().filter((run) => run.done);
    if (unsaved.length > MAX_UNSAVED_RUNS) this.#remove(unsaved[0]?.handle.id ?? '');
  }

  #remove(id: string): void {
    this.#runs.delete(id);
  }

  #after(delayUs: number, action: () => void): void {
    const stop = this.#parts.time.after(delayUs, () => {
      this.#timers.delete(stop);
      action();
    });
    this.#timers.add(stop);
  }
}
