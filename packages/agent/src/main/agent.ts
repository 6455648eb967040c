import {
  type AgentFacts,
  type AgentHealth,
  CONTROL_PROTOCOL,
  type FromController,
} from '@squall/core/control';
import { SquallError } from '@squall/core/errors';
import { AgentRun, type Assign, type RunOrder } from './agent-run.ts';
import { ClockKeeper } from './clock-keeper.ts';
import { gatherFacts } from './facts.ts';
import { HostFigures } from '../host/host-figures.ts';
import { Health } from './health.ts';
import { type AgentLimits, LIMITS } from './limits.ts';
import { type Hello, Link, type LinkListener, type Rejected, type Welcome } from './link.ts';
import {
  type AgentHandle,
  type AgentLogger,
  type AgentOptions,
  type AgentStatus,
  SILENT,
} from './options.ts';
import { monotonicUs } from './monotonic.ts';
import { WORKER_ENTRY } from './worker-pool.ts';

/**
 * Starts an agent in this process: it dials its controller, and serves one run after the other until
 * it is stopped. Resolves at once; a controller that is not there yet is waited for.
 *
 * @throws SquallError SQ_USAGE for an address, an id or a number of workers that cannot be.
 */
export function startAgent(options: AgentOptions): Promise<AgentHandle> {
  return Promise.resolve().then(() => new Agent(options));
}

