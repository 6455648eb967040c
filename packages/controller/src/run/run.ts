import { isDescriptorError, RAISE_DESCRIPTORS } from '@squall/core/errors';
import type { LedgerResult } from '@squall/core/ledger';
import { NO_MATERIAL, type Plan } from '@squall/core/plan';
import { buildReport, type Report } from '@squall/core/report';
import { reportInput } from '../report/report-input.ts';
import { AgentWatch } from './agent-watch.ts';
import { type AssemblyScene, gatherAgents, readyAgents } from './assembly.ts';
import { BusWatch } from './bus-watch.ts';
import type { TakenRun } from './checkpoint/checkpointer.ts';
import {
  hasStages,
  isUnderWay,
  restartNote,
  restoreRoster,
  stateOf,
  whyNot,
} from './checkpoint/restored.ts';
import type { SavedRun } from './checkpoint/saved-run.ts';
import { takeRun } from './checkpoint/take-run.ts';
import { type Cut, tooLong } from './cut.ts';
import { agentsBack, collect, type EndingScene, settle } from './ending.ts';
import { type Feed, feed } from './feed.ts';
import { type FrameWay, openWay, wayBack, type WayScene } from './frame-way.ts';
import { type Load, type LoadScene, newLoad, restoreLoad } from './load.ts';
import { progressOf } from './progress.ts';
import { outsideOf } from './probes/outside.ts';
import { RunProbes } from './probes/run-probes.ts';
import { Roster } from './roster.ts';
import { agentViewIn, figuresOf, type RunAgentView, type RunFigures } from './run-figures.ts';
import type { RunEvent, RunHandle, RunState } from './run-handle.ts';
import type { RunParts } from './run-parts.ts';
import { RunVoice } from './run-voice.ts';
import { HURRY, type Hurry, Waiter } from './waiter.ts';

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
  readonly #probes: RunProbes;
  readonly #submittedUs: number;
  readonly #submittedUtcMs: number;
  #roster: Roster;
  #way: FrameWay | null = null;
  #load: Load | null = null;
  #feed: Feed | null = null;
  #cut: Cut | null;
  /** When everything was handed in; null before. */
  #overUs: number | null;
  readonly #cleanup: (() => void)[] = [];
  readonly done: Promise<Report>;

  constructor(parts: RunParts) {
    const { id, logger, saved, time } = parts;
    const warning = (text: string) => this.#voice.warn(text);
    this.#parts = parts;
    this.#waiter = new Waiter(time, saved?.hurry);
    this.#voice = new RunVoice(id.full, logger, saved?.warnings);
    this.#roster = new Roster({ run: id.full, agents: [], keep: () => null });
    this.#busWatch = new BusWatch({ warning }, saved?.busWatch);
    this.#probes = new RunProbes(
      {
        ...parts,
        secrets: parts.options.secrets ?? {},
        waiter: this.#waiter,
        warning: (text) => this.#voice.warn(text),
        outside: outsideOf({ ...parts, run: id.full, roster: () => this.#roster }),
      },
      saved?.probes,
    );
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
    this.#submittedUs = saved?.submittedUs ?? time.monotonicUs();
    this.#submittedUtcMs = saved?.submittedUtcMs ?? time.utcMs();
    this.#cut = saved?.cut ?? null;
    this.#overUs = saved?.overUs ?? null;
    if (saved !== null) {
      const scene = { hub: parts.hub, listener: this.#watch, keep: () => this.#keep() };
      this.#roster = restoreRoster(saved, scene);
      this.#load = restoreLoad(this.#loadScene(), saved);
    }
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
    const startedMs = this.#submittedUtcMs + (load.startUs - this.#submittedUs) / 1_000;
    return figuresOf(load, this.#parts.plan, startedMs);
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
    const endUs = (this.#overUs ??= this.#parts.time.monotonicUs());
    for (const undo of this.#cleanup) undo();
    // Before the agents are let go: to another controller they would not come back.
    await this.#feed?.end();
    for (const agent of this.#roster.agents) agent.session.release();
    await this.#way?.receiver.close();
    await this.#probes.close();
    const report = this.#report(endUs, await this.#judgeLedger());
    this.#voice.enter('done', `the run is over: ${report.verdict}`);
    this.#voice.emit({ type: 'done', report });
    return report;
  }

  async #tell(): Promise<void> {
    const { saved } = this.#parts;
    const load = saved === null ? await this.#begin() : await this.#goOn(saved);
    if (load === null) return;
    load.endUs ??= await load.walk.walk(load.startUs);
    await this.#end(load);
  }

  /** Null where nothing was measured or nobody subscribes. */
  async #judgeLedger(): Promise<LedgerResult | null> {
    const load = this.#load;
    if (load === null) return null;
    try {
      return await load.ledger.finish(load.measurements.judge);
    } catch (error) {
      this.#blame(error);
      return null;
    }
  }

  /** From the first free agent to the announcement of T. Null: the run ends before it. */
  async #begin(): Promise<Load | null> {
    this.#voice.enter('waiting', 'waiting for agents');
    const gathered = await gatherAgents(this.#assemblyScene());
    if (gathered === null) return null;
    if (typeof gathered === 'string') {
      this.#cut ??= { cause: 'agents', reasons: [gathered] };
      return null;
    }
    this.#roster = gathered;
    this.#voice.enter('assigning', `${gathered.agents.length} agents get their shares`);
    const way = this.#taken(await openWay(this.#wayScene()));
    if (way === null) return null;
    const troubles = await readyAgents(this.#assemblyScene(), gathered);
    if (troubles.length > 0) this.#cut ??= { cause: 'agents', reasons: troubles };
    if (this.#cut === null) await this.#probes.first();
    return this.#cut === null ? this.#start(way) : null;
  }

  /** From the last checkpoint to where the agents are by now. Null: there is nothing to go on with. */
  async #goOn(saved: SavedRun): Promise<Load | null> {
    const { clockDomain, time } = this.#parts;
    const load = this.#load;
    const obstacle = whyNot(saved, clockDomain);
    this.#voice.warnFirst(restartNote(saved, obstacle, time));
    // Everything was handed in before: what is missing is the report.
    if (load === null || this.#overUs !== null) return null;
    if (obstacle !== null) {
      this.#giveUp(saved, obstacle);
      return null;
    }
    this.#voice.enter(stateOf(saved), 'the run goes on from its last checkpoint');
    const way = this.#taken(await wayBack(this.#wayScene()));
    if (way === null) return null;
    for (const agent of this.#roster.live()) this.#voice.agent(agent, 'cut off');
    this.#feedFrom(way, load);
    load.measurements.holdAt(saved.savedUs);
    const scene = this.#endingScene(load);
    await agentsBack(scene);
    load.measurements.holdAt(null);
    return hasStages(saved) || (await isUnderWay(scene, load)) ? load : this.#start(way);
  }

  /** What the checkpoint has is all there will be. */
  #giveUp({ savedUs }: SavedRun, reason: string): void {
    this.#cut = { cause: 'error', reasons: [reason] };
    this.#overUs = savedUs;
    for (const agent of this.#roster.live()) agent.lost = { atUs: savedUs, reason };
  }

  /** Null where the bus cannot carry this run: that is the end of it. */
  #taken(way: FrameWay | string): FrameWay | null {
    if (typeof way === 'object') {
      this.#way = way;
      return way;
    }
    this.#cut ??= { cause: this.#load === null ? 'agents' : 'error', reasons: [way] };
    return null;
  }

  /** Announces T. From here on there is something to measure and to report. */
  #start(way: FrameWay): Load {
    const { time, timing } = this.#parts;
    const roster = this.#roster;
    const startUs = time.monotonicUs() + Math.max(timing.leadUs, 4 * roster.rttUs());
    const load = newLoad(this.#loadScene(), startUs);
    this.#load = load;
    this.#voice.enter('starting', 'every agent is ready');
    for (const agent of roster.live()) this.#voice.agent(agent, 'active');
    this.#feedFrom(way, load);
    roster.order({ type: 'advance', stage: 0, at: startUs });
    return load;
  }

  #feedFrom(way: FrameWay, load: Load): void {
    this.#feed?.drop();
    this.#feed = feed(load, way, {
      ...this.#parts,
      roster: this.#roster,
      voice: this.#voice,
      changed: () => this.#figuresChanged(load),
      tick: () => this.#tick(load),
      tooLong: () => this.#endTooLong(load),
      take: () => this.#take(load),
    });
  }

  async #end(load: Load): Promise<void> {
    const scene = this.#endingScene(load);
    // A run that was being collected when its controller died has settled already.
    if (!this.#roster.finishOrdered) {
      this.#voice.enter('settling', 'the load has ended; what is under way is awaited');
      await settle(scene, load.endUs ?? this.#parts.time.monotonicUs());
    }
    this.#voice.enter('collecting', 'the agents hand in what they have measured');
    await collect(scene);
    load.measurements.close();
    // Everything that was acknowledged is known now: what other systems made of it is waited for.
    await load.probes.settle(load.endUs ?? this.#parts.time.monotonicUs());
  }

  #take(load: Load): TakenRun {
    return takeRun({
      ...this.#parts,
      ...load,
      submittedUs: this.#submittedUs,
      submittedUtcMs: this.#submittedUtcMs,
      loadEndUs: load.endUs,
      overUs: this.#overUs,
      cut: this.#cut,
      hurry: this.#waiter.hurry,
      warnings: this.#voice.warnings,
      busWatch: this.#busWatch,
      roster: this.#roster,
    });
  }

  /** See `RosterParts`. */
  #keep(): Promise<void> | null {
    return this.#feed?.save() ?? null;
  }

  #endTooLong(load: Load): void {
    if (load.endUs !== null) return;
    const reasons = [tooLong({ ...this.#parts, stage: load.walk.records.at(-1)?.stage })];
    this.#cutShort({ cause: 'max_duration', reasons }, HURRY.graceful);
  }

  #figuresChanged(load: Load): void {
    const broken =
      load.endUs === null ? (load.measurements.broken() ?? load.probes.broken()) : null;
    if (broken !== null) {
      this.#cutShort({ cause: 'threshold', reasons: [broken.reason] }, HURRY.graceful);
    }
    this.#waiter.poke();
  }

  #tick(load: Load): void {
    const { plan, time } = this.#parts;
    const isLeft = plan.cleanup === null || this.#waiter.hurry >= HURRY.hard;
    const progress = progressOf({
      plan,
      roster: this.#roster,
      load,
      isCleaning: this.state === 'collecting' && !isLeft,
      nowUs: time.monotonicUs(),
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
    this.#blame(error);
    this.#roster.order({ type: 'stop', mode: 'hard' });
  }

  #blame(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    this.#parts.logger.warn(error instanceof Error ? (error.stack ?? text) : text);
    // Whatever else was going on, this is what the verdict must say.
    this.#cut = isDescriptorError(error)
      ? { cause: 'agents', reasons: [`${text}; ${RAISE_DESCRIPTORS}`] }
      : { cause: 'error', reasons: [`a fault of Squall itself: ${text}`] };
  }

  #report(endUs: number, ledger: LedgerResult | null): Report {
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
          ledger,
          probes: load?.probes ?? null,
          loadEndUs: load?.endUs ?? null,
        },
        load?.measurements ?? null,
      ),
    );
  }

  #assemblyScene(): AssemblyScene {
    return {
      ...this.#parts,
      secrets: this.#parts.options.secrets ?? {},
      material: this.#parts.options.material ?? NO_MATERIAL,
      waiter: this.#waiter,
      listener: this.#watch,
      keep: () => this.#keep(),
    };
  }

  #wayScene(): WayScene & Pick<LoadScene, 'plan' | 'time' | 'waiter'> {
    return {
      ...this.#parts,
      waiter: this.#waiter,
      roster: this.#roster,
      measurements: this.#load?.measurements ?? null,
      notice: (notice) => this.#busWatch.notice(notice),
    };
  }

  #loadScene(): LoadScene {
    return {
      ...this.#parts,
      waiter: this.#waiter,
      voice: this.#voice,
      busWatch: this.#busWatch,
      roster: this.#roster,
      probes: this.#probes,
      probed: () => {
        if (this.#load !== null) this.#figuresChanged(this.#load);
      },
      cut: () => this.#cut,
      cutShort: (cut, hurry) => this.#cutShort(cut, hurry),
    };
  }

  #endingScene({ measurements }: Load): EndingScene {
    const { bus, timing } = this.#parts;
    return {
      ...this.#parts,
      timing: { ...timing, collectUs: Math.max(timing.collectUs, bus.patienceUs) },
      waiter: this.#waiter,
      roster: this.#roster,
      quiet: () => measurements.quiet(),
      allArrivedUs: () => measurements.allArrivedUs(),
      framesComplete: (agent) => measurements.complete(agent),
      warning: (text) => this.#voice.warn(text),
    };
  }
}
