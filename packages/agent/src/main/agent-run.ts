import { ClockMapping, peersOf } from '@squall/core/clock';
import type { AgentFacts, CleanedGroup, FromController } from '@squall/core/control';
import { clockDomainHash } from '@squall/core/stamp';
import { formatDuration } from '@squall/core/units';
import { refusals as hostRefusals } from '../host/examine.ts';
import { withOwnSources } from '../host/source-addresses.ts';
import { readHost } from '../host/host-reading.ts';
import { type BusEnd, busEndFor, troubleOf } from './bus-end.ts';
import { BusVoice } from './bus-voice.ts';
import { cleanUp } from './clean-up.ts';
import type { ClockKeeper } from './clock-keeper.ts';
import { FrameOutlet } from './frame-outlet.ts';
import type { Health } from './health.ts';
import type { AgentLimits } from './limits.ts';
import type { Link } from './link.ts';
import type { AgentLogger } from './options.ts';
import { RunJournal } from './run-journal.ts';
import { SliceMerger } from './slice-merger.ts';
import { StageStates } from './stage-states.ts';
import { StartSkew } from './start-skew.ts';
import { WorkerPool, type WorkerReport } from './worker-pool.ts';

export type Assign = Extract<FromController, { type: 'assign' }>;
/** What the controller says to an agent in a run. */
export type RunOrder = Exclude<Extract<FromController, { run: string }>, Assign>;

/**
 * `preparing`: workers are started. `ready`: waiting for the first `advance`. `running`: load.
 * `finishing`: workers disconnect and send the last slices. `reporting`: waiting until every frame is
 * acknowledged and the controller says `release`. Each state but `over` has a deadline.
 */
type RunState = 'preparing' | 'ready' | 'running' | 'finishing' | 'reporting' | 'over';

export interface AgentRunOptions {
  readonly assign: Assign;
  readonly facts: AgentFacts;
  readonly link: Link;
  readonly clock: ClockKeeper;
  readonly health: Health;
  readonly logger: AgentLogger;
  readonly limits: AgentLimits;
  readonly workerEntry: string;
  /** Why the share cannot be carried here. */
  readonly refused: (reasons: readonly string[]) => void;
}

/** Node's longest timer. A run of more than 24 days is ended by its controller alone. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** One run on this agent, from `assign` to `release`. */
export class AgentRun {
  readonly over: Promise<void>;
  readonly #options: AgentRunOptions;
  readonly #pool: WorkerPool;
  readonly #sender: BusEnd;
  readonly #busVoice: BusVoice;
  readonly #outlet: FrameOutlet;
  readonly #merger: SliceMerger;
  readonly #states: StageStates;
  readonly #journal: RunJournal;
  readonly #skew: StartSkew;
  #state: RunState = 'preparing';
  #deadline: NodeJS.Timeout | undefined;
  #mapping: ClockMapping | null = null;
  #advancedTo = -1;
  #clockedTo = -1;
  #leaving = false;
  #abandoned = false;
  #stopped: 'graceful' | 'hard' | null = null;
  #workerRssBytes = 0;
  readonly #cleaning = new AbortController();
  #resolveOver: () => void = () => undefined;

