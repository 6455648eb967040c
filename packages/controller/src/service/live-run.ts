import type { Report } from '@squall/core/report';
import type { RunEvent, RunHandle } from '../run/run-handle.ts';
import type { RunChange, RunEnd, RunRecord, Store } from '../store/store.ts';
import type { TimeSource } from '../time-source.ts';
import type { TimelineRecorder } from '../timeline/recorder.ts';
import type { EventLog } from './event-log.ts';
import { RETRY_US } from './limits.ts';

export interface LiveRunParts {
  readonly handle: RunHandle;
  readonly record: RunRecord;
  readonly log: EventLog;
  readonly timeline: TimelineRecorder;
  readonly store: Store;
  readonly time: TimeSource;
  /** The store did not take something (null: it does again). */
  storeTrouble(trouble: string | null): void;
  /** Everything about the run is in the store. */
  saved(): void;
}

/**
 * A run that goes on, or whose end the store has not taken yet: what it tells is written down, what it
 * measures goes into its time line. The store may fail without harm to the run: what is true here is
 * told, and written as soon as it can be.
 */
export class LiveRun {
  readonly log: EventLog;
  readonly timeline: TimelineRecorder;
  readonly #parts: LiveRunParts;
  readonly #listeners = new Set<() => void>();
  #record: RunRecord;
  #report: string | null = null;
  #attached = false;
  #failing = false;
  #closed = false;
  #writes: Promise<void> = Promise.resolve();
  #stopRetry: () => void = () => {};

  constructor(parts: LiveRunParts) {
    this.#parts = parts;
    this.log = parts.log;
    this.timeline = parts.timeline;
    this.#record = parts.record;
    this.#attach();
    parts.handle.onEvent((event) => this.#take(event));
    parts.handle.done.then(
      (report) => this.#end(endOf(report, parts.time.utcMs())),
      (error: unknown) => this.#end(faultEnd(error, parts.time.utcMs())),
    );
  }

  get handle(): RunHandle {
    return this.#parts.handle;
  }

  get record(): RunRecord {
    return this.#record;
  }

  get done(): boolean {
    return this.#record.state === 'done';
  }

  /** JSON text; null before the end, and where there is none. */
  get report(): string | null {
    return this.#report;
  }

  /** Called when the record has changed. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  change(change: RunChange): void {
    this.#replace({ ...this.#record, ...change });
    void this.#write(async (store, id) => {
      await store.updateRun(id, change);
    });
  }

  /** Writes what waits to be written, and no more. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopRetry();
    await this.#writes;
  }

  #take(event: RunEvent): void {
    this.#attach();
    switch (event.type) {
      case 'state':
        // The end comes with its verdict.
        if (event.state === 'done') return;
        this.change({ state: event.state, ...this.#startOnce() });
        break;
      case 'stage':
        this.change({ stage: event.name });
        break;
      case 'done':
        return;
      case 'agent':
      case 'warning':
      case 'progress':
    }
    const { type, ...data } = event;
    this.log.append(type, data);
  }

  #startOnce(): RunChange {
    const startedMs = this.handle.figures?.startedMs;
    return startedMs === undefined || this.#record.startedMs !== null ? {} : { startedMs };
  }

  /** From the first moment on at which something can be measured. */
  #attach(): void {
    const { figures } = this.handle;
    if (this.#attached || figures === null) return;
    this.#attached = true;
    figures.aggregate.onSlice((agent, slice) => this.timeline.add(agent, slice));
  }

  #end(end: RunEnd): void {
    const { report, ...outcome } = end;
    this.#report = report;
    this.#replace({
      ...this.#record,
      ...outcome,
      state: 'done',
      stage: null,
      hasReport: report !== null,
    });
    const { verdict, validity, exitCode, reasons } = end;
    this.log.append('done', { verdict, validity, exitCode, reasons });
    this.log.end();
    void this.#saveEnd(end);
  }

  /** Until it works. */
  async #saveEnd(end: RunEnd): Promise<void> {
    const written = await this.#write(async (store, id) => {
      await this.#putTimeline(store, id);
      await store.finishRun(id, end);
      this.#parts.saved();
    });
    if (written || this.#closed) return;
    this.#stopRetry = this.#parts.time.after(RETRY_US, () => void this.#saveEnd(end));
  }

  async #putTimeline(store: Store, id: string): Promise<void> {
    const changed = this.timeline.changed();
    if (changed.chunks.length === 0) return;
    await store.putTimeline(id, changed.chunks);
    changed.kept();
  }

  #replace(record: RunRecord): void {
    this.#record = { ...record, revision: record.revision + 1 };
    for (const listener of this.#listeners) listener();
  }

  /** One after the other, in the order of what happened. Resolves with whether it was written. */
  #write(work: (store: Store, id: string) => Promise<void>): Promise<boolean> {
    const { handle, store } = this.#parts;
    const written = this.#writes.then(async () => {
      try {
        await work(store, handle.id);
        if (this.#failing) this.#parts.storeTrouble(null);
        this.#failing = false;
        return true;
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        this.#parts.storeTrouble(text);
        if (!this.#failing) handle.warn(`the run could not be written down: ${text}`);
        this.#failing = true;
        return false;
      }
    });
    this.#writes = written.then(() => undefined);
    return written;
  }
}

function endOf(report: Report, endedMs: number): RunEnd {
  return {
    endedMs,
    verdict: report.verdict,
    validity: report.validity.state,
    exitCode: report.exitCode,
    reasons: report.reasons,
    report: JSON.stringify(report),
  };
}

/** Exit code of what ended by a fault of ours. */
const EXIT_FAULT = 1;

function faultEnd(error: unknown, endedMs: number): RunEnd {
  const text = error instanceof Error ? error.message : String(error);
  return {
    endedMs,
    verdict: 'error',
    validity: null,
    exitCode: EXIT_FAULT,
    reasons: [`a fault of Squall itself: ${text}`],
    report: null,
  };
}
