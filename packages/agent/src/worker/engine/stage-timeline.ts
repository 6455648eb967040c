import type { Phase } from '@squall/core/metrics';
import type { Stage } from '@squall/core/plan';
import type { StageNeeds } from '@squall/core/schedule';
import type { SliceHead } from '../measure/recorder.ts';

const SLICE_US = 1_000_000;

/** What the timeline tells, in the order in which it happens. */
export interface TimelineListener {
  /** A slice is over. */
  onCut(head: SliceHead): void;
  onEnter(stage: number, atUs: number): void;
  /** The stage's clock started (right after `onEnter` where it has no prologue). */
  onClock(stage: number, clockUs: number): void;
  onEnd(stage: number, end: StageEnd): void;
  /** The last stage is over: acknowledgements and deliveries are awaited. */
  onSettle(atUs: number): void;
}

export interface StageEnd {
  readonly atUs: number;
  /** The stage's length where it ended by its `for`, exactly; null where it ended otherwise. */
  readonly forUs: number | null;
}

/**
 * Where the worker is in the plan: which stage, in its prologue or after its clock, and in which
 * slice. Pure: it is told the commands of the controller and asked for the next boundary.
 *
 * All workers cut at the same moments: at whole seconds from the stage's clock (in a prologue: from
 * the stage's start), at the clock itself and at the end.
 */
export class StageTimeline {
  readonly #stages: readonly Stage[];
  readonly #needs: readonly StageNeeds[];
  readonly #listener: TimelineListener;
  /** -1 before the start; the number of stages after the last end. */
  #stage = -1;
  #entered = 0;
  #phase: Phase | null = null;
  #runStartUs = 0;
  #clockUs = 0;
  #sliceFromUs = 0;
  /** From where the seconds of the phase are counted. */
  #baseUs = 0;
  #n = 0;
  #advance: { stage: number; atUs: number } | null = null;
  #clock: { stage: number; atUs: number } | null = null;

  constructor(stages: readonly Stage[], needs: readonly StageNeeds[], listener: TimelineListener) {
    this.#stages = stages;
    this.#needs = needs;
    this.#listener = listener;
  }

  /** The current stage; after the end of the load the one that was entered last; 0 before it. */
  get stage(): number {
    return this.#entered;
  }

  get settling(): boolean {
    return this.#phase === 'settle';
  }

  get inPrologue(): boolean {
    return this.#phase === 'prologue';
  }

  /** A moment on the run's timeline: 0 is the start of the first stage. */
  sinceStart(us: number): number {
    return us - this.#runStartUs;
  }

  /** Enter `stage` at `atUs`; the number of stages is the end of the load. */
  advance(stage: number, atUs: number): void {
    if (stage > this.#stage) this.#advance = { stage, atUs };
  }

  /** The clock of a stage with a prologue starts at `atUs`. */
  clock(stage: number, atUs: number): void {
    this.#clock = { stage, atUs };
  }

  /** The load ends at `atUs`, wherever it is. */
  stop(atUs: number): void {
    if (!this.settling) this.#advance = { stage: this.#stages.length, atUs };
  }

  /** The next boundary, µs; Infinity where none is known. */
  nextUs(): number {
    return Math.min(this.#endUs(), this.#clockStartUs(), this.#cutUs());
  }

  /** Passes the next boundary. */
  pass(): void {
    const endUs = this.#endUs();
    const clockUs = this.#clockStartUs();
    const cutUs = this.#cutUs();
    if (endUs <= clockUs && endUs <= cutUs) this.#changeStage(endUs);
    else if (clockUs <= cutUs) this.#startClock(clockUs);
    else this.#cut(cutUs);
  }

  /** Cuts what there is, for the last slice of all. */
  cutNow(nowUs: number): void {
    if (this.#phase !== null) this.#cut(nowUs);
  }

  /** When the stage ends by its own `for`. */
  #forUs(): number {
    const forUs = this.#stages[this.#stage]?.forUs ?? null;
    if (this.#phase !== 'main' || forUs === null) return Number.POSITIVE_INFINITY;
    return this.#clockUs + forUs;
  }

  #endUs(): number {
    const advance = this.#advance;
    if (this.settling) return Number.POSITIVE_INFINITY;
    return advance === null ? this.#forUs() : Math.min(this.#forUs(), advance.atUs);
  }

  #clockStartUs(): number {
    const clock = this.#clock;
    if (clock === null || !this.inPrologue || clock.stage !== this.#stage) {
      return Number.POSITIVE_INFINITY;
    }
    return clock.atUs;
  }

  #cutUs(): number {
    if (this.#phase === null) return Number.POSITIVE_INFINITY;
    return this.#baseUs + (this.#n + 1) * SLICE_US;
  }

  #changeStage(atUs: number): void {
    const byFor = this.#forUs() <= atUs;
    const ownForUs = this.#stages[this.#stage]?.forUs ?? null;
    const advance = this.#advance;
    const advanced = advance !== null && advance.atUs <= atUs;
    const next = advanced ? advance.stage : this.#stage + 1;
    if (advanced || (advance !== null && advance.stage <= next)) this.#advance = null;
    if (this.#stage < 0) this.#runStartUs = atUs;
    else {
      this.#cutRest(atUs);
      this.#listener.onEnd(this.#stage, { atUs, forUs: byFor ? ownForUs : null });
    }
    this.#stage = next;
    if (next >= this.#stages.length) this.#settle(atUs);
    else this.#enter(next, atUs);
  }

  #enter(stage: number, atUs: number): void {
    const prologue = this.#needs[stage]?.prologue === true;
    this.#entered = stage;
    this.#beginPhase('prologue', atUs);
    this.#listener.onEnter(stage, atUs);
    if (!prologue) this.#startClock(atUs);
  }

  #startClock(atUs: number): void {
    this.#clock = null;
    this.#cutRest(atUs);
    this.#clockUs = atUs;
    this.#beginPhase('main', atUs);
    this.#listener.onClock(this.#stage, atUs);
  }

  #settle(atUs: number): void {
    this.#beginPhase('settle', atUs);
    this.#listener.onSettle(atUs);
  }

  #beginPhase(phase: Phase, atUs: number): void {
    this.#phase = phase;
    this.#baseUs = atUs;
    // A command that came late does not make slices overlap.
    this.#sliceFromUs = Math.max(atUs, this.#sliceFromUs);
    this.#n = 0;
  }

  /** Cuts the shorter last slice of a phase, if there is one. */
  #cutRest(atUs: number): void {
    if (atUs > this.#sliceFromUs) this.#cut(atUs);
  }

  #cut(atUs: number): void {
    const toUs = Math.max(atUs, this.#sliceFromUs);
    this.#listener.onCut({
      stage: this.stage,
      phase: this.#phase ?? 'main',
      n: this.#n,
      span: 1,
      fromUs: this.sinceStart(this.#sliceFromUs),
      toUs: this.sinceStart(toUs),
    });
    this.#sliceFromUs = toUs;
    this.#n += 1;
  }
}
