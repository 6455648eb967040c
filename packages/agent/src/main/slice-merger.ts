import { mergeSlices, type Slice } from '@squall/core/metrics';
import type { AgentLimits } from './limits.ts';
import { monotonicUs } from './monotonic.ts';

interface OpenSlice {
  readonly slices: Slice[];
  readonly workers: Set<number>;
  readonly openedUs: number;
}

export interface SliceMergerOptions {
  readonly limits: Pick<AgentLimits, 'sliceWaitUs' | 'openSlices'>;
  /** Workers whose slices are waited for. */
  working(): readonly number[];
  emit(slice: Slice): void;
}

/**
 * Makes one slice of the agent out of its workers' slices of the same (stage, phase, n). It goes out
 * when every working worker has delivered; a worker that is late or gone does not hold it up for
 * longer than the deadline, and what comes after that goes out by itself.
 */
export class SliceMerger {
  readonly #open = new Map<string, OpenSlice>();
  /** Slices that went out without every worker, the latest few: what comes for them is late. */
  readonly #incomplete = new Set<string>();
  readonly #options: SliceMergerOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SliceMergerOptions) {
    this.#options = options;
  }

  add(worker: number, slice: Slice): void {
    const key = `${slice.stage}:${slice.phase}:${slice.n}+${slice.span}`;
    const open = this.#open.get(key) ?? {
      slices: [],
      workers: new Set<number>(),
      openedUs: monotonicUs(),
    };
    open.slices.push(slice);
    open.workers.add(worker);
    this.#open.set(key, open);
    if (this.#incomplete.has(key)) this.#emit(key);
    this.review();
    this.#keepBound();
    this.#arm();
  }

  /** Sends out what is complete by now. Call it when a worker is gone or has finished. */
  review(): void {
    const working = this.#options.working();
    for (const [key, { workers }] of this.#open) {
      if (working.every((worker) => workers.has(worker))) this.#emit(key);
    }
  }

  /** Sends out everything, complete or not: no more slices will come. */
  flush(): void {
    for (const key of this.#open.keys()) this.#emit(key);
    this.close();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #keepBound(): void {
    const { openSlices } = this.#options.limits;
    while (this.#open.size > openSlices) this.#emitIncomplete(oldestOf(this.#open.keys()));
  }

  #emitIncomplete(key: string): void {
    this.#incomplete.add(key);
    if (this.#incomplete.size > this.#options.limits.openSlices) {
      this.#incomplete.delete(oldestOf(this.#incomplete));
    }
    this.#emit(key);
  }

  #emit(key: string): void {
    const open = this.#open.get(key);
    this.#open.delete(key);
    if (open !== undefined) this.#options.emit(open.slices.reduce(mergeSlices));
  }

  /** One timer for the oldest open slice. */
  #arm(): void {
    const [oldest] = this.#open.values();
    if (this.#timer !== undefined || oldest === undefined) return;
    const { sliceWaitUs } = this.#options.limits;
    const leftUs = Math.max(0, oldest.openedUs + sliceWaitUs - monotonicUs());
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        const overdue = monotonicUs() - sliceWaitUs;
        for (const [key, { openedUs }] of this.#open) {
          if (openedUs <= overdue) this.#emitIncomplete(key);
        }
        this.#arm();
      },
      Math.ceil(leftUs / 1000) + 1,
    );
  }
}

/** Maps and sets keep the order of insertion, so the first key is the oldest. */
function oldestOf(keys: Iterable<string>): string {
  for (const key of keys) return key;
  return '';
}
