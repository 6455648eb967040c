import type { RunAggregate } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import type { ProbeBook } from '@squall/core/probes';
import type { ThresholdResult } from '@squall/core/thresholds';
import type { Load } from './load.ts';
import { inPlanOrder } from './probes/plan-order.ts';
import type { AgentRunState } from './run-handle.ts';
import type { RunAgent } from './run-agent.ts';
import type { StageRecord } from './stage-walk.ts';

/** What is measured of a run, for those who look at it while it goes on. */
export interface RunFigures {
  /** T, ms since the epoch. */
  readonly startedMs: number;
  /** Grows with every frame; to be read only. */
  readonly aggregate: RunAggregate;
  /** µs on the run's timeline up to which everything is in. */
  closedUs(): number;
  /** The stages begun so far. */
  stages(): readonly StageSpan[];
  /** How the thresholds would come out if the run ended now. */
  thresholds(): readonly ThresholdResult[];
  /** What the probes read; to be read only. */
  readonly probes: ProbeBook;
}

/** µs on the run's timeline; null: not yet. */
export interface StageSpan {
  readonly name: string;
  readonly fromUs: number;
  readonly clockUs: number | null;
  readonly toUs: number | null;
}

/** An agent in a run, as the outside sees it. */
export interface RunAgentView {
  readonly id: string;
  readonly host: string;
  readonly workers: number;
  readonly version: string;
  readonly state: AgentRunState;
  /** Why it was lost, or refused its share. */
  readonly reason: string | null;
  readonly workersLost: readonly { readonly worker: number; readonly reason: string }[];
  readonly clockBoundUs: number | null;
  readonly startSkewUs: number | null;
  readonly framesReceived: number;
  /** Gaps in what it sent, as far as they show by now. */
  readonly framesMissing: number;
  /** µs on the run's timeline up to which it has reported. */
  readonly reportedUpToUs: number | null;
  readonly cpuSeconds: number | null;
  readonly rssBytesMax: number | null;
  readonly loopDelayP99Us: number | null;
}

export function agentViewIn(agent: RunAgent, aggregate: RunAggregate | null): RunAgentView {
  const { facts } = agent.session;
  const gaps = aggregate?.missing(agent.id, agent.finished?.lastSeq) ?? [];
  return {
    id: agent.id,
    host: facts.host,
    workers: facts.workers,
    version: facts.version,
    state: agent.state,
    reason: agent.lost?.reason ?? (agent.refusals.length > 0 ? agent.refusals.join('; ') : null),
    workersLost: [...agent.workersLost],
    clockBoundUs: agent.clockBoundUs,
    startSkewUs: agent.startSkewUs,
    framesReceived: aggregate?.framesReceived(agent.id) ?? 0,
    framesMissing: gaps.reduce((sum, gap) => sum + gap.to - gap.from + 1, 0),
    reportedUpToUs: aggregate?.reportedUpToUs(agent.id) ?? null,
    cpuSeconds: agent.finished?.cpuSeconds ?? agent.cpuSeconds,
    rssBytesMax: agent.finished?.rssBytesMax ?? agent.rssBytesMax,
    loopDelayP99Us: agent.loopDelayP99Us,
  };
}

/** `startedMs`: T, ms since the epoch. */
export function figuresOf(load: Load, plan: Plan, startedMs: number): RunFigures {
  const { measurements, probes, startUs, walk } = load;
  return {
    startedMs,
    aggregate: measurements.aggregate,
    closedUs: () => measurements.closedUs,
    stages: () => walk.records.map((record) => spanOf(record, startUs)),
    thresholds: () => inPlanOrder(plan, measurements.thresholdsNow(), probes.thresholds()),
    probes: probes.book,
  };
}

/** `startUs`: T, µs of the monotonic clock. */
function spanOf(record: StageRecord, startUs: number): StageSpan {
  const { stage, enteredUs, clockUs, endUs } = record;
  return {
    name: stage.name,
    fromUs: enteredUs - startUs,
    clockUs: clockUs === null ? null : clockUs - startUs,
    toUs: endUs === null ? null : endUs - startUs,
  };
}
