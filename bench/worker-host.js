// Drives one real worker process as its agent would, so that a benchmark measures the worker alone.
import { fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { split } from '@squall/core/partition';
import { readPlan } from '@squall/core/plan';

const STATE_DEADLINE_MS = 120_000;
const LEAD_US = 500_000;
const agentPackage = dirname(createRequire(import.meta.url).resolve('@squall/agent/package.json'));
const WORKER_ENTRY = join(agentPackage, 'dist/worker/main.js');

/** µs of CLOCK_MONOTONIC, the clock that all processes of a host share. */
export function monotonicUs() {
  return Number(process.hrtime.bigint() / 1000n);
}

/**
 * Forks a worker with the whole plan as its share.
 * @param {string} planText the plan, as YAML
 * @param {{ execArgv?: string[], files?: Record<string, string> }} [options] e.g. heap flags of the process;
 *   contents of the files that the plan names, base64
 */
export async function startWorker(planText, { execArgv = [], files = {} } = {}) {
  const read = readPlan(planText, { fileName: 'bench.yaml' });
  if (!read.ok) throw new Error(read.errors.map((problem) => problem.message).join('\n'));
  const { plan } = read;
  const child = fork(WORKER_ENTRY, [], {
    serialization: 'advanced',
    execArgv,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const worker = new WorkerHost(child);
  await worker.message((m) => m.type === 'hello');
  const sizes = plan.groups.map((group) => group.clients);
  const [share] = split(sizes, [{ agent: 'bench', workers: 1 }]);
  child.send({
    type: 'init',
    run: 'bench-run',
    shortRun: 'bench',
    agent: 'bench',
    worker: 0,
    plan,
    ranges: share.workers[0].groups,
    secrets: {},
    files,
    rows: {},
    clockDomain: 1,
  });
  const answer = await worker.message((m) => m.type === 'ready' || m.type === 'refused');
  if (answer.type === 'refused') throw new Error(answer.reasons.join('\n'));
  return worker;
}

class WorkerHost {
  #waiting = new Set();
  #ended;
  /** Slices in the order in which they came, with the moment of their arrival. */
  slices = [];

  constructor(child) {
    this.child = child;
    this.pid = child.pid;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? code));
    });
    child.on('message', (message) => {
      if (message.type === 'slice') this.slices.push(message.slice);
      // The pages of the ledger are nothing to a benchmark, but the worker ends only when all are taken.
      if (message.type === 'ledger') child.send({ type: 'next_page' });
      for (const waiter of this.#waiting) waiter(message);
    });
  }

  /** The next message that `matches`. */
  message(matches) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error('the worker did not answer in time')),
        STATE_DEADLINE_MS,
      );
      const waiter = (message) => {
        if (!matches(message)) return;
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        resolve(message);
      };
      this.#waiting.add(waiter);
      void this.#ended.then((how) => reject(new Error(`the worker ended: ${how}`)));
    });
  }

  /** Enters a stage and waits until the worker says that it is complete. */
  async completeStage(stage) {
    const complete = this.message((m) => m.type === 'stage_state' && m.stage === stage);
    this.enterStage(stage);
    return complete;
  }

  enterStage(stage) {
    this.child.send({ type: 'advance', stage, atUs: monotonicUs() + LEAD_US });
  }

  /** Growth of a counter over the slices from `from` on. */
  sum(metric, from = 0) {
    let total = 0;
    for (const slice of this.slices.slice(from)) {
      for (const series of slice.series) if (series.metric === metric) total += series.value ?? 0;
    }
    return total;
  }

  /** Resolves when the next slice has come: the moment at which figures and slices agree. */
  async nextSlice() {
    await this.message((m) => m.type === 'slice');
  }

  async stop() {
    this.child.send({ type: 'stop', mode: 'hard' });
    this.child.send({ type: 'finish' });
    const killer = setTimeout(() => this.child.kill('SIGKILL'), 10_000);
    await this.#ended;
    clearTimeout(killer);
  }
}
