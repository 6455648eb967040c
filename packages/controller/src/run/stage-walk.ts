import type { Plan, Stage } from '@squall/core/plan';
import { connectRampUs, stageNeeds } from '@squall/core/schedule';
import type { RunTiming } from '../limits.ts';
import type { TimeSource } from '../time-source.ts';
import type { SavedStage } from './checkpoint/saved-run.ts';
import type { Roster } from './roster.ts';
import type { RunEvent } from './run-handle.ts';
import { HURRY, type Waiter } from './waiter.ts';

export type StageEnd =
  | 'complete'
  | 'duration'
  | 'condition'
  | 'deadline'
  | 'agent_lost'
  | 'aborted'
  | 'stopped';

/** A stage as it went; moments are µs of the monotonic clock. */
export interface StageRecord {
  readonly stage: Stage;
  readonly enteredUs: number;
  /** The moment that was announced for its clock; null until then, and where there is no prologue. */
  clockAtUs: number | null;
  /** Null until its clock has started. */
  clockUs: number | null;
  /** The end that was announced; null until then, and where the stage ends by time. */
  leaving: { readonly atUs: number; readonly endedBy: StageEnd } | null;
  /** Null while it runs. */
  endUs: number | null;
  endedBy: StageEnd | null;
}

/** What the walk needs of the run around it. */
export interface StageWalkScene {
  readonly plan: Plan;
  readonly time: TimeSource;
  readonly timing: RunTiming;
  readonly waiter: Waiter;
  readonly roster: Roster;
  /** Longest round trip to any agent. */
  rttUs(): number;
  /** Whether the `until` of the stage holds, over closed seconds. */
  conditionHolds(stage: Stage): boolean;
  /** Why the load was cut, once it was. */
  cutEnd(): StageEnd;
  /** Ends the run because a stage that must complete did not. */
  incomplete(reason: string): void;
  event(event: RunEvent): void;
  warning(text: string): void;
}

/**
 * Goes through the stages of a plan, side by side with the agents: the same arithmetic for stages
 * that end by time, and the orders for those that do not.
 */
export class StageWalk {
  readonly #scene: StageWalkScene;
  readonly #records: StageRecord[];

