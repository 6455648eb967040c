import type { Slice } from '@squall/core/metrics';
import type { Plan, StageWork } from '@squall/core/plan';
import { type StageNeeds, stageNeeds, streamKey } from '@squall/core/schedule';
import { type Moment, momentOf } from '../clock.ts';
import { item } from '../element.ts';
import { SCAN_US, STALL_US } from '../limits.ts';
import type { GroupLoad, GroupRun } from '../load/group-load.ts';
import type { Recorder, SliceHead } from '../measure/recorder.ts';
import { type StageEnd, StageTimeline, type TimelineListener } from './stage-timeline.ts';

/** What the engine tells its agent. */
interface EngineReports {
  started(skewUs: number): void;
  stageState(stage: number, state: 'prologue_done' | 'complete' | 'drained'): void;
  slice(slice: Slice): void;
}

export interface EngineOptions {
  readonly plan: Plan;
  /** By the group's index. */
  readonly groups: readonly GroupLoad[];
  readonly recorder: Recorder;
  readonly moment: Moment;
  readonly reports: EngineReports;
}

/** A stream at work in a stage. */
interface LiveRun {
  readonly group: GroupLoad;
  readonly run: GroupRun;
  readonly clockUs: number;
}

/** A stage that is running or draining. */
interface LiveStage {
  readonly stage: number;
  readonly runs: LiveRun[];
  readonly told: Set<string>;
  drainUntilUs: number;
  /** The load is over, and all that is left answers requests. */
  answersOnly: boolean;
}

/**
 * The course of a run in one worker: what starts and ends at which boundary, and what is done at
 * each tick. It has no timer and no clock of its own: `tick` is called with the moment set, and says
 * by `nextUs` when it wants to be called again.
 */
