import { SquallError } from '@squall/core/errors';
import type { LedgerPage } from '@squall/core/ledger';
import {
  compareMoments,
  decodeFrame,
  type Frame,
  type Moment,
  RunAggregate,
} from '@squall/core/metrics';
import type { Plan, Stage } from '@squall/core/plan';
import { GeneratorWatch } from '@squall/core/report';
import {
  type AbortDecision,
  Judge,
  type JudgeOptions,
  type ThresholdResult,
} from '@squall/core/thresholds';
import type { AgentPosition } from '../store/store.ts';
import type { TimeSource } from '../time-source.ts';
import type { SavedMeasurements } from './checkpoint/saved-run.ts';
import { conditionHolds } from './condition.ts';
import type { Roster } from './roster.ts';
import type { RunAgent } from './run-agent.ts';
import type { RunLedger } from './run-ledger.ts';

export interface MeasurementsScene {
  readonly run: string;
  readonly plan: Plan;
  readonly roster: Roster;
  readonly time: TimeSource;
  /** T, µs of the monotonic clock. */
  readonly startUs: number;
  /** How long a moment waits for agents that have not reported it. */
  readonly watermarkUs: number;
  /** How long the bus may be out of order before that is known. */
  readonly noticeUs: number;
  /** Whether the bus is out of order, so that the absence of frames says nothing about an agent. */
  holdsUp(agents: readonly string[]): boolean;
  readonly ledger: RunLedger;
  /** Of an earlier life of the run. */
  readonly saved?: SavedMeasurements | undefined;
  warning(text: string): void;
}

/** All that is measured in one run: takes frames once each, closes moments, keeps the judge fed. */
export class Measurements {
  readonly #scene: MeasurementsScene;
  readonly aggregate: RunAggregate;
  readonly judge: Judge;
  readonly #judgeOptions: JudgeOptions;
  readonly generator: GeneratorWatch;
  #closed: Moment | null = null;
  /** Where the watermark stands while agents catch up with a controller that was away. */
  #heldUs: number | null = null;
  /** Frames are held up by the bus, or come in late after that. */
  #isBehind = false;
  /** The stage whose condition was looked at last, and what came out. */
  #condition: { readonly stage: number; readonly at: Moment; readonly holds: boolean } | null =
    null;

  constructor(scene: MeasurementsScene) {
    this.#scene = scene;
    this.aggregate = new RunAggregate(scene.run, scene.saved?.aggregate);
    this.#judgeOptions = {
      plan: scene.plan,
      agents: scene.roster.agents.map((agent) => agent.id),
    };
    this.judge = new Judge(this.#judgeOptions, scene.saved?.judge);
    this.generator = new GeneratorWatch(
      scene.plan.stages.filter((stage) => stage.warmup).map((stage) => stage.index),
      scene.saved?.generator,
    );
    this.aggregate.onSlice((agent, slice) => {
      this.judge.add(agent, slice);
      this.generator.add(agent, slice);
    });
  }

  toJSON(): SavedMeasurements {
    const { aggregate, judge, generator } = this;
    return {
      aggregate: aggregate.toJSON(),
      judge: judge.toJSON(),
      generator: [...generator.toJSON()],
    };
  }

  /** Nothing is called late that ended after this moment; null: the time goes on. */
  holdAt(momentUs: number | null): void {
    this.#heldUs = momentUs;
  }

