import { fileURLToPath } from 'node:url';
import type { LedgerPage } from '@squall/core/ledger/worker';
import { type ClientRange, type GroupRows, rowsOf, type WorkerShare } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import type { FromWorker, ToWorker } from '../worker/ipc.ts';
import type { AgentLimits } from './limits.ts';
import { monotonicUs } from './monotonic.ts';
import { WorkerProcess } from './worker-process.ts';

/** The worker program of this package, beside the compiled form of this file. */
export const WORKER_ENTRY = fileURLToPath(new URL('../worker/main.js', import.meta.url));

export type WorkerReport = Exclude<FromWorker, { type: 'hello' | 'ready' | 'refused' | 'ledger' }>;
type Init = Extract<ToWorker, { type: 'init' }>;

export interface WorkerPoolOptions {
  readonly entry: string;
  readonly shares: readonly WorkerShare[];
  /** All of `init` that is the same for every worker. */
  readonly init: Omit<Init, 'type' | 'worker' | 'ranges' | 'plan'>;
  readonly limits: AgentLimits;
  report(worker: number, pid: number, report: WorkerReport): void;
  /** A page of a worker's ledger. The worker makes the next one when `taken` was called. */
  page(page: LedgerPage, taken: () => void): void;
  /** A worker that was ready is gone before its work was done. Called after its last report. */
  lost(worker: number, reason: string): void;
}

const hasStarted = ({ state }: Member) => state !== 'starting';
const isDone = ({ state, givesLedger }: Member) => state !== 'ready' || givesLedger;
const isPrepared = ({ state }: Member) => state !== 'starting' && state !== 'preparing';

type WorkerState = 'starting' | 'preparing' | 'ready' | 'finished' | 'gone';

interface Member {
  readonly index: number;
  readonly process: WorkerProcess;
  state: WorkerState;
  heardUs: number;
  /** It was told to finish, and the rest of its ledger is on its way. */
  givesLedger: boolean;
}

