import type { BusReceiver, RunBus } from '@squall/core/bus';
import { SquallError } from '@squall/core/errors';
import type { Plan } from '@squall/core/plan';
import { buildReport, type Report } from '@squall/core/report';
import { linksOf } from '../bus/agent-links.ts';
import type { AgentHub } from '../hub/hub.ts';
import type { RunTiming } from '../limits.ts';
import type { Logger } from '../logger.ts';
import { reportInput } from '../report/report-input.ts';
import type { TimeSource } from '../time-source.ts';
import { Acknowledger } from './acknowledger.ts';
import type { AgentQueue } from './agent-queue.ts';
import { AgentWatch } from './agent-watch.ts';
import { type AssemblyScene, gatherAgents, readyAgents } from './assembly.ts';
import { BusWatch } from './bus-watch.ts';
import { type Cut, stageEndOf } from './cut.ts';
import { collect, settle } from './ending.ts';
import { Intake } from './intake.ts';
import { Measurements } from './measurements.ts';
import { progressOf } from './progress.ts';
import { Roster } from './roster.ts';
import type { RunAgent } from './run-agent.ts';
import { agentViewIn, type RunAgentView, type RunFigures, spanOf } from './run-figures.ts';
import type { RunEvent, RunHandle, RunState } from './run-handle.ts';
import type { RunId } from './run-id.ts';
import { RunVoice } from './run-voice.ts';
import { StageWalk } from './stage-walk.ts';
import type { SubmitOptions } from './submit-options.ts';
import { HURRY, type Hurry, Waiter } from './waiter.ts';

export interface RunParts {
  readonly id: RunId;
  readonly plan: Plan;
  readonly options: SubmitOptions;
  readonly hub: AgentHub;
  readonly queue: AgentQueue;
  readonly bus: RunBus;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly logger: Logger;
}

/** The way of the frames, from the moment on at which agents may use it. */
interface FrameWay {
  readonly receiver: BusReceiver;
  readonly acknowledger: Acknowledger;
}

/** What there is once T is announced. */
interface Load {
  readonly startUs: number;
  readonly measurements: Measurements;
  readonly walk: StageWalk;
  /** Null while there is load. */
  endUs: number | null;
}

/**
 * One run from the first free agent to the report. `#tell` is the whole story: each step is a wait
 * with a deadline, and what agents say only changes what the waits look at.
 */
export class Run implements RunHandle {
  readonly #parts: RunParts;
  readonly #waiter: Waiter;
  readonly #voice: RunVoice;
  readonly #watch: AgentWatch;
  readonly #busWatch: BusWatch;
  readonly #submittedUs: number;
  readonly #submittedUtcMs: number;
  #roster: Roster;
  #way: FrameWay | null = null;
  #load: Load | null = null;
  #cut: Cut | null = null;
  readonly #cleanup: (() => void)[] = [];
  readonly done: Promise<Report>;