  constructor(options: AgentRunOptions) {
    const { assign, facts, limits, link, logger } = options;
    this.#options = options;
    this.over = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
    const voice = new BusVoice({ ...this.id, logger, send: (state) => void link.send(state) });
    this.#busVoice = voice;
    this.#sender = busEndFor({ assign, link, lost: (frames) => this.#busLost(frames) });
    this.#outlet = new FrameOutlet({
      sender: this.#sender,
      run: assign.run,
      epoch: assign.epoch,
      agent: assign.share.agent,
      retryUs: limits.sendRetryUs,
      ledgerFrames: limits.ledgerFrames,
      // Where the link itself is the bus, the controller sees by itself that it is cut.
      ...(assign.bus.kind === 'link' ? {} : { watch: voice }),
    });
    this.#pool = new WorkerPool({
      entry: options.workerEntry,
      shares: assign.share.workers,
      limits,
      init: {
        run: assign.run,
        shortRun: assign.shortRun,
        agent: assign.share.agent,
        secrets: assign.secrets,
        files: assign.files ?? {},
        rows: assign.rows ?? {},
        clockDomain: clockDomainHash(facts.clockDomain),
      },
      report: (worker, pid, report) => this.#reported(worker, pid, report),
      page: (page, taken) => {
        // Of a run that is given up nothing is reported, but its workers are not kept waiting.
        if (this.#abandoned) taken();
        else this.#outlet.pushPage(page, taken);
      },
      lost: (worker, reason) => this.#lostWorker(worker, reason),
    });
    this.#merger = new SliceMerger({
      limits,
      working: () => this.#pool.working(),
      emit: (slice) => this.#outlet.push(slice),
    });
    const journal = new RunJournal(link, this.id);
    this.#journal = journal;
    this.#states = new StageStates((state) => journal.say({ type: 'stage_state', ...state }));
    this.#skew = new StartSkew((skewUs) => journal.say({ type: 'started', skewUs }));
  }

  get id(): { run: string; epoch: number } {
    return { run: this.#options.assign.run, epoch: this.#options.assign.epoch };
  }

  /** False once it is over or given up: then the controller's word about it counts no more. */
  get isActive(): boolean {
    return this.#state !== 'over' && !this.#abandoned;
  }

  get agentGraceUs(): number {
    return this.#options.assign.plan.limits.agentGraceUs;
  }

  /** For the agent's health: what still runs, what still waits. */
  get workerPids(): number[] {
    return this.#pool.pids();
  }

  get outboxFrames(): number {
    return this.#outlet.waiting;
  }

  /** Checks share and bus, starts the workers, sets the clock: answers `ready` or `refused`. */
  async begin(): Promise<void> {
    const { assign, clock, health, limits } = this.#options;
    const { plan, share } = assign;
    health.beginRun();
    const own = await withOwnSources(plan);
    if (this.#state !== 'preparing') return;
    const problems = [...own.problems, ...hostRefusals(readHost(), own.plan, share)];
    if (problems.length > 0) return this.#refuse(problems);
    const [refusals, synchronised, busTrouble] = await Promise.all([
      this.#pool.prepare(own.plan),
      clock.synchronise(limits.clockReadyUs),
      troubleOf(this.#sender),
    ]);
    if (this.#state !== 'preparing') return;
    if (busTrouble !== null) return this.#refuse([busTrouble]);
    if (refusals.length > 0) return this.#refuse(refusals);
    if (!synchronised) {
      return this.#refuse(['the controller answered no clock probe']);
    }
    this.#enter('ready', limits.startUs, () => {
      void this.#refuse([`no start came within ${limits.startUs / 1_000_000} s`]);
    });
    this.#journal.say({ type: 'ready' });
  }

  receive(order: RunOrder): void {
    switch (order.type) {
      case 'advance':
        this.#advance(order.stage, order.at);
        return;
      case 'clock':
        if (this.#state !== 'running' || order.stage <= this.#clockedTo) return;
        this.#clockedTo = order.stage;
        this.#pool.send({ type: 'clock', stage: order.stage, atUs: this.#toAgentUs(order.at) });
        return;
      case 'clocks':
        this.#seeClocks(order);
        return;
      case 'stop':
        this.#stop(order.mode);
        return;
      case 'finish':
        void this.#finish('asked');
        return;
      case 'frame_ack':
        this.#sender.acknowledged(order.seq);
        return;
      case 'frame_resend':
        this.#outlet.resend();
        return;
      case 'release':
        void this.#end();
    }
  }

  /** The link is back and the controller knows the run: nothing said meanwhile may be missing. */
  resumed(): void {
    this.#journal.repeat();
    this.#busVoice.repeat();
    this.#outlet.resend();
  }

  /** Ends the load gracefully, reports what was measured, leaves. */
  async leave(): Promise<void> {
    if (this.#state === 'preparing' || this.#state === 'ready') {
      await this.#refuse(['the agent was told to leave']);
      return;
    }
    this.#leaving = true;
    if (this.#state === 'running') {
      const { limits, assign } = this.#options;
      this.#stop('graceful');
      const drainUs = assign.plan.drainUs + limits.leaveMarginUs;
      this.#enter('running', drainUs, () => void this.#finish('early'));
    } else if (this.#state === 'reporting') {
      await this.#deliver();
      await this.#end();
    }
    await this.over;
  }

  /** Stops the load at once and reports to nobody: the controller is gone, or the run is. */
  async abandon(reason: string): Promise<void> {
    if (!this.isActive) return this.over;
    this.#abandoned = true;
    this.#options.logger.warn(`run ${this.id.run} is given up: ${reason}`);
    if (this.#state === 'running') {
      this.#stop('hard');
      this.#enter('finishing', this.#options.limits.workerFinishUs * 2, () => void this.#end());
      await this.#pool.finish();
    }
    await this.#end();
  }

  #advance(stage: number, at: number): void {
    if (this.#state !== 'ready' && this.#state !== 'running') return;
    if (stage <= this.#advancedTo) return;
    if (this.#state === 'ready') this.#run();
    this.#advancedTo = stage;
    this.#pool.send({ type: 'advance', stage, atUs: this.#toAgentUs(at) });
  }

  /** The clock's mapping is fixed here: a schedule never moves because an estimate got better. */
  #run(): void {
    const { assign, clock, health, limits, logger } = this.#options;
    const { plan } = assign;
    const estimate = clock.estimate();
    this.#mapping = estimate === null ? null : new ClockMapping(estimate);
    const mostUs = plan.limits.maxDurationUs + plan.drainUs + plan.settle.maxUs;
    this.#enter('running', mostUs + limits.runMarginUs, () => {
      logger.warn(`run ${assign.run} is longer than its plan allows: its load is ended here`);
      void this.leave();
    });
    this.#pool.watch();
    health.beginLoad();
  }

  /** What comes from hosts with other clocks is timed by this; due times never move by it. */
  #seeClocks(order: Extract<RunOrder, { type: 'clocks' }>): void {
    const view = peersOf(clockDomainHash(this.#options.facts.clockDomain), order);
    if (view !== null) this.#pool.send({ type: 'clocks', ...view });
  }

  #busLost(frames: number): void {
    this.#busVoice.lost(frames);
    this.#outlet.resend();
  }

  #toAgentUs(controllerUs: number): number {
    return this.#mapping?.toAgentUs(controllerUs) ?? controllerUs;
  }

  #reported(worker: number, pid: number, report: WorkerReport): void {
    switch (report.type) {
      case 'started':
        this.#skew.started(worker, report.skewUs, this.#pool.working());
        return;
      case 'stage_state':
        this.#states.reached(worker, report, this.#pool.working());
        if (this.#leaving && report.state === 'drained') this.#leaveWhenDrained();
        return;
      case 'slice':
        this.#options.health.workerLoop(report.loopDelayP99Us);
        this.#merger.add(worker, report.slice);
        return;
      case 'finished':
        this.#options.health.workerFinished(pid, report.cpuSeconds);
        this.#workerRssBytes += report.rssBytesMax;
    }
  }

  #lostWorker(worker: number, reason: string): void {
    if (this.#state === 'over') return;
    if (this.#state === 'preparing' || this.#state === 'ready') {
      void this.#refuse([`worker ${worker} was lost before the start: ${reason}`]);
      return;
    }
    this.#options.logger.warn(`worker ${worker} of run ${this.id.run} is lost: ${reason}`);
    this.#journal.say({ type: 'worker_lost', worker, reason: reason.slice(0, 1024) });
    this.#merger.review();
    const working = this.#pool.working();
    this.#states.review(working);
    this.#skew.review(working);
    if (this.#leaving) this.#leaveWhenDrained();
    // With nobody left to wait for, what there is is all there will be.
    if (working.length === 0) void this.#finish('early');
  }

  #leaveWhenDrained(): void {
    if (this.#states.allReached('drained', this.#pool.working())) void this.#finish('early');
  }

  /** A stop is told once: after a cut link the controller repeats its orders. */
  #stop(mode: 'graceful' | 'hard'): void {
    if (this.#state === 'preparing' || this.#state === 'ready') void this.#finish('asked');
    if (mode === 'hard') this.#cleaning.abort('the run was cut off');
    if (this.#state !== 'running' || this.#stopped === mode || this.#stopped === 'hard') return;
    this.#stopped = mode;
    this.#pool.send({ type: 'stop', mode });
  }

  /** Ends the workers in order, sends what is left, says `finished`. */
  async #finish(why: 'asked' | 'early'): Promise<void> {
    if (this.#state !== 'ready' && this.#state !== 'running' && this.#state !== 'preparing') return;
    const { health, limits, logger } = this.#options;
    // The pool's own deadlines end this state earlier; this one is for a fault of ours.
    const mostUs = 2 * limits.workerFinishUs + limits.ledgerUs + this.#cleanupUs();
    this.#enter('finishing', mostUs, () => void this.#end());
    await this.#pool.finish();
    this.#merger.flush();
    await this.#pool.end();
    const isCalm = why === 'asked' && !this.#cleaning.signal.aborted;
    const cleaned = isCalm ? await this.#cleanUp() : null;
    // One that goes before it is asked to is given up at `finished`: its measurements go first.
    if (why === 'early') await this.#deliver();
    if (!this.isActive) return;
    this.#enter('reporting', limits.releaseUs, () => {
      logger.warn(`run ${this.id.run} was not released: ${this.#outlet.waiting} frames are left`);
      void this.#end();
    });
    this.#journal.say({
      type: 'finished',
      lastSeq: this.#outlet.lastSeq,
      cpuSeconds: health.cpuSeconds,
      rssBytesMax: Math.round(Math.max(health.rssBytesMax, this.#ownAndWorkersRss())),
      ...(cleaned === null ? {} : { cleaned }),
    });
    if (this.#leaving) await this.#end();
  }

  /** Null where the plan wants nothing removed. A hard stop ends it at once, as `cleanup.max` does. */
  async #cleanUp(): Promise<CleanedGroup[] | null> {
    const { assign, logger } = this.#options;
    const maxMs = (assign.plan.cleanup?.maxUs ?? 0) / 1_000;
    const late = `cleanup.max of ${formatDuration(maxMs * 1_000)} was over`;
    const timer = setTimeout(() => this.#cleaning.abort(late), Math.min(maxMs, MAX_TIMER_MS));
    try {
      return await cleanUp({ assign, logger }, this.#cleaning.signal);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      logger.warn(`cleanup of run ${assign.run}: ${why}`);
      return [];
    } finally {
      clearTimeout(timer);
    }
  }

  /** What it may take at most. */
  #cleanupUs(): number {
    const { assign, limits } = this.#options;
    const { cleanup } = assign.plan;
    return cleanup === null ? 0 : cleanup.maxUs + limits.cleanupMarginUs;
  }

  #ownAndWorkersRss(): number {
    return process.memoryUsage.rss() + this.#workerRssBytes;
  }

  /** Resolves when every frame is acknowledged, or when that takes too long. */
  async #deliver(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.limits.deliverUs / 1000);
    });
    await Promise.race([this.#outlet.allAcknowledged(), tooLong]);
    clearTimeout(timer);
  }

  async #refuse(reasons: readonly string[]): Promise<void> {
    for (const reason of reasons) this.#options.logger.warn(`refused: ${reason}`);
    this.#options.refused(reasons);
    this.#journal.say({ type: 'refused', reasons: [...reasons] });
    await this.#end();
  }

  /** The last step of every run: nothing of it is left in this process or beside it. */
  async #end(): Promise<void> {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#cleaning.abort();
    clearTimeout(this.#deadline);
    this.#merger.close();
    await this.#pool.end();
    await this.#outlet.close();
    this.#options.health.endRun();
    this.#resolveOver();
  }

  #enter(state: RunState, deadlineUs: number, late: () => void): void {
    if (this.#state === 'over') return;
    this.#state = state;
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(late, Math.min(deadlineUs / 1000, MAX_TIMER_MS));
  }
}