/** The worker processes of one run: started, prepared, told, watched, and ended without a trace. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #members: Member[] = [];
  readonly #refusals: string[] = [];
  readonly #waiters = new Set<() => void>();
  readonly #atExit = () => this.#killAll('SIGKILL');
  #watchTimer: NodeJS.Timeout | undefined;
  /** What the workers are told to run. */
  #plan: Plan | null = null;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /**
   * Starts every worker and hands it its share of the plan. Empty: all are ready; else the reasons
   * why not.
   */
  async prepare(plan: Plan): Promise<string[]> {
    const { limits, shares } = this.#options;
    process.once('exit', this.#atExit);
    this.#plan = plan;
    for (let index = 0; index < shares.length; index++) this.#members.push(this.#start(index));
    await this.#until(() => this.#members.every(hasStarted), limits.workerHelloUs);
    if (this.#refusals.length === 0) this.#blame(hasStarted, 'did not start', limits.workerHelloUs);
    if (this.#refusals.length === 0) {
      await this.#until(() => this.#members.every(isPrepared), limits.workerReadyUs);
      this.#blame(isPrepared, 'was not ready', limits.workerReadyUs);
    }
    return this.#refusals;
  }

  /** Workers that may still report: ready, not finished, not gone. */
  working(): number[] {
    return this.#members.filter(({ state }) => state === 'ready').map(({ index }) => index);
  }

  /** Process ids of all that still run. */
  pids(): number[] {
    return this.#members.flatMap(({ process: { ended, pid } }) =>
      ended || pid === undefined ? [] : [pid],
    );
  }

  send(message: ToWorker): void {
    for (const { state, process: worker } of this.#members) {
      if (state === 'ready') worker.send(message);
    }
  }

  /** From now on every worker sends a slice each second; one that does not is given up. */
  watch(): void {
    const { workerWatchUs, workerSilenceUs } = this.#options.limits;
    let tickUs = monotonicUs();
    for (const member of this.#members) member.heardUs = tickUs;
    clearInterval(this.#watchTimer);
    this.#watchTimer = setInterval(() => {
      const nowUs = monotonicUs();
      // When this process itself stood still, what the workers sent lies unread: that is no silence.
      const stoodStill = nowUs - tickUs > 2 * workerWatchUs + 1_000_000;
      tickUs = nowUs;
      for (const member of this.#members) {
        if (stoodStill) member.heardUs = nowUs;
        if (member.state !== 'ready' || nowUs - member.heardUs < workerSilenceUs) continue;
        this.#giveUp(member, `silent for ${seconds(workerSilenceUs)}`);
      }
    }, workerWatchUs / 1000);
  }

  /** Tells all to finish and waits until each has finished or is gone. */
  async finish(): Promise<void> {
    const { ledgerUs, workerFinishUs } = this.#options.limits;
    clearInterval(this.#watchTimer);
    // Pages before this are of what was sent.
    for (const member of this.#members) member.givesLedger = false;
    this.send({ type: 'finish' });
    await this.#until(() => this.#members.every(isDone), workerFinishUs);
    for (const member of this.#members) {
      if (!isDone(member)) this.#giveUp(member, `did not finish within ${seconds(workerFinishUs)}`);
    }
    // Pages wait for room on the bus: whoever has given its first one is given more time.
    await this.#until(() => this.working().length === 0, ledgerUs);
    for (const member of this.#members) {
      if (member.state !== 'ready') continue;
      this.#giveUp(member, `its ledger found no room within ${seconds(ledgerUs)}`);
    }
  }

  /** Ends whatever still runs: by SIGTERM, after a deadline by SIGKILL. Resolves when all are gone. */
  async end(): Promise<void> {
    const { workerExitUs } = this.#options.limits;
    const allEnded = () => this.#members.every(({ process: worker }) => worker.ended);
    clearInterval(this.#watchTimer);
    for (const member of this.#members) {
      // Those that finished are on their way out already.
      if (member.state !== 'finished') member.process.kill('SIGTERM');
      member.state = 'gone';
    }
    await this.#until(allEnded, workerExitUs);
    this.#killAll('SIGKILL');
    await this.#until(allEnded, workerExitUs);
    process.off('exit', this.#atExit);
  }

  #start(index: number): Member {
    const { entry, limits } = this.#options;
    const member: Member = {
      index,
      state: 'starting',
      heardUs: monotonicUs(),
      givesLedger: false,
      process: new WorkerProcess({
        entry,
        stderrTailBytes: limits.stderrTailBytes,
        message: (message) => this.#receive(member, message),
        ended: (reason) => this.#ended(member, reason),
      }),
    };
    return member;
  }

  #receive(member: Member, message: FromWorker): void {
    member.heardUs = monotonicUs();
    switch (message.type) {
      case 'hello':
        this.#greeted(member);
        break;
      case 'ready':
        if (member.state === 'preparing') member.state = 'ready';
        break;
      case 'refused':
        this.#refusals.push(...message.reasons);
        member.state = 'gone';
        break;
      case 'ledger':
        if (member.state !== 'ready') return;
        member.givesLedger = true;
        this.#options.page(message.page, () => member.process.send({ type: 'next_page' }));
        break;
      case 'started':
      case 'stage_state':
      case 'slice':
      case 'finished':
        if (member.state !== 'ready') return;
        this.#options.report(member.index, member.process.pid ?? 0, message);
        if (message.type === 'finished') member.state = 'finished';
    }
    this.#wake();
  }

  #greeted(member: Member): void {
    if (member.state !== 'starting' || this.#plan === null) return;
    member.state = 'preparing';
    const { init, shares } = this.#options;
    const plan = this.#plan;
    const ranges = shares[member.index]?.groups ?? [];
    const rows = ownRows(plan, init.rows, ranges);
    member.process.send({ type: 'init', ...init, plan, worker: member.index, ranges, rows });
  }

  #ended(member: Member, reason: string): void {
    const before = member.state;
    member.state = 'gone';
    if (before === 'ready') this.#options.lost(member.index, reason);
    if (before === 'starting' || before === 'preparing') {
      this.#refusals.push(`worker ${member.index} ended before it was ready: ${reason}`);
    }
    this.#wake();
  }

  #giveUp(member: Member, reason: string): void {
    member.state = 'gone';
    member.process.kill('SIGKILL');
    this.#options.lost(member.index, reason);
  }

  #blame(innocent: (member: Member) => boolean, what: string, deadlineUs: number): void {
    for (const member of this.#members) {
      if (innocent(member)) continue;
      this.#refusals.push(`worker ${member.index} ${what} within ${seconds(deadlineUs)}`);
    }
  }

  #killAll(signal: 'SIGTERM' | 'SIGKILL'): void {
    for (const { process: worker } of this.#members) worker.kill(signal);
  }

  /** Resolves when the condition holds or the deadline has passed; the caller looks which. */
  #until(condition: () => boolean, deadlineUs: number): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (condition()) done();
      };
      const timer = setTimeout(() => done(), deadlineUs / 1000);
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve();
      };
      this.#waiters.add(check);
      check();
    });
  }

  #wake(): void {
    for (const check of this.#waiters) check();
  }
}

/** Each worker gets the rows of its own clients. */
function ownRows(
  plan: Plan,
  rows: Init['rows'],
  ranges: readonly ClientRange[],
): Record<string, GroupRows> {
  const own: Record<string, GroupRows> = {};
  for (const [index, { name }] of plan.groups.entries()) {
    const all = rows[name];
    const range = ranges[index];
    if (all !== undefined && range !== undefined) own[name] = rowsOf(all, range);
  }
  return own;
}

function seconds(us: number): string {
  return `${us / 1_000_000} s`;
}
