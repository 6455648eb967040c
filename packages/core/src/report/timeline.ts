import type { Plan } from '../plan/plan.ts';
import { subjectGroups } from './figures.ts';
import type { ReportInput } from './input.ts';
import type { Report } from './model.ts';

const STEP_US = 1_000_000;

/** The curves of the run, labelled, and where its stages lie in them. */
export function timelineOf(input: ReportInput, startedAt: string): Report['timeline'] {
  const { plan, stages, aggregate } = input;
  const labels = labelsOf(plan);
  return {
    startedAt,
    stepUs: aggregate?.timeline.stepUs ?? STEP_US,
    stages: stages.map(({ index, enteredUs, clockUs, endUs }) => ({
      name: plan.stages[index]?.name ?? `stage ${index}`,
      fromUs: Math.round(enteredUs),
      clockUs: clockUs === null ? null : Math.round(clockUs),
      toUs: Math.round(endUs),
    })),
    series: [
      ...(aggregate?.timeline.series() ?? []).map(({ metric, subject, stat, values }) => ({
        metric,
        labels: { ...labels(subject), stat },
        values: [...values],
      })),
      ...outsideSeries(input, aggregate?.timeline.stepUs ?? STEP_US),
      ...hostSeries(input, aggregate?.timeline.stepUs ?? STEP_US),
    ],
  };
}

/** What probes read and how far the sides of balances were apart, in the steps of the load's curves. */
function outsideSeries(
  { probes, balance, run }: ReportInput,
  stepUs: number,
): Report['timeline']['series'] {
  const steps = Math.max(1, Math.ceil(run.durationUs / stepUs));
  const ofProbes = [...(probes ?? [])].flatMap(([probe, { figures }]) =>
    Object.entries(figures).map(([figure, { points }]) => ({
      metric: figure,
      labels: { probe, stat: 'value' },
      values: inSteps(points, stepUs, steps),
    })),
  );
  const ofBalance = (balance ?? []).map(({ equation, points }) => ({
    metric: 'balance_difference',
    labels: { equation, stat: 'value' },
    values: inSteps(points, stepUs, steps),
  }));
  return [...ofProbes, ...ofBalance];
}

/** Hosts of load generators that get curves of their own. */
const MAX_HOST_CURVES = 64;

/** How the hosts of the load generators fared; of several agents of one host the first speaks. */
function hostSeries({ agents, run }: ReportInput, stepUs: number): Report['timeline']['series'] {
  const steps = Math.max(1, Math.ceil(run.durationUs / stepUs));
  const hosts = new Map(
    agents.toReversed().map((agent) => [agent.clockDomain ?? agent.host, agent]),
  );
  return [...hosts.values()]
    .toReversed()
    .slice(0, MAX_HOST_CURVES)
    .flatMap(({ id, hostPoints = {} }) =>
      Object.entries(hostPoints).map(([figure, points]) => ({
        metric: figure,
        labels: { agent: id, stat: 'value' },
        values: inSteps(points, stepUs, steps),
      })),
    );
}

/** The last value of each step; null where none was read. What came before the load is left out. */
function inSteps(
  points: readonly (readonly [atUs: number, value: number])[],
  stepUs: number,
  steps: number,
): (number | null)[] {
  const values = Array.from<unknown, number | null>({ length: steps }, () => null);
  for (const [atUs, value] of points) {
    const step = Math.floor(atUs / stepUs);
    if (step >= 0 && step < steps) values[step] = value;
  }
  return values;
}

function labelsOf(plan: Plan): (subject: string) => Record<string, string> {
  const groupOf = subjectGroups(plan);
  const streams = new Map(
    plan.groups.flatMap((group) =>
      [...group.publish, ...group.subscribe].flatMap(({ name, subject }) =>
        name === null ? [] : [[subject, name] as const],
      ),
    ),
  );
  return (subject) => {
    const stream = streams.get(subject);
    const group = groupOf(subject);
    return stream === undefined ? { group } : { group, stream };
  };
}
