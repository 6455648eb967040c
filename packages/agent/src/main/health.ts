import { readFileSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { AgentHealth } from '@squall/core/control';

/**
 * The histogram's own timer: its delay is measured on top of this interval. Finer ones wake an idle
 * agent so often that the watching becomes its main cost.
 */
const RESOLUTION_MS = 100;

/** Linux's USER_HZ: the unit of the times in /proc/<pid>/stat, 100 on every architecture we know. */
const TICKS_PER_S = 100;
const PAGE_BYTES = 4_096;

/** What the figures are taken from: the live worker processes and the outbox. */
export interface HealthSources {
  readonly workerPids: readonly number[];
  readonly outboxFrames: number;
}

/**
 * The agent's figures about itself: processor time and memory of the main process and its workers,
 * and the worst delay of an event loop since the last sample.
 */
export class Health {
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #workerCpu = new Map<number, number>();
  readonly #finished = new Set<number>();
  #workerLoopUs = 0;
  #ownCpuAtStart = process.cpuUsage();
  #rssBytesMax = 0;

  /** From here on a run is measured. */
  beginRun(): void {
    this.#workerCpu.clear();
    this.#finished.clear();
    this.#workerLoopUs = 0;
    this.#rssBytesMax = 0;
    this.#ownCpuAtStart = process.cpuUsage();
  }

  /**
   * From here on the loop is watched: starting worker processes holds it up, which says nothing of the
   * load, and without a load the watching timer would cost more than it tells.
   */
  beginLoad(): void {
    this.#loop.reset();
    this.#loop.enable();
  }

  endRun(): void {
    this.#loop.disable();
    this.#workerCpu.clear();
  }

  /** Delay of a worker's loop, as its slice says. */
  workerLoop(delayP99Us: number): void {
    this.#workerLoopUs = Math.max(this.#workerLoopUs, delayP99Us);
  }

  /** What a worker itself says at its end is exact: a sample of /proc after it changes nothing. */
  workerFinished(pid: number, cpuSeconds: number): void {
    this.#workerCpu.set(pid, cpuSeconds);
    this.#finished.add(pid);
  }

  sample({ workerPids, outboxFrames }: HealthSources): AgentHealth {
    let rssBytes = process.memoryUsage.rss();
    for (const pid of workerPids) {
      const worker = readProcess(pid);
      if (worker === undefined) continue;
      if (!this.#finished.has(pid)) this.#workerCpu.set(pid, worker.cpuSeconds);
      rssBytes += worker.rssBytes;
    }
    this.#rssBytesMax = Math.max(this.#rssBytesMax, rssBytes);
    const loopDelayP99Us = Math.max(this.#ownLoopUs(), this.#workerLoopUs);
    this.#workerLoopUs = 0;
    this.#loop.reset();
    return { cpuSeconds: this.cpuSeconds, rssBytes, loopDelayP99Us, outboxFrames };
  }

  /** Since the run began: main process and workers, ended ones included. */
  get cpuSeconds(): number {
    const own = process.cpuUsage(this.#ownCpuAtStart);
    const workers = [...this.#workerCpu.values()].reduce((a, b) => a + b, 0);
    return (own.user + own.system) / 1_000_000 + workers;
  }

  /** Highest sum of main process and workers seen at a sample of this run. */
  get rssBytesMax(): number {
    return this.#rssBytesMax;
  }

  #ownLoopUs(): number {
    const p99Us = this.#loop.percentile(99) / 1000 - RESOLUTION_MS * 1000;
    return Number.isFinite(p99Us) ? Math.max(0, p99Us) : 0;
  }
}

/** Undefined where there is no /proc, or no such process any more. */
function readProcess(pid: number): { cpuSeconds: number; rssBytes: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold blanks and brackets, so fields are counted from behind it (proc(5)): then
    // utime and stime are the 12th and 13th, the resident pages the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [utime, stime, pages] = [fields[11], fields[12], fields[21]].map(Number);
    if (utime === undefined || stime === undefined || pages === undefined) return undefined;
    return { cpuSeconds: (utime + stime) / TICKS_PER_S, rssBytes: pages * PAGE_BYTES };
  } catch {
    return undefined;
  }
}
