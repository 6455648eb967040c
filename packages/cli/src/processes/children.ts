import { type ChildProcess, fork } from 'node:child_process';

/** Child processes at a time: agents and a broker on one machine. */
const MAX_CHILDREN = 256;
/** From SIGTERM to SIGKILL. */
const PATIENCE_MS = 3_000;
/** Last lines that a child wrote, kept to explain its death. */
const MAX_LINES_KEPT = 40;
const MAX_LINE_LENGTH = 2_000;

export interface ChildSpec {
  /** `agent-3`, `broker`: what messages call it. */
  readonly name: string;
  /** Arguments of this same program. */
  readonly args: readonly string[];
  /** Added to the environment: secrets belong here, arguments can be read by everybody. */
  readonly env?: Readonly<Record<string, string>>;
  onMessage?(message: unknown): void;
  /** Called once, when the process is gone, whether asked to or not. */
  onEnd(end: ChildEnd): void;
}

export interface ChildEnd {
  readonly name: string;
  readonly pid: number;
  /** True: it was told to end. */
  readonly asked: boolean;
  /** `exit code 3`, `signal SIGKILL`. */
  readonly how: string;
  /** The last lines that it wrote. */
  readonly lastLines: readonly string[];
}

/**
 * The child processes of this one. Each is this same program in a session of its own, so that a
 * Ctrl-C in the terminal reaches this process alone, which then ends the children in order. They see
 * by the closed IPC channel when this process is gone, however it went.
 */
export class Children {
  readonly #program: string;
  readonly #running = new Map<number, { process: ChildProcess; asked: boolean }>();

  constructor(program: string) {
    this.#program = program;
    // The last net under every way out of this process but SIGKILL.
    process.on('exit', () => this.killAll());
  }

  /** @throws RangeError beyond `MAX_CHILDREN`. Returns the pid. */
  start(spec: ChildSpec): number {
    if (this.#running.size >= MAX_CHILDREN) {
      throw new RangeError(`more than ${MAX_CHILDREN} child processes`);
    }
    const child = fork(this.#program, spec.args, {
      detached: true,
      execArgv: [],
      env: { ...process.env, ...spec.env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const pid = child.pid ?? -1;
    const entry = { process: child, asked: false };
    const lines = new LastLines();
    child.stdout?.on('data', (text: Buffer) => lines.add(text));
    child.stderr?.on('data', (text: Buffer) => lines.add(text));
    child.on('message', (message) => spec.onMessage?.(message));
    this.#running.set(pid, entry);
    let over = false;
    const end = (how: string): void => {
      if (over) return;
      over = true;
      this.#running.delete(pid);
      spec.onEnd({ name: spec.name, pid, asked: entry.asked, how, lastLines: lines.all() });
    };
    child.once('error', (error) => end(error.message));
    child.once('close', (code, signal) => {
      end(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
    return pid;
  }

  /** Asks every child to end, and ends those that do not within `PATIENCE_MS`. */
  async endAll(): Promise<void> {
    const waits = [...this.#running.values()].map((entry) => {
      entry.asked = true;
      return endOne(entry.process);
    });
    await Promise.all(waits);
  }

  /** Ends every child at once. */
  killAll(): void {
    for (const entry of this.#running.values()) {
      entry.asked = true;
      entry.process.kill('SIGKILL');
    }
  }
}

function endOne(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const patience = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
    child.once('close', () => {
      clearTimeout(patience);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** A bounded memory of what a process wrote last. */
class LastLines {
  #lines: string[] = [];
  #rest = '';

  add(text: Buffer): void {
    const parts = `${this.#rest}${text.toString('utf8')}`.split('\n');
    this.#rest = (parts.pop() ?? '').slice(0, MAX_LINE_LENGTH);
    const whole = parts.filter((line) => line.trim() !== '');
    this.#lines = [...this.#lines, ...whole].slice(-MAX_LINES_KEPT);
  }

  all(): string[] {
    return this.#rest.trim() === '' ? [...this.#lines] : [...this.#lines, this.#rest];
  }
}
