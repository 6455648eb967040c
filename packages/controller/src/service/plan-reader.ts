import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { SquallError } from '@squall/core/errors';
import type { ReadPlan, ReadPlanOptions } from '@squall/core/plan';
import { MAX_READERS, MAX_WAITING_READS, READ_MEMORY_MB, READ_TIMEOUT_MS } from './limits.ts';

/** Reads plans that came from outside. */
export interface PlanReader {
  /**
   * As `readPlan`, with the files that the plan names, in base64; null: they are not looked at. What is
   * in them does not come back.
   * @throws SquallError SQ_PLAN for a text that takes too long or too much memory, SQ_BUSY where too
   * many wait.
   */
  read(
    text: string,
    options: Omit<ReadPlanOptions, 'files'>,
    files: Readonly<Record<string, string>> | null,
  ): Promise<ReadPlan>;
}

/** What a thread is given. */
export interface ReadTask {
  readonly text: string;
  readonly options: Omit<ReadPlanOptions, 'files'>;
  /** In base64; null: they are not looked at. */
  readonly files: Readonly<Record<string, string>> | null;
}

/** The program of a thread, beside the compiled form of this file. */
const THREAD = fileURLToPath(new URL('plan-thread.js', import.meta.url));

/**
 * Reads each plan in a thread of its own. The runs that go on must not feel it: a plan of a few hundred
 * kilobytes can be made to take minutes, and nobody but its reader waits for it here.
 */
export class ThreadPlanReader implements PlanReader {
  readonly #waiting: (() => void)[] = [];
  #reading = 0;

  async read(
    text: string,
    options: Omit<ReadPlanOptions, 'files'>,
    files: Readonly<Record<string, string>> | null,
  ): Promise<ReadPlan> {
    await this.#turn();
    try {
      return await readInThread({ text, options, files });
    } finally {
      this.#reading--;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#reading >= MAX_READERS) {
      if (this.#waiting.length >= MAX_WAITING_READS) {
        throw new SquallError('SQ_BUSY', 'too many plans are being read', { hint: 'try again' });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#reading++;
  }
}

function readInThread(task: ReadTask): Promise<ReadPlan> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(THREAD, {
      workerData: task,
      resourceLimits: { maxOldGenerationSizeMb: READ_MEMORY_MB },
    });
    const patience = setTimeout(() => end(tooMuch('time')), READ_TIMEOUT_MS);
    const end = (outcome: ReadPlan | Error) => {
      clearTimeout(patience);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
      void thread.terminate();
    };
    thread.once('message', end);
    thread.once('exit', (code) => end(new Error(`the reader of a plan ended with ${code}`)));
    thread.once('error', (error) => end(outOfMemory(error) ? tooMuch('memory') : error));
  });
}

function outOfMemory(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
}

function tooMuch(what: string): SquallError {
  return new SquallError('SQ_PLAN', `the plan takes too much ${what} to read`, {
    hint: 'plans have a few hundred lines; data belongs into templates, not into lists',
  });
}