  constructor(parts: RunParts) {
    this.#parts = parts;
    this.#waiter = new Waiter(parts.time);
    this.#voice = new RunVoice(parts.id.full, parts.logger);
    this.#roster = new Roster(parts.id.full, []);
    this.#busWatch = new BusWatch({ warning: (text) => this.#voice.warn(text) });
    this.#watch = new AgentWatch({
      ...parts,
      busWatch: this.#busWatch,
      acknowledger: () => this.#way?.acknowledger ?? null,
      waiter: this.#waiter,
      voice: this.#voice,
      roster: () => this.#roster,
      measurements: () => this.#load?.measurements ?? null,
      cutShort: (cut, hurry) => this.#cutShort(cut, hurry),
    });
    this.#submittedUs = parts.time.monotonicUs();
    this.#submittedUtcMs = parts.time.utcMs();
    this.#cleanup.push(
      parts.hub.onChange(() => this.#waiter.poke()),
      parts.queue.onChange(() => this.#waiter.poke()),
    );
    this.done = this.#go();
  }

  get id(): string {
    return this.#parts.id.full;
  }

  get shortId(): string {
    return this.#parts.id.short;
  }

  get plan(): Plan {
    return this.#parts.plan;
  }

  get state(): RunState {
    return this.#voice.state;
  }

  get figures(): RunFigures | null {
    const load = this.#load;
    if (load === null) return null;
    const { measurements, startUs, walk } = load;
    return {
      startedMs: this.#submittedUtcMs + (startUs - this.#submittedUs) / 1_000,
      aggregate: measurements.aggregate,
      closedUs: () => measurements.closedUs,
      stages: () => walk.records.map((record) => spanOf(record, startUs)),
      thresholds: () => measurements.thresholdsNow(),
    };
  }

  agents(): readonly RunAgentView[] {
    const aggregate = this.#load?.measurements.aggregate ?? null;
    return this.#roster.agents.map((agent) => agentViewIn(agent, aggregate));
  }

  warn(text: string): void {
    this.#voice.warn(text);
  }

  onEvent(listener: (event: RunEvent) => void): () => void {
    return this.#voice.onEvent(listener);
  }

  stop(mode: 'graceful' | 'hard', by: 'signal' | 'api'): void {
    const reasons = [`the run was stopped by ${by === 'signal' ? 'a signal' : 'the API'}`];
    const again = this.#waiter.hurry >= HURRY.hard;
    const hard = again ? HURRY.impatient : HURRY.hard;
    this.#cutShort({ cause: 'stopped', by, reasons }, mode === 'hard' ? hard : HURRY.graceful);
  }

  async #go(): Promise<Report> {
    // The caller gets its handle first, so that it can listen from the first event on.
    await Promise.resolve();
    try {
      await this.#tell();
    } catch (error) {
      this.#fail(error);
    }
    const endUs = this.#parts.time.monotonicUs();
    for (const undo of this.#cleanup) undo();
    for (const agent of this.#roster.agents) agent.session.release();
    await this.#way?.receiver.close();
    const report = this.#report(endUs);
    this.#voice.enter('done', `the run is over: ${report.verdict}`);
    this.#voice.emit({ type: 'done', report });
    return report;
  }

  async #tell(): Promise<void> {
    this.#voice.enter('waiting', 'waiting for agents');
    const gathered = await gatherAgents(this.#assemblyScene());
    if (gathered === null) return;
    if (typeof gathered === 'string') {
      this.#cut ??= { cause: 'agents', reasons: [gathered] };
      return;
    }
    this.#roster = gathered;
    this.#voice.enter('assigning', `${gathered.agents.length} agents get their shares`);
    const way = await this.#openWay(gathered);
    if (way === null) return;
    const troubles = await readyAgents(this.#assemblyScene(), gathered);
    if (troubles.length > 0) this.#cut ??= { cause: 'agents', reasons: troubles };
    if (this.#cut !== null) return;
    const load = this.#start(gathered, way);
    load.endUs = await load.walk.walk(load.startUs);
    await this.#end(gathered, load);
  }

  /** Null where the bus cannot carry this run: that is the end of it. */
  async #openWay(roster: Roster): Promise<FrameWay | null> {
    const { bus, hub } = this.#parts;
    try {
      const receiver = await bus.open({
        run: this.id,
        agents: roster.agents.map(({ epoch, id }) => ({ agent: id, epoch, afterSeq: 0 })),
        link: linksOf(hub),
        notice: (notice) => this.#busWatch.notice(notice),
      });
      this.#way = { receiver, acknowledger: new Acknowledger(receiver) };
      return this.#way;
    } catch (error) {
      if (!(error instanceof SquallError)) throw error;
      const hint = error.hint === undefined ? '' : `; ${error.hint}`;
      this.#cut ??= { cause: 'agents', reasons: [`${error.message}${hint}`] };
      return null;
    }
  }

  /** Announces T. From here on there is something to measure and to report. */
  #start(roster: Roster, { acknowledger, receiver }: FrameWay): Load {
    const parts = this.#parts;
    const voice = this.#voice;
    const { plan, time, timing } = parts;
    const startUs = time.monotonicUs() + Math.max(timing.leadUs, 4 * this.#rttUs());
    const measurements = new Measurements({
      ...parts,
      run: this.id,
      roster,
      startUs,
      watermarkUs: timing.watermarkUs,
      warning: (text) => voice.warn(text),
    });
    const walk = new StageWalk({
      ...parts,
      waiter: this.#waiter,
      roster,
      rttUs: () => this.#rttUs(),
      conditionHolds: (stage) => measurements.conditionHolds(stage),
      cutEnd: () => stageEndOf(this.#cut),
      incomplete: (reason) =>
        this.#cutShort({ cause: 'incomplete', reasons: [reason] }, HURRY.graceful),
      event: (event) => {
        if (this.state === 'starting') voice.enter('running', 'the load has begun');
        voice.emit(event);
      },
      warning: (text) => voice.warn(text),
    });
    const load: Load = { startUs, measurements, walk, endUs: null };
    this.#load = load;
    voice.enter('starting', 'every agent is ready');
    for (const agent of roster.live()) voice.agent(agent, 'active');
    roster.order({ type: 'advance', stage: 0, at: startUs });
    this.#keepTime(load, plan.limits.maxDurationUs);
    const intake = new Intake(
      {
        ...parts,
        bus: receiver,
        acknowledger,
        roster,
        measurements,
        changed: () => this.#figuresChanged(load),
        tick: () => this.#tick(load),
      },
      startUs,
    );
    this.#cleanup.push(() => intake.stop());
    return load;
  }

  async #end(roster: Roster, load: Load): Promise<void> {
    const { measurements } = load;
    const { bus, timing } = this.#parts;
    const scene = {
      ...this.#parts,
      timing: { ...timing, collectUs: Math.max(timing.collectUs, bus.patienceUs) },
      waiter: this.#waiter,
      roster,
      quiet: () => measurements.quiet(),
      framesComplete: (agent: RunAgent) => measurements.complete(agent),
      warning: (text: string) => this.#voice.warn(text),
    };
    this.#voice.enter('settling', 'the load has ended; what is under way is awaited');
    await settle(scene, load.endUs ?? this.#parts.time.monotonicUs());
    this.#voice.enter('collecting', 'the agents hand in what they have measured');
    await collect(scene);
    measurements.close();
  }

  #keepTime(load: Load, maxDurationUs: number): void {
    this.#at(load.startUs + maxDurationUs, () => {
      if (load.endUs !== null) return;
      const reasons = ['the run took longer than its maxDuration allows'];
      this.#cutShort({ cause: 'max_duration', reasons }, HURRY.graceful);
    });
  }

  #figuresChanged(load: Load): void {
    const broken = load.endUs === null ? load.measurements.broken() : null;
    if (broken !== null) {
      this.#cutShort({ cause: 'threshold', reasons: [broken.reason] }, HURRY.graceful);
    }
    this.#waiter.poke();
  }

  #tick({ startUs, endUs, measurements, walk }: Load): void {
    const progress = progressOf({
      plan: this.#parts.plan,
      roster: this.#roster,
      aggregate: measurements.aggregate,
      stage: walk.records.at(-1) ?? null,
      nowUs: this.#parts.time.monotonicUs(),
      startUs,
      loadEndUs: endUs,
      closedUs: measurements.closedUs,
    });
    this.#voice.emit({ type: 'progress', progress });
  }

  /** Ends the load early. The first cause stands; more hurry may come later. */
  #cutShort(cut: Cut, hurry: Hurry): void {
    if (this.state === 'done') return;
    // What is only being collected is complete: to be stopped in order changes nothing about it.
    if (this.state !== 'collecting' || hurry > HURRY.graceful) this.#cut ??= cut;
    if (this.#load !== null && hurry > this.#waiter.hurry && hurry < HURRY.impatient) {
      this.#roster.order({ type: 'stop', mode: hurry === HURRY.graceful ? 'graceful' : 'hard' });
    }
    this.#waiter.raise(hurry);
  }

  #fail(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#parts.logger.warn(error instanceof Error ? (error.stack ?? text) : text);
    // Whatever else was going on, this is what the verdict must say.
    this.#cut = { cause: 'error', reasons: [`a fault of Squall itself: ${text}`] };
    this.#roster.order({ type: 'stop', mode: 'hard' });
  }

  #report(endUs: number): Report {
    const load = this.#load;
    return buildReport(
      reportInput(
        {
          ...this.#parts,
          id: this.id,
          agents: this.#roster.agents,
          stages: load?.walk.records ?? [],
          cut: this.#cut,
          warnings: this.#voice.warnings,
          bus: this.#busWatch.troubles(),
          submittedUs: this.#submittedUs,
          submittedUtcMs: this.#submittedUtcMs,
          startUs: load?.startUs ?? null,
          endUs,
        },
        load?.measurements ?? null,
      ),
    );
  }

  #assemblyScene(): AssemblyScene {
    return {
      ...this.#parts,
      secrets: this.#parts.options.secrets ?? {},
      waiter: this.#waiter,
      listener: this.#watch,
    };
  }

  /** The longest round trip to any agent. */
  #rttUs(): number {
    return Math.max(0, ...this.#roster.live().map((agent) => agent.session.clock?.rttUs ?? 0));
  }

  #at(momentUs: number, action: () => void): void {
    const { time } = this.#parts;
    this.#cleanup.push(time.after(Math.max(0, momentUs - time.monotonicUs()), action));
  }
}
