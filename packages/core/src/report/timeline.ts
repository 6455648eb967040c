import type { Plan } from '../plan/plan.ts';
import { subjectGroups } from './figures.ts';
import type { ReportInput } from './input.ts';
import type { Report } from './model.ts';

const STEP_US = 1_000_000;

type Series = Report['timeline']['series'];

/** All curves have so many steps of that length. */
interface Scale {
  readonly stepUs: number;
  readonly steps: number;
}

/** The curves of the run, labelled, and where its stages lie in them. */
export function timelineOf(input: ReportInput, startedAt: string): Report['timeline'] {
  const { plan, stages, aggregate } = input;
  const labels = labelsOf(plan);
  const ofLoad = aggregate?.timeline.series() ?? [];
  const stepUs = aggregate?.timeline.stepUs ?? STEP_US;
  const steps = Math.max(
    1,
    Math.ceil(input.run.durationUs / stepUs),
    ...ofLoad.map(({ values }) => values.length),
  );
  const outside = [
    ...outsideSeries(input, { stepUs, steps }),
    ...hostSeries(input, { stepUs, steps }),
  ];
  return {
    startedAt,
    stepUs,
    stages: stages.map(({ index, enteredUs, clockUs, endUs }) => ({
      name: plan.stages[index]?.name ?? `stage ${index}`,
      fromUs: Math.round(enteredUs),
      clockUs: clockUs === null ? null : Math.round(clockUs),
      toUs: Math.round(endUs),
    })),
    series: [
      ...ofLoad.map(({ metric, subject, stat, values }) => ({
        metric,
        labels: { ...labels(subject), stat },
        // What is read outside goes on while the run settles; all curves are equally long.
        values:
          outside.length === 0
            ? [...values]
            : Array.from({ length: steps }, (_, step) => values[step] ?? null),
      })),
      ...outside,
    ],
  };
}

/** What probes read and how far the sides of balances were apart, in the steps of the load's curves. */
function outsideSeries({ probes, balance }: ReportInput, scale: Scale): Series {
  const ofProbes = [...(probes ?? [])].flatMap(([probe, { figures }]) =>
    Object.entries(figures).map(([figure, { points }]) => ({
      metric: figure,
      labels: { probe, stat: 'value' },
      values: inSteps(points, scale),
    })),
  );
  const ofBalance = (balance ?? []).map(({ equation, points }) => ({
    metric: 'balance_difference',
    labels: { equation, stat: 'value' },
    values: inSteps(points, scale),
  }));
  return [...ofProbes, ...ofBalance];
}

/** Hosts of load generators that get curves of their own. */
const MAX_HOST_CURVES = 64;

/** How the hosts of the load generators fared; of several agents of one host the first speaks. */
function hostSeries({ agents }: ReportInput, scale: Scale): Series {
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
        values: inSteps(points, scale),
      })),
    );
}

/** The last value of each step; null where none was read. What came before the load is left out. */
function inSteps(
  points: readonly (readonly [atUs: number, value: number])[],
  { stepUs, steps }: Scale,
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
