import { type ChildProcess, fork } from 'node:child_process';
import { isDescriptorError, RAISE_DESCRIPTORS } from '@squall/core/errors';
import type { FromWorker, ToWorker } from '../worker/ipc.ts';

export interface WorkerProcessOptions {
  /** Program to run. */
  readonly entry: string;
  /** Bytes of standard error kept for the reason of its end. */
  readonly stderrTailBytes: number;
  message(message: FromWorker): void;
  /** Called once, after the last message, with how the process ended. */
  ended(reason: string): void;
}

/** After the exit, how long messages that were sent before it are still read from the channel. */
const LAST_MESSAGES_MS = 1_000;

/** One worker process: its channel, its end, and what it last wrote to standard error. */
export class WorkerProcess {
  readonly #child: ChildProcess;
  readonly #options: WorkerProcessOptions;
  #stderr = '';
  #exit: string | undefined;
  #channelOpen = true;
  #ended = false;

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
    this.#child = fork(options.entry, [], {
      serialization: 'advanced',
      // Flags of this process (a debugger's port, a test runner's loader) are not the worker's.
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-options.stderrTailBytes);
    });
    this.#child.on('message', (message) => {
      if (isFromWorker(message)) options.message(message);
    });
    this.#child.on('error', (error) => {
      const hint = isDescriptorError(error) ? `; ${RAISE_DESCRIPTORS}` : '';
      this.#exited(`could not be run: ${error.message}${hint}`);
    });
    this.#child.on('exit', (code, signal) => this.#exited(describeExit(code, signal)));
    this.#child.on('disconnect', () => {
      this.#channelOpen = false;
      if (this.#exit !== undefined) this.#end();
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** A message to a process that is gone is dropped: its end is told by `ended`. */
  send(message: ToWorker): void {
    if (!this.#child.connected) return;
    this.#child.send(message, () => undefined);
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    if (this.#exit === undefined) this.#child.kill(signal);
  }

  #exited(reason: string): void {
    if (this.#exit !== undefined) return;
    this.#exit = reason;
    if (!this.#channelOpen || this.#child.pid === undefined) this.#end();
    else setTimeout(() => this.#end(), LAST_MESSAGES_MS).unref();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    const said = lastLines(this.#stderr);
    this.#options.ended(said === '' ? `${this.#exit}` : `${this.#exit}: ${said}`);
  }
}

/** Both ends are one version of one package: only what is not ours at all is kept out. */
function isFromWorker(message: unknown): message is FromWorker {
  return typeof message === 'object' && message !== null && 'type' in message;
}

function describeExit(code: number | null, signal: string | null): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

/** What a person looks for in a crash: the error's own line, else the last one. */
function lastLines(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const error = lines.findLast((line) => /^\w*Error\b/.test(line.trim()));
  return (error ?? lines.at(-1) ?? '').trim().slice(0, 500);
}
