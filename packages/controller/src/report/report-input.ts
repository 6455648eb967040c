import type { LedgerResult } from '@squall/core/ledger';
import type { Plan } from '@squall/core/plan';
import type {
  AgentRecord,
  BusTrouble,
  ReportInput,
  RunFacts,
  RunOutcome,
  StageRecord,
} from '@squall/core/report';
import { Judge } from '@squall/core/thresholds';
import { conditionValue } from '../run/condition.ts';
import type { Cut } from '../run/cut.ts';
import type { Measurements } from '../run/measurements.ts';
import { inPlanOrder } from '../run/probes/plan-order.ts';
import type { RunProbes } from '../run/probes/run-probes.ts';
import type { RunAgent } from '../run/run-agent.ts';
import type { StageRecord as WalkedStage } from '../run/stage-walk.ts';
import type { SubmitOptions } from '../run/submit-options.ts';
import { cleanupNotes } from './cleanup-notes.ts';
import { environment } from './environment.ts';

/** A run that is over, as its state machine knows it. Moments are µs of the monotonic clock. */
export interface EndedRun {
  readonly id: string;
  readonly plan: Plan;
  readonly options: SubmitOptions;
  readonly agents: readonly RunAgent[];
  readonly stages: readonly WalkedStage[];
  readonly cut: Cut | null;
  readonly warnings: readonly string[];
  readonly bus: readonly BusTrouble[];
  readonly submittedUs: number;
  readonly submittedUtcMs: number;
  /** T, or null where the load never began. */
  readonly startUs: number | null;
  readonly endUs: number;
  /** Null where delivery was not verified. */
  readonly ledger: LedgerResult | null;
  /** Null where the load never began. */
  readonly probes: RunProbes | null;
  /** Null where the load never ended. */
  readonly loadEndUs: number | null;
}

/** `measured` is null where the load never began. */
export function reportInput(run: EndedRun, measured: Measurements | null): ReportInput {
  const zeroUs = run.startUs ?? run.submittedUs;
  const judge = measured?.judge ?? new Judge({ plan: run.plan, agents: [] });
  return {
    run: runFacts(run, zeroUs),
    plan: run.plan,
    split: run.agents.map((agent) => agent.share),
    agents: run.agents.map((agent) => agentRecord(agent, zeroUs, measured)),
    stages: run.stages.map((stage) => stageRecord(stage, zeroUs, run.endUs)),
    aggregate: measured?.aggregate ?? null,
    thresholds: inPlanOrder(run.plan, judge.finish(), run.probes?.thresholds() ?? new Map()),
    generator: measured?.generator.facts() ?? { agents: new Map() },
    ...(run.ledger === null ? {} : { ledger: run.ledger }),
    ...(run.probes === null || run.plan.probes.length === 0
      ? {}
      : { probes: run.probes.book.records() }),
    ...(run.probes === null ? {} : { balance: run.probes.balance(run.loadEndUs) }),
    outcome: outcomeOf(run.cut),
    notes: [...run.warnings, ...overshoots(run.stages, measured), ...cleanupNotes(run)],
    bus: run.bus,
  };
}

function runFacts(run: EndedRun, zeroUs: number): RunFacts {
  const { options, plan } = run;
  return {
    id: run.id,
    startedUtcMs: run.submittedUtcMs + (zeroUs - run.submittedUs) / 1_000,
    // A run that is stopped between the announcement of T and T itself has no duration.
    durationUs: Math.max(0, run.endUs - zeroUs),
    version: options.version,
    environment: environment(),
    labels: { ...plan.labels, ...options.labels },
    strict: options.strict ?? false,
    scale: options.scale ?? 1,
    scaled: options.scaled ?? [],
  };
}

function agentRecord(agent: RunAgent, zeroUs: number, measured: Measurements | null): AgentRecord {
  const { facts } = agent.session;
  return {
    id: agent.id,
    host: facts.host,
    cores: facts.cores,
    workers: facts.workers,
    version: facts.version,
    state: agentState(agent),
    lostAtUs: agent.lost === null ? null : agent.lost.atUs - zeroUs,
    reason: agent.lost?.reason ?? (agent.refusals.length > 0 ? agent.refusals.join('; ') : null),
    workersLost: agent.workersLost,
    clockBoundUs: agent.clockBoundUs,
    startSkewUs: agent.startSkewUs,
    framesProduced: agent.finished?.lastSeq ?? null,
    framesReceived: measured?.aggregate.framesReceived(agent.id) ?? 0,
    cpuSeconds: agent.finished?.cpuSeconds ?? agent.cpuSeconds,
    rssBytesMax: agent.finished?.rssBytesMax ?? agent.rssBytesMax,
    loopDelayP99Us: agent.loopDelayP99Us,
    clockDomain: facts.clockDomain,
    hostFigures: agent.hostRecord.summary(),
    hostPoints: agent.hostRecord.points(zeroUs),
  };
}

function agentState(agent: RunAgent): AgentRecord['state'] {
  if (agent.refusals.length > 0) return 'refused';
  return agent.lost === null ? 'completed' : 'lost';
}

function stageRecord(walked: WalkedStage, zeroUs: number, runEndUs: number): StageRecord {
  return {
    index: walked.stage.index,
    enteredUs: walked.enteredUs - zeroUs,
    clockUs: walked.clockUs === null ? null : walked.clockUs - zeroUs,
    endUs: (walked.endUs ?? runEndUs) - zeroUs,
    endedBy: walked.endedBy ?? 'aborted',
  };
}

/** Everyone works on until the announced end of a stage, so a condition is always overshot. */
function overshoots(stages: readonly WalkedStage[], measured: Measurements | null): string[] {
  if (measured === null) return [];
  return stages.flatMap(({ stage, endedBy }) => {
    if (endedBy !== 'condition' || stage.until === null) return [];
    const value = conditionValue(stage.until, measured.aggregate, stage.index);
    return [
      `Stage ${stage.name} ended by its condition ${stage.until.text}; at its end the value was ${value}.`,
    ];
  });
}

function outcomeOf(cut: Cut | null): RunOutcome {
  if (cut === null) return { kind: 'completed' };
  const { cause, reasons } = cut;
  switch (cause) {
    case 'stopped':
      return { kind: 'cancelled', by: cut.by ?? 'api', reasons };
    case 'threshold':
    case 'agents':
    case 'error':
      return { kind: cause, reasons };
    case 'agent_lost':
    case 'max_duration':
    case 'incomplete':
      return { kind: 'aborted', policy: cause, reasons };
  }
}