export class Engine implements TimelineListener {
  readonly #options: EngineOptions;
  readonly #needs: readonly StageNeeds[];
  readonly #timeline: StageTimeline;
  readonly #live: LiveStage[] = [];
  #started = false;
  /** The current stage's clock, µs. */
  #clockUs = 0;
  #nextScanUs = 0;
  #lastTickUs = 0;
  #expirySkipped = false;
  #drainedTold = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#needs = stageNeeds(options.plan);
    this.#timeline = new StageTimeline(options.plan.stages, this.#needs, this);
  }

  /** The current stage; the first one before the start, the last one entered after the end. */
  currentStage(): number {
    return this.#timeline.stage;
  }

  sinceStart(us: number): number {
    return this.#started ? this.#timeline.sinceStart(us) : 0;
  }

  advance(stage: number, atUs: number): void {
    this.#timeline.advance(stage, atUs);
  }

  clock(stage: number, atUs: number): void {
    this.#timeline.clock(stage, atUs);
  }

  /** Ends the load now. `hard`: cuts the connections and names what is left as unfinished. */
  stop(mode: 'graceful' | 'hard'): void {
    const nowUs = momentOf(this.#options.moment);
    this.#timeline.stop(nowUs);
    while (this.#timeline.nextUs() <= nowUs) this.#timeline.pass();
    if (mode === 'graceful') return;
    this.#cutOff();
    this.#tellDrained();
    for (const group of this.#options.groups) group.closeAll(true);
  }

  /** Disconnects every client and cuts the last slice. */
  finish(): void {
    this.stop('graceful');
    for (const group of this.#options.groups) group.flush();
    this.#cutOff();
    this.#timeline.cutNow(momentOf(this.#options.moment));
    for (const group of this.#options.groups) group.closeAll(false);
  }

  /** When the next tick is wanted at the latest, µs. */
  nextUs(): number {
    let next = this.#timeline.nextUs();
    for (const group of this.#options.groups) next = Math.min(next, group.nextUs());
    for (const live of this.#live) next = Math.min(next, live.drainUntilUs);
    if (this.#awaiting()) next = Math.min(next, this.#nextScanUs);
    return next;
  }

  /** Does everything that is due at the moment. */
  tick(): void {
    const nowUs = momentOf(this.#options.moment);
    while (this.#timeline.nextUs() <= nowUs) this.#passBoundary(nowUs);
    for (const group of this.#options.groups) {
      group.work(nowUs);
      group.pick(nowUs);
    }
    this.#expire(nowUs);
    if (nowUs >= this.#nextScanUs) this.#scan(nowUs);
    for (const group of this.#options.groups) group.flush();
    this.#closeDrained(nowUs);
    this.#tellDrained();
    this.#tellStates();
  }

  onCut(head: SliceHead): void {
    for (const group of this.#options.groups) {
      group.flush();
      group.beforeCut();
    }
    this.#options.reports.slice(this.#options.recorder.cut(head));
    for (const group of this.#options.groups) group.afterCut();
  }

  onEnter(stage: number, atUs: number): void {
    this.#live.push({
      stage,
      runs: [],
      told: new Set(),
      drainUntilUs: Number.POSITIVE_INFINITY,
      answersOnly: false,
    });
    for (const group of this.#options.groups) group.show(stage);
    if (!this.#started) {
      this.#started = true;
      this.#options.reports.started(momentOf(this.#options.moment) - atUs);
    }
    const needs = item(this.#needs, stage);
    const spec = item(this.#options.plan.stages, stage);
    for (const group of this.#options.groups) {
      group.prepare(needs, spec, atUs);
      for (const run of group.beginAnswering(stage)) {
        this.#liveStage(stage).runs.push({ group, clockUs: atUs, run });
      }
    }
    if (!needs.prologue) return;
    // What the stage before ran too goes on at once, beside the prologue of the others.
    this.#beginRuns(stage, atUs, (key) => needs.continues.has(key));
  }

  onClock(stage: number, clockUs: number): void {
    const needs = item(this.#needs, stage);
    const spec = item(this.#options.plan.stages, stage);
    // Subscribers of the prologue are ready by now, beside streams that went on all the time.
    for (const { run } of this.#liveStage(stage).runs) run.mark();
    this.#beginRuns(stage, clockUs, (key) => !(needs.prologue && needs.continues.has(key)));
    for (const work of spec.run) this.#group(work).begin(work, clockUs);
    this.#clockUs = clockUs;
    if (spec.forUs === null) return;
    this.#endTurns(stage, spec.forUs);
    for (const { run, clockUs: runClockUs } of this.#liveStage(stage).runs) {
      run.feed.endAfter(between(runClockUs, clockUs) + spec.forUs);
    }
  }

  onEnd(stage: number, end: StageEnd): void {
    const live = this.#liveStage(stage);
    live.drainUntilUs = end.atUs + this.#options.plan.drainUs;
    // Where the stage ended by its `for`, its last turns are known already.
    if (end.forUs === null) this.#endTurns(stage, between(this.#clockUs, end.atUs));
    for (const { run, clockUs } of live.runs) {
      run.drainUntilUs = live.drainUntilUs;
      // Where the stage ended by its `for`, the feed knows its last index already.
      if (end.forUs === null) run.feed.endAfter(between(clockUs, end.atUs));
    }
  }

  /** The stage's length is known: what it does to connections ends by index, too. */
  #endTurns(stage: number, lengthUs: number): void {
    for (const work of item(this.#options.plan.stages, stage).run) {
      this.#group(work).endTurns(this.#clockUs, lengthUs);
    }
  }

  onSettle(): void {
    for (const group of this.#options.groups) group.stopWalking();
  }

  /**
   * What is due before a boundary is picked up before it, so that slices hold what belongs to them.
   * After a stall it is not: it is sent now, and would be booked too early.
   */
  #passBoundary(nowUs: number): void {
    const boundaryUs = this.#timeline.nextUs();
    if (nowUs - boundaryUs <= STALL_US) {
      for (const group of this.#options.groups) group.pick(boundaryUs);
    }
    this.#timeline.pass();
  }

  /**
   * After a stall of our own, acknowledgements may lie unread: what they would set free is not
   * dropped before the sockets were read, which happens between this tick and the next one.
   */
  #expire(nowUs: number): void {
    const stalled = nowUs - this.#lastTickUs > STALL_US;
    this.#lastTickUs = nowUs;
    this.#expirySkipped = stalled && !this.#expirySkipped;
    if (this.#expirySkipped) return;
    for (const group of this.#options.groups) group.expire();
  }

  #beginRuns(stage: number, clockUs: number, fits: (key: string) => boolean): void {
    const live = this.#liveStage(stage);
    for (const work of item(this.#options.plan.stages, stage).run) {
      const group = this.#group(work);
      for (const activity of work.activities) {
        if (activity.kind !== 'publish') continue;
        if (!fits(streamKey(work.group, activity.stream))) continue;
        live.runs.push({ group, clockUs, run: group.beginStream(activity, stage, clockUs) });
      }
    }
  }

  /** Takes ended stages out once nothing of them is open, or their drain is over. */
  #closeDrained(nowUs: number): void {
    for (let k = this.#live.length - 1; k >= 0; k--) {
      const live = item(this.#live, k);
      if (live.drainUntilUs === Number.POSITIVE_INFINITY) continue;
      // Those who answer do so until the very end, for whoever still asks.
      const stays = this.#timeline.settling && live.stage === this.currentStage();
      const isOver = stays ? allSent(live) : allResolved(live);
      if (!isOver && nowUs < live.drainUntilUs) continue;
      for (const { group, run } of live.runs) {
        if (!run.resolved && !(stays && run.answers)) group.drainOver(run);
      }
      if (stays && live.runs.some(({ run }) => run.answers)) this.#keepAnswering(live);
      else this.#close(live);
    }
  }

  /** Nothing of the last stage is left but who answers. */
  #keepAnswering(live: LiveStage): void {
    live.drainUntilUs = Number.POSITIVE_INFINITY;
    live.answersOnly = true;
    for (const { group, run } of live.runs.filter((each) => !each.run.answers)) {
      run.showGauges();
      group.remove(run);
    }
    live.runs.splice(0, live.runs.length, ...live.runs.filter(({ run }) => run.answers));
  }

  #close(live: LiveStage): void {
    for (const { group, run } of live.runs) {
      // Its gauges go to 0 in the slice that is being filled.
      run.showGauges();
      group.remove(run);
    }
    this.#live.splice(this.#live.indexOf(live), 1);
    // Subscribers and connections of the last stage go on until the end.
    if (live.stage !== this.currentStage()) this.#options.recorder.retire(live.stage);
  }

  /** There is one drain that the run waits for: the one after the end of the load. */
  #tellDrained(): void {
    if (this.#drainedTold || !this.#timeline.settling) return;
    if (this.#live.some(({ answersOnly }) => !answersOnly)) return;
    this.#drainedTold = true;
    this.#options.reports.stageState(this.currentStage(), 'drained');
  }

  #tellStates(): void {
    const live = this.#live.at(-1);
    if (live === undefined || live.drainUntilUs !== Number.POSITIVE_INFINITY) return;
    if (live.answersOnly) return;
    if (this.#timeline.inPrologue) {
      if (this.#isPrepared(live)) this.#tell(live, 'prologue_done');
      return;
    }
    const { forUs, until } = item(this.#options.plan.stages, live.stage);
    // With `until` a stage is complete when its streams are: what only connects or waits is not.
    const isAsked = forUs === null && (until === null || live.runs.some(({ run }) => !run.answers));
    if (isAsked && this.#isComplete(live)) this.#tell(live, 'complete');
  }

  #tell(live: LiveStage, state: 'prologue_done' | 'complete'): void {
    if (live.told.has(state)) return;
    live.told.add(state);
    this.#options.reports.stageState(live.stage, state);
  }

  /** Whether every activity of the stage is done; publishing is, where it has a `count`. */
  #isComplete(live: LiveStage): boolean {
    if (!this.#isPrepared(live) || !allSent(live)) return false;
    for (const work of item(this.#options.plan.stages, live.stage).run) {
      if (!this.#group(work).isDone(work)) return false;
    }
    return true;
  }

  #isPrepared(live: LiveStage): boolean {
    const needs = item(this.#needs, live.stage);
    for (const group of this.#options.groups) if (!group.prepared(needs)) return false;
    return true;
  }

  /** Names what is left as unfinished. */
  #cutOff(): void {
    for (const live of this.#live.slice()) {
      for (const { group, run } of live.runs) if (!run.resolved) group.cutOff(run);
      this.#close(live);
    }
  }

  #scan(nowUs: number): void {
    this.#nextScanUs = nowUs + SCAN_US;
    for (const group of this.#options.groups) group.scan();
  }

  #awaiting(): boolean {
    return this.#options.groups.some(({ isAwaiting }) => isAwaiting);
  }

  #group(work: StageWork): GroupLoad {
    return item(this.#options.groups, work.group);
  }

  #liveStage(stage: number): LiveStage {
    const live = this.#live.find((each) => each.stage === stage);
    if (live === undefined) throw new Error(`stage ${stage} is not live`);
    return live;
  }
}

/** Whether all messages that the stage has by its plan have found their end. */
function allSent(live: LiveStage): boolean {
  for (const { run } of live.runs) if (!run.answers && !run.resolved) return false;
  return true;
}

function allResolved(live: LiveStage): boolean {
  for (const { run } of live.runs) if (!run.resolved) return false;
  return true;
}

/**
 * From one moment to a later one, µs, rounded to a tenth: the agents' clock offsets differ in the
 * last digits, and none of them may see an index more or less than the others because of that.
 */
function between(fromUs: number, toUs: number): number {
  return Math.round((toUs - fromUs) * 10) / 10;
}