  /** False where the frame is no good. */
  accept(agent: RunAgent, bytes: Uint8Array): boolean {
    const frame = this.#decode(agent, bytes);
    if (frame === null) return false;
    const outcome = this.aggregate.fold(frame);
    if (outcome === 'foreign') return false;
    if (outcome === 'conflict') {
      this.#scene.warning(
        `frames ${frame.seqFrom}–${frame.seqTo} of agent ${agent.id} overlap with earlier ones`,
      );
    }
    if (outcome !== 'duplicate') this.#takePages(agent, frame.pages ?? []);
    this.close();
    return true;
  }

  /** What is wrong with a page does not make its frame wrong: it would only be sent again. */
  #takePages(agent: RunAgent, pages: readonly LedgerPage[]): void {
    for (const page of pages) {
      try {
        this.#scene.ledger.add(agent.id, page);
      } catch (error) {
        if (!(error instanceof SquallError)) throw error;
        agent.session.countBad(error.message);
      }
    }
  }

  /** Closes what all agents have reported, or what has waited long enough for those that are late. */
  close(): void {
    const ids = this.#awaited();
    this.#closed = this.aggregate.closedUpTo(ids, this.#nowUs(), this.#scene.watermarkUs);
  }

  /** How the thresholds would come out if the run ended now. */
  thresholdsNow(): readonly ThresholdResult[] {
    // A judge's word is final, so a copy of it is asked.
    const copy = new Judge(this.#judgeOptions, this.judge.toJSON());
    copy.takeLedger([], 'the delivery ledger is made when the run is over');
    return copy.finish();
  }

  /** Nobody waits for the agent's frames any more, and what it held is gone. */
  lost(agent: RunAgent): void {
    this.aggregate.agentLost(agent.id);
    this.judge.agentLost(agent.id);
    this.close();
  }

  /** A threshold with `abort` that is broken by now; told once. */
  broken(): AbortDecision | null {
    return this.judge.advance(this.#nowUs());
  }

  /** µs on the run's timeline up to which the figures are complete, as far as they ever will be. */
  get closedUs(): number {
    return this.#closed?.toUs ?? 0;
  }

  /** `until` of a stage, over its closed seconds. */
  conditionHolds(stage: Stage): boolean {
    const at = this.#closed;
    if (stage.until === null || at === null || at.stage !== stage.index) return false;
    const known = this.#condition;
    if (known?.stage === stage.index && compareMoments(known.at, at) === 0) return known.holds;
    const holds = conditionHolds(stage.until, this.aggregate, stage.index);
    this.#condition = { stage: stage.index, at, holds };
    return holds;
  }

  /** When something was received last, and how far all live agents have reported; monotonic µs. */
  quiet(): { readonly fromUs: number; readonly reportedUs: number } {
    const { roster, startUs } = this.#scene;
    const reported = roster
      .live()
      .map((agent) => this.aggregate.reportedUpToUs(agent.id) ?? Number.NEGATIVE_INFINITY);
    return {
      fromUs: startUs + (this.aggregate.lastGrowthUs('received') ?? Number.NEGATIVE_INFINITY),
      reportedUs: startUs + Math.min(...reported),
    };
  }

  /** When the last one of all expected messages arrived, monotonic µs; null while some are awaited. */
  allArrivedUs(): number | null {
    const { ledger, startUs } = this.#scene;
    const { goal } = ledger;
    if (goal === null || this.aggregate.counter({ metric: 'arrived' }) !== goal) return null;
    return startUs + (this.aggregate.lastGrowthUs('arrived') ?? Number.NEGATIVE_INFINITY);
  }

  /** Whether all frames of an agent that has finished are in. */
  complete(agent: RunAgent): boolean {
    return agent.finished !== null && this.position(agent).seq >= agent.finished.lastSeq;
  }

  /** How far everything of the agent is in. */
  position({ id, epoch }: RunAgent): AgentPosition {
    return { agent: id, epoch, seq: this.aggregate.contiguousSeq(id, epoch) };
  }

  /** Agents that a moment waits for. Once all have finished everything that came is closed. */
  #awaited(): string[] {
    const live = this.#scene.roster.live();
    const reporting = live.filter((agent) => agent.finished === null);
    return (reporting.length > 0 ? reporting : live).map((agent) => agent.id);
  }

  /**
   * The moment at which lateness is measured, on the run's timeline. While frames are held up by the
   * bus, and until all agents have caught up after it, it is no later than what they have reported:
   * what is missing then is the bus's fault, and half of the agents' figures must break no threshold.
   */
  #nowUs(): number {
    const { noticeUs, time, startUs, watermarkUs } = this.#scene;
    const nowUs = (this.#heldUs ?? time.monotonicUs()) - startUs;
    const awaited = this.#awaited();
    const reportedUs = Math.min(
      ...awaited.map((agent) => this.aggregate.reportedUpToUs(agent) ?? Number.NEGATIVE_INFINITY),
    );
    const caughtUp = nowUs - reportedUs <= watermarkUs;
    this.#isBehind = this.#scene.holdsUp(awaited) || (this.#isBehind && !caughtUp);
    return this.#isBehind ? Math.min(nowUs, reportedUs) : nowUs - noticeUs;
  }

  #decode(agent: RunAgent, bytes: Uint8Array): Frame | null {
    try {
      const frame = decodeFrame(bytes);
      if (frame.agent === agent.id && frame.epoch === agent.epoch) return frame;
      agent.session.countBad('a frame of another agent');
    } catch (error) {
      if (!(error instanceof SquallError)) throw error;
      agent.session.countBad(error.message);
    }
    return null;
  }
}
