import { Histogram, type MetricName } from '@squall/core/metrics';
import type { Plan } from '@squall/core/plan';
import type { RunHandle } from '../run/run-handle.ts';

/** A series of a run: its streams, QoS and reasons are summed, so that there are only so many. */
export interface RunSeries {
  readonly labels: { readonly run: string; readonly group: string; readonly stage: string };
  readonly value: number;
  /** Null for counters. */
  readonly times: Histogram | null;
}

/** All counters and times of the runs, by metric. */
export function seriesOfRuns(runs: readonly RunHandle[]): ReadonlyMap<MetricName, RunSeries[]> {
  const byMetric = new Map<MetricName, RunSeries[]>();
  for (const run of runs) {
    for (const [metric, series] of seriesOf(run)) {
      byMetric.set(metric, [...(byMetric.get(metric) ?? []), ...series]);
    }
  }
  return byMetric;
}

function seriesOf(run: RunHandle): Map<MetricName, RunSeries[]> {
  const sums = new Map<MetricName, Map<string, RunSeries>>();
  const groupOf = groupsBySubject(run.plan);
  for (const { key, value, histogram } of run.figures?.aggregate.series() ?? []) {
    const group = groupOf.get(key.subject) ?? key.subject;
    const stage = run.plan.stages[key.stage]?.name ?? `${key.stage}`;
    const own = sums.get(key.metric) ?? new Map<string, RunSeries>();
    sums.set(key.metric, own);
    const id = `${group}\n${stage}`;
    const known = own.get(id);
    own.set(id, {
      labels: { run: run.id, group, stage },
      value: (known?.value ?? 0) + value,
      times: histogram === null ? null : added(known?.times ?? null, histogram),
    });
  }
  return new Map([...sums].map(([metric, own]) => [metric, [...own.values()]]));
}

/** The first is taken as it is; only a second one needs a sum of its own. */
function added(known: Histogram | null, more: Histogram): Histogram {
  if (known === null) return more;
  const sum = new Histogram();
  sum.add(known);
  sum.add(more);
  return sum;
}

function groupsBySubject(plan: Plan): ReadonlyMap<string, string> {
  return new Map(
    plan.groups.flatMap(({ name, publish, subscribe }) =>
      [name, ...[...publish, ...subscribe].map(({ subject }) => subject)].map(
        (subject) => [subject, name] as const,
      ),
    ),
  );
}
