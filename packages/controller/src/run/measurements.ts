import { SquallError } from '@squall/core/errors';
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
import type { TimeSource } from '../time-source.ts';
import { conditionHolds } from './condition.ts';
import type { Roster } from './roster.ts';
import type { RunAgent } from './run-agent.ts';

export interface MeasurementsScene {
  readonly run: string;
  readonly plan: Plan;
  readonly roster: Roster;
  readonly time: TimeSource;
  /** T, µs of the monotonic clock. */
  readonly startUs: number;
  /** How long a moment waits for agents that have not reported it. */
  readonly watermarkUs: number;
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
  /** The stage whose condition was looked at last, and what came out. */
  #condition: { readonly stage: number; readonly at: Moment; readonly holds: boolean } | null =
    null;

  constructor(scene: MeasurementsScene) {
    this.#scene = scene;
    this.aggregate = new RunAggregate(scene.run);
    this.#judgeOptions = {
      plan: scene.plan,
      agents: scene.roster.agents.map((agent) => agent.id),
      untimedDeliveries: clockDomains(scene.roster).size > 1,
    };
    this.judge = new Judge(this.#judgeOptions);
    this.generator = new GeneratorWatch(
      scene.plan.stages.filter((stage) => stage.warmup).map((stage) => stage.index),
    );
    this.aggregate.onSlice((agent, slice) => {
      this.judge.add(agent, slice);
      this.generator.add(agent, slice);
    });
  }

  /** The sequence up to which the agent may forget, or null where the frame is no good. */
  accept(agent: RunAgent, bytes: Uint8Array): number | null {
    const frame = this.#decode(agent, bytes);
    if (frame === null) return null;
    const outcome = this.aggregate.fold(frame);
    if (outcome === 'foreign') return null;
    if (outcome === 'conflict') {
      this.#scene.warning(
        `frames ${frame.seqFrom}–${frame.seqTo} of agent ${agent.id} overlap with earlier ones`,
      );
    }
    this.close();
    return this.aggregate.contiguousSeq(agent.id, agent.epoch);
  }

  /** Closes what all agents have reported, or what has waited long enough for those that are late. */
  close(): void {
    const { roster, time, startUs, watermarkUs } = this.#scene;
    const reporting = roster.live().filter((agent) => agent.finished === null);
    // Once all have finished nothing more is awaited: everything that came is closed.
    const ids = (reporting.length > 0 ? reporting : roster.live()).map((agent) => agent.id);
    const nowUs = time.monotonicUs() - startUs;
    this.#closed = this.aggregate.closedUpTo(ids, nowUs, watermarkUs);
  }

  /** How the thresholds would come out if the run ended now. */
  thresholdsNow(): readonly ThresholdResult[] {
    // A judge's word is final, so a copy of it is asked.
    return new Judge(this.#judgeOptions, this.judge.toJSON()).finish();
  }

  /** Nobody waits for the agent's frames any more, and what it held is gone. */
  lost(agent: RunAgent): void {
    this.aggregate.agentLost(agent.id);
    this.judge.agentLost(agent.id);
    this.close();
  }

  /** A threshold with `abort` that is broken by now; told once. */
  broken(): AbortDecision | null {
    return this.judge.advance(this.#scene.time.monotonicUs() - this.#scene.startUs);
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

  /** Whether all frames of an agent that has finished are in. */
  complete(agent: RunAgent): boolean {
    return agent.finished !== null && this.acknowledged(agent) >= agent.finished.lastSeq;
  }

  acknowledged(agent: RunAgent): number {
    return this.aggregate.contiguousSeq(agent.id, agent.epoch);
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

function clockDomains(roster: Roster): Set<string> {
  return new Set(roster.agents.map((agent) => agent.session.facts.clockDomain));
}
