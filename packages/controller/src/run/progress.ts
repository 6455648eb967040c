import { METRICS, type MetricName, type RunAggregate } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import type { Progress, ProgressTime } from './run-handle.ts';
import type { Roster } from './roster.ts';
import type { StageRecord } from './stage-walk.ts';

export interface ProgressScene {
  readonly plan: Plan;
  readonly roster: Roster;
  readonly aggregate: RunAggregate;
  /** The stage that runs or ran last, null before the first. */
  readonly stage: StageRecord | null;
  /** µs of the monotonic clock: now, T, and the end of the load (null while there is load). */
  readonly nowUs: number;
  readonly startUs: number;
  readonly loadEndUs: number | null;
  /** µs on the run's timeline up to which everything is in. */
  readonly closedUs: number;
}

/** The live view's figures at this moment. */
export function progressOf(scene: ProgressScene): Progress {
  const { aggregate, plan, stage } = scene;
  const step = aggregate.timeline.lastStepBefore(scene.closedUs);
  const perS = 1_000_000 / aggregate.timeline.stepUs;
  const rates: Partial<Record<MetricName, number>> = {};
  for (const [metric, growth] of step?.counters ?? []) rates[metric] = growth * perS;
  const times: Partial<Record<MetricName, ProgressTime>> = {};
  for (const [metric, { p50Us, p99Us }] of step?.times ?? []) times[metric] = { p50Us, p99Us };
  return {
    stage: stage === null ? null : { index: stage.stage.index, name: stage.stage.name },
    ...clockOf(scene),
    elapsedUs: scene.nowUs - scene.startUs,
    clients: plan.groups.reduce((sum, group) => sum + group.clients, 0),
    connections: aggregate.gauge('connections'),
    totals: totalsOf(aggregate),
    rates,
    times,
    agents: scene.roster.agents.map((agent) => ({
      id: agent.id,
      state: agent.state,
      loopDelayP99Us: agent.session.health?.loopDelayP99Us ?? null,
      rssBytes: agent.session.health?.rssBytes ?? null,
    })),
  };
}

function clockOf(
  scene: ProgressScene,
): Pick<Progress, 'phase' | 'stageElapsedUs' | 'stageLengthUs'> {
  const { stage, nowUs, loadEndUs } = scene;
  if (loadEndUs !== null) {
    return { phase: 'settle', stageElapsedUs: nowUs - loadEndUs, stageLengthUs: null };
  }
  if (stage === null) {
    return { phase: 'prologue', stageElapsedUs: nowUs - scene.startUs, stageLengthUs: null };
  }
  const { clockUs, enteredUs } = stage;
  if (clockUs === null) {
    return { phase: 'prologue', stageElapsedUs: nowUs - enteredUs, stageLengthUs: null };
  }
  return { phase: 'main', stageElapsedUs: nowUs - clockUs, stageLengthUs: stage.stage.forUs };
}

function totalsOf(aggregate: RunAggregate): Partial<Record<MetricName, number>> {
  const totals: Partial<Record<MetricName, number>> = {};
  for (const { key, value } of aggregate.series()) {
    if (METRICS[key.metric].kind !== 'counter') continue;
    totals[key.metric] = (totals[key.metric] ?? 0) + value;
  }
  return totals;
}
