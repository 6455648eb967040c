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
    series: (aggregate?.timeline.series() ?? []).map(({ metric, subject, stat, values }) => ({
      metric,
      labels: { ...labels(subject), stat },
      values: [...values],
    })),
  };
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