class Agent implements AgentHandle, LinkListener {
  readonly closed: Promise<void>;
  readonly #options: AgentOptions;
  readonly #logger: AgentLogger;
  readonly #limits: AgentLimits;
  readonly #facts: AgentFacts;
  readonly #link: Link;
  readonly #clock: ClockKeeper;
  readonly #health = new Health();
  readonly #host = new HostFigures();
  #id: string;
  #run: AgentRun | null = null;
  #lastHealth: AgentHealth | null = null;
  #refusal: string | null = null;
  #refusals = 0;
  #stopping = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #goneTimer: NodeJS.Timeout | undefined;
  #resolveClosed: () => void = () => undefined;
  #rejectClosed: (error: SquallError) => void = () => undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#logger = options.logger ?? SILENT;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#facts = gatherFacts(options);
    this.#id = this.#facts.id;
    this.#link = new Link({
      url: options.controller,
      listener: this,
      logger: this.#logger,
      limits: this.#limits,
    });
    this.#clock = new ClockKeeper(this.#link, this.#limits);
    this.closed = new Promise((resolve, reject) => {
      this.#resolveClosed = resolve;
      this.#rejectClosed = reject;
    });
    // An owner that looks at `closed` late must not find its process ended by a stray rejection.
    this.closed.catch(() => undefined);
    this.#watchForController();
    this.#link.start();
  }

  async stop(): Promise<void> {
    const run = this.#run;
    if (this.#stopping && run !== null) {
      await run.abandon('the agent was told twice to leave');
    } else if (!this.#stopping) {
      this.#stopping = true;
      if (run !== null) await run.leave();
      this.#leave();
    }
    await this.closed.catch(() => undefined);
  }

  status(): AgentStatus {
    const run = this.#activeRun();
    return {
      id: this.#id,
      version: this.#facts.version,
      linkUp: this.#link.isUp,
      run: run?.id.run ?? null,
      workers: run?.workerPids.length ?? 0,
      health: this.#lastHealth,
      refusal: this.#refusal,
      refusals: this.#refusals,
    };
  }

  hello(): Hello {
    const run = this.#activeRun();
    return {
      type: 'hello',
      protocol: CONTROL_PROTOCOL,
      token: this.#options.token,
      // Only in a run must the controller find the agent under the name that it gave.
      agent: { ...this.#facts, id: run === null ? this.#facts.id : this.#id },
      resume: run?.id ?? null,
    };
  }

  up(welcome: Welcome): void {
    this.#id = welcome.agent;
    clearTimeout(this.#goneTimer);
    this.#goneTimer = undefined;
    this.#logger.info(`joined ${this.#options.controller} as ${welcome.agent}`);
    clearInterval(this.#heartbeat);
    this.#heartbeat = setInterval(() => this.#beat(), welcome.heartbeatUs / 1000);
    this.#clock.linkUp();
    this.#activeRun()?.resumed();
  }

  down(): void {
    clearInterval(this.#heartbeat);
    this.#clock.linkDown();
    this.#watchForController();
  }

  message(message: FromController, receivedUs: number): void {
    switch (message.type) {
      case 'clock_answer':
        this.#clock.answered(message, receivedUs);
        return;
      case 'assign':
        this.#assign(message);
        return;
      case 'welcome':
      case 'rejected':
        return;
      case 'advance':
      case 'clock':
      case 'clocks':
      case 'finish':
      case 'stop':
      case 'frame_ack':
      case 'frame_resend':
      case 'release':
        this.#order(message);
    }
  }

  /** Orders of a run that is over here are late, not wrong. */
  #order(order: RunOrder): void {
    const run = this.#activeRun();
    if (run?.id.run === order.run && run.id.epoch === order.epoch) run.receive(order);
  }

  rejected({ code, message }: Rejected): void {
    if (code === 'unknown_run') {
      void this.#activeRun()?.abandon(message);
      return;
    }
    const error = new SquallError(code === 'token' ? 'SQ_TOKEN' : 'SQ_CONTROL', message, {
      path: this.#options.controller,
      hint: HINTS[code],
    });
    void this.#fail(error);
  }

  #activeRun(): AgentRun | null {
    return this.#run?.isActive === true ? this.#run : null;
  }

  #assign(assign: Assign): void {
    const { run, epoch } = assign;
    const before = this.#run;
    if (before?.isActive === false) {
      // Released, but its last processes are still being ended: the next run begins after that.
      void before.over.then(() => this.#assign(assign));
      return;
    }
    if (before?.id.run === run && before.id.epoch === epoch) return;
    const reason = this.#whyNot(before);
    if (reason !== null) {
      const reasons = [`it takes no other run: ${reason}`];
      this.#link.send({ type: 'refused', run, epoch, reasons });
      return;
    }
    this.#logger.info(`assigned to run ${run}`);
    try {
      this.#begin(assign);
    } catch (error) {
      if (!(error instanceof SquallError)) throw error;
      this.#link.send({ type: 'refused', run, epoch, reasons: [error.message] });
    }
  }

  #whyNot(before: AgentRun | null): string | null {
    if (this.#options.observe === true) return 'it only observes its host';
    if (this.#stopping) return 'it is leaving';
    return before && `it is in run ${before.id.run}`;
  }

  /** @throws SquallError for an assignment that nobody could carry out. */
  #begin(assign: Assign): void {
    const agentRun = new AgentRun({
      assign,
      facts: { ...this.#facts, id: this.#id },
      link: this.#link,
      clock: this.#clock,
      health: this.#health,
      logger: this.#logger,
      limits: this.#limits,
      workerEntry: this.#options.workerEntry ?? WORKER_ENTRY,
      refused: (reasons) => {
        this.#refusals += 1;
        this.#refusal = `share of run ${assign.run} refused: ${reasons.join(' · ')}`;
      },
    });
    this.#refusal = null;
    this.#run = agentRun;
    this.#clock.setInRun(true);
    void agentRun.over.then(() => this.#runOver(agentRun));
    agentRun.begin().catch((error: unknown) => {
      void agentRun.abandon(`it could not begin: ${String(error)}`);
    });
  }

  #runOver(run: AgentRun): void {
    this.#logger.info(`run ${run.id.run} is over`);
    if (this.#run === run) this.#run = null;
    this.#clock.setInRun(false);
    if (!this.#link.isUp) this.#watchForController();
  }

  #beat(): void {
    const run = this.#activeRun();
    const health = this.#health.sample({
      workerPids: run?.workerPids ?? [],
      outboxFrames: run?.outboxFrames ?? 0,
    });
    this.#lastHealth = health;
    const host = this.#host.sample(monotonicUs());
    this.#link.send({ type: 'heartbeat', health, ...(host === null ? {} : { host }) });
  }

  /** The link is down: how long may the controller stay away? */
  #watchForController(): void {
    clearTimeout(this.#goneTimer);
    const run = this.#activeRun();
    const graceUs = run?.agentGraceUs ?? this.#limits.idleGoneUs;
    if (run === null && this.#options.whenControllerIsGone !== 'exit') return;
    this.#goneTimer = setTimeout(() => void this.#controllerGone(graceUs), graceUs / 1000);
  }

  async #controllerGone(graceUs: number): Promise<void> {
    const reason = `the controller stayed away for ${graceUs / 1_000_000} s`;
    await this.#activeRun()?.abandon(reason);
    if (this.#options.whenControllerIsGone !== 'exit' || this.#link.isUp) return;
    this.#logger.warn(`${reason}: the agent ends`);
    this.#leave();
  }

  async #fail(error: SquallError): Promise<void> {
    this.#close();
    await this.#activeRun()?.abandon(error.message);
    this.#rejectClosed(error);
  }

  #leave(): void {
    this.#close();
    this.#resolveClosed();
  }

  #close(): void {
    clearTimeout(this.#goneTimer);
    clearInterval(this.#heartbeat);
    this.#clock.close();
    this.#link.close();
  }
}

const HINTS = {
  token:
    'set SQUALL_TOKEN to the token that the controller was started with (or give it by --token-file)',
  protocol:
    'start agent and controller from the same version of Squall; in containers, from the same image',
  id: 'give the agent another name with --id',
} as const;
