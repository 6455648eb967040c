import { METRICS, type MetricName, type RunAggregate } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import { targetPerS } from '@squall/core/schedule';
import type { Load } from './load.ts';
import type { Progress, ProgressTime } from './run-handle.ts';
import type { Roster } from './roster.ts';
import type { StageRecord } from './stage-walk.ts';

export interface ProgressScene {
  readonly plan: Plan;
  readonly roster: Roster;
  readonly load: Load;
  /** Whether the agents remove from the brokers what the plan wants removed. */
  readonly isCleaning: boolean;
  /** µs of the monotonic clock. */
  readonly nowUs: number;
}

/** The live view's figures at this moment. */
export function progressOf(scene: ProgressScene): Progress {
  const { load, nowUs, plan, roster } = scene;
  const { measurements, startUs, walk } = load;
  const { aggregate } = measurements;
  /** The stage that runs or ran last, null before the first. */
  const stage = walk.records.at(-1) ?? null;
  const step = aggregate.timeline.lastStepBefore(measurements.closedUs);
  const perS = 1_000_000 / aggregate.timeline.stepUs;
  const rates: Partial<Record<MetricName, number>> = {};
  for (const [metric, growth] of step?.counters ?? []) rates[metric] = growth * perS;
  const times: Partial<Record<MetricName, ProgressTime>> = {};
  for (const [metric, { p50Us, p99Us }] of step?.times ?? []) times[metric] = { p50Us, p99Us };
  return {
    stage: stage === null ? null : { index: stage.stage.index, name: stage.stage.name },
    ...clockOf(stage, scene),
    targetPerS: targetOf(plan, stage, { load, nowUs }),
    elapsedUs: nowUs - startUs,
    clients: plan.groups.reduce((sum, group) => sum + group.clients, 0),
    connections: aggregate.gauge('connections'),
    totals: totalsOf(aggregate),
    rates,
    times,
    agents: roster.agents.map((agent) => ({
      id: agent.id,
      state: agent.state,
      loopDelayP99Us: agent.session.health?.loopDelayP99Us ?? null,
      rssBytes: agent.session.health?.rssBytes ?? null,
    })),
  };
}

function clockOf(
  stage: StageRecord | null,
  { isCleaning, load: { startUs, endUs: loadEndUs }, nowUs }: ProgressScene,
): Pick<Progress, 'phase' | 'stageElapsedUs' | 'stageLengthUs'> {
  if (loadEndUs !== null) {
    const phase = isCleaning ? 'cleanup' : 'settle';
    return { phase, stageElapsedUs: nowUs - loadEndUs, stageLengthUs: null };
  }
  if (stage === null) {
    return { phase: 'prologue', stageElapsedUs: nowUs - startUs, stageLengthUs: null };
  }
  const { clockUs, enteredUs } = stage;
  if (clockUs === null) {
    return { phase: 'prologue', stageElapsedUs: nowUs - enteredUs, stageLengthUs: null };
  }
  return { phase: 'main', stageElapsedUs: nowUs - clockUs, stageLengthUs: stage.stage.forUs };
}

function targetOf(
  plan: Plan,
  stage: StageRecord | null,
  { load, nowUs }: Pick<ProgressScene, 'load' | 'nowUs'>,
): number | null {
  if (load.endUs !== null || stage === null || stage.clockUs === null) return null;
  return targetPerS(plan, stage.stage, Math.max(0, nowUs - stage.clockUs));
}

function totalsOf(aggregate: RunAggregate): Partial<Record<MetricName, number>> {
  const totals: Partial<Record<MetricName, number>> = {};
  for (const { key, value } of aggregate.series()) {
    if (METRICS[key.metric].kind !== 'counter') continue;
    totals[key.metric] = (totals[key.metric] ?? 0) + value;
  }
  return totals;
}