  /** `saved`: how far an earlier life of the run came. The walk goes on from there. */
  constructor(scene: StageWalkScene, saved: readonly SavedStage[] = []) {
    this.#scene = scene;
    this.#records = saved.flatMap(({ stage: index, ...record }) => {
      const stage = scene.plan.stages[index];
      return stage === undefined ? [] : [{ ...record, stage }];
    });
  }

  toJSON(): SavedStage[] {
    return this.#records.map((record) => ({ ...record, stage: record.stage.index }));
  }

  /** Stages that were entered, in order. */
  get records(): readonly StageRecord[] {
    return this.#records;
  }

  /** Walks from T to the end of the load, and gives that moment. */
  async walk(startUs: number): Promise<number> {
    const needs = stageNeeds(this.#scene.plan);
    let atUs = startUs;
    for (const stage of this.#scene.plan.stages) {
      const record = this.#records[stage.index] ?? (await this.#enter(stage, atUs));
      if (record === null) return this.#scene.time.monotonicUs();
      atUs = record.endUs ?? (await this.#run(record, needs[stage.index]?.prologue ?? false));
      if (this.#scene.waiter.hurry >= HURRY.graceful) return atUs;
    }
    return atUs;
  }

  /** Null where the load is ended before. */
  async #enter(stage: Stage, enteredUs: number): Promise<StageRecord | null> {
    const reached = await this.#scene.waiter.reach(enteredUs, HURRY.graceful);
    if (reached === 'interrupted') return null;
    const record: StageRecord = {
      stage,
      enteredUs,
      clockAtUs: null,
      clockUs: null,
      leaving: null,
      endUs: null,
      endedBy: null,
    };
    this.#records.push(record);
    return record;
  }

  /** Runs one stage to its end, and gives that moment. */
  async #run(record: StageRecord, prologue: boolean): Promise<number> {
    const { stage, enteredUs, leaving } = record;
    if (leaving !== null) return this.#left(record, leaving);
    if (record.clockUs !== null) {
      this.#announce(stage, 'main');
    } else if (prologue) {
      const endedUs = await this.#prologue(record);
      if (endedUs !== null) return endedUs;
    } else {
      this.#startClock(record, enteredUs);
    }
    const clockUs = record.clockUs ?? enteredUs;
    if (stage.forUs === null) return this.#untilDone(record, clockUs);
    const endUs = clockUs + stage.forUs;
    const reached = await this.#scene.waiter.reach(endUs, HURRY.graceful);
    return reached === 'met' ? end(record, endUs, 'duration') : this.#cut(record);
  }

  /** Null once the stage's clock has started, else the moment at which the stage ended before it. */
  async #prologue(record: StageRecord): Promise<number | null> {
    const { stage } = record;
    this.#announce(stage, 'prologue');
    const endedUs = record.clockAtUs === null ? await this.#ready(record) : null;
    if (endedUs !== null) return endedUs;
    const clockUs = record.clockAtUs ?? record.enteredUs;
    const reached = await this.#scene.waiter.reach(clockUs, HURRY.graceful);
    if (reached === 'interrupted') return this.#cut(record);
    this.#startClock(record, clockUs);
    return null;
  }

  /** Null once the stage's clock is announced, else the moment at which the stage ended before it. */
  async #ready(record: StageRecord): Promise<number | null> {
    const { stage, enteredUs } = record;
    const { waiter, roster } = this.#scene;
    const outcome = await waiter.wait({
      until: () => roster.all(stage.index, 'prologue_done'),
      deadlineUs: enteredUs + this.#prologueLimitUs(stage),
      yieldsTo: HURRY.graceful,
    });
    if (outcome === 'interrupted') return this.#cut(record);
    if (outcome === 'deadline') {
      if (stage.onIncomplete === 'abort') {
        this.#scene.incomplete(`stage ${stage.name} did not get all its clients ready in time`);
        return this.#cut(record);
      }
      if (stage.forUs === null) return this.#leave(record, 'deadline');
      this.#scene.warning(`stage ${stage.name} starts though not all its clients are ready`);
    }
    record.clockAtUs = this.#nextMoment(enteredUs);
    roster.order({ type: 'clock', stage: stage.index, at: record.clockAtUs });
    return null;
  }

  #startClock(record: StageRecord, clockUs: number): void {
    record.clockUs = clockUs;
    this.#announce(record.stage, 'main');
  }

  async #untilDone(record: StageRecord, clockUs: number): Promise<number> {
    const { stage } = record;
    const { roster, waiter } = this.#scene;
    const isComplete = () => roster.all(stage.index, 'complete');
    const outcome = await waiter.wait({
      until: () => isComplete() || this.#scene.conditionHolds(stage),
      deadlineUs: clockUs + stage.deadlineUs,
      yieldsTo: HURRY.graceful,
    });
    if (outcome === 'interrupted') return this.#cut(record);
    if (outcome === 'met') {
      return stage.until === null ? this.#leave(record, 'complete') : this.#condition(record);
    }
    if (stage.until === null && stage.onIncomplete === 'abort') {
      this.#scene.incomplete(`stage ${stage.name} was not complete at its deadline`);
      return this.#cut(record);
    }
    return this.#leave(record, 'deadline');
  }

  /**
   * The condition of the stage holds, or all its messages are done: then it may still come true by
   * what is on its way, and after that never.
   */
  async #condition(record: StageRecord): Promise<number> {
    const { stage } = record;
    const { waiter, timing, time, plan } = this.#scene;
    const arrives = ['received', 'arrived', 'bytes_received'].includes(stage.until?.metric ?? '');
    const lateUs = timing.watermarkUs + timing.gridUs + (arrives ? plan.settle.quietUs : 0);
    const outcome = await waiter.wait({
      until: () => this.#scene.conditionHolds(stage),
      deadlineUs: time.monotonicUs() + lateUs,
      yieldsTo: HURRY.graceful,
    });
    if (outcome === 'interrupted') return this.#cut(record);
    if (outcome === 'met') return this.#leave(record, 'condition');
    this.#scene.warning(
      `stage ${stage.name} ended because all its messages were done: its condition "${stage.until?.text ?? ''}" had not come true`,
    );
    return this.#leave(record, 'complete');
  }

  /** Announces the end of the stage, works on until then. */
  #leave(record: StageRecord, endedBy: StageEnd): Promise<number> {
    const atUs = this.#nextMoment(record.clockUs ?? record.enteredUs);
    const leaving = { atUs, endedBy };
    record.leaving = leaving;
    this.#scene.roster.order({ type: 'advance', stage: record.stage.index + 1, at: atUs });
    return this.#left(record, leaving);
  }

  async #left(
    record: StageRecord,
    { atUs, endedBy }: NonNullable<StageRecord['leaving']>,
  ): Promise<number> {
    const reached = await this.#scene.waiter.reach(atUs, HURRY.graceful);
    return reached === 'met' ? end(record, atUs, endedBy) : this.#cut(record);
  }

  #cut(record: StageRecord): number {
    return end(record, this.#scene.time.monotonicUs(), this.#scene.cutEnd());
  }

  /** The first moment of the grid that everybody hears of in time. */
  #nextMoment(gridFromUs: number): number {
    const { time, timing } = this.#scene;
    const earliestUs = time.monotonicUs() + Math.max(timing.leadUs, 4 * this.#scene.rttUs());
    const steps = Math.ceil((earliestUs - gridFromUs) / timing.gridUs);
    return gridFromUs + Math.max(steps, 0) * timing.gridUs;
  }

  /** A stage with `for` has no deadline of its own: its prologue gets its planned ramp and a margin. */
  #prologueLimitUs(stage: Stage): number {
    if (stage.forUs === null) return stage.deadlineUs;
    const { plan, timing } = this.#scene;
    const needs = stageNeeds(plan)[stage.index];
    const rampUs = needs === undefined ? 0 : connectRampUs(plan, stage, needs);
    return rampUs + timing.prologueMarginUs;
  }

  #announce(stage: Stage, phase: 'prologue' | 'main'): void {
    this.#scene.event({ type: 'stage', index: stage.index, name: stage.name, phase });
  }
}

function end(record: StageRecord, endUs: number, endedBy: StageEnd): number {
  record.endUs = endUs;
  record.endedBy = endedBy;
  return endUs;
}
