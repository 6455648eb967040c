import { ledgerSeries } from '../ledger/ledger-series.ts';
import type { LedgerRow } from '../ledger/row.ts';
import {
  Histogram,
  type MetricInfo,
  METRICS,
  type RunAggregate,
  type SeriesTotal,
} from '../metrics/index.ts';
import type { Plan } from '../plan/plan.ts';
import type { Figures, GroupFigures, Times } from './model.ts';

const ALL_COUNTERS = Object.entries<MetricInfo>(METRICS).filter(
  ([, info]) => info.kind === 'counter',
);

/** Counters that every report has, also where they stayed 0. */
const COUNTERS = ALL_COUNTERS.filter(([, info]) => info.late !== true).map(([name]) => name);

/** Counters of the ledger, which a report has only for those whose deliveries were verified. */
const LATE = ALL_COUNTERS.filter(([, info]) => info.late === true).map(([name]) => name);

/** Sums of series on their way to figures. */
class Sums {
  readonly #counters = new Map<string, number>();
  readonly #reasons = new Map<string, Map<string, number>>();
  readonly #times = new Map<string, Histogram>();

  add({ key, value, histogram }: SeriesTotal): void {
    if (histogram !== null) {
      const times = this.#times.get(key.metric) ?? new Histogram();
      times.add(histogram);
      this.#times.set(key.metric, times);
      return;
    }
    this.#counters.set(key.metric, (this.#counters.get(key.metric) ?? 0) + value);
    if (key.reason === undefined || value === 0) return;
    const reasons = this.#reasons.get(key.metric) ?? new Map<string, number>();
    reasons.set(key.reason, (reasons.get(key.reason) ?? 0) + value);
    this.#reasons.set(key.metric, reasons);
  }

  figures(): Figures {
    const names = [...COUNTERS, ...LATE.filter((name) => this.#counters.has(name))];
    return {
      counters: Object.fromEntries(names.map((name) => [name, this.#counters.get(name) ?? 0])),
      reasons: Object.fromEntries(
        [...this.#reasons].map(([metric, reasons]) => [metric, Object.fromEntries(reasons)]),
      ),
      times: Object.fromEntries(
        [...this.#times]
          .filter(([, histogram]) => histogram.count > 0)
          .map(([metric, histogram]) => [metric, timesOf(histogram)]),
      ),
    };
  }
}

/** Whole µs, rising from the minimum to the maximum. */
function timesOf(histogram: Histogram): Times {
  const percentile = (q: number) => Math.round(histogram.percentileUs(q));
  return {
    count: histogram.count,
    minUs: Math.round(histogram.minUs),
    meanUs: Math.round(histogram.meanUs),
    p50Us: percentile(50),
    p90Us: percentile(90),
    p95Us: percentile(95),
    p99Us: percentile(99),
    p999Us: percentile(99.9),
    p9999Us: percentile(99.99),
    maxUs: Math.round(histogram.maxUs),
    overflow: histogram.overflow,
    negative: histogram.negative,
    ...(histogram.boundUs > 0 ? { boundUs: histogram.boundUs } : {}),
  };
}

/** What the ledger found, as totals of the subscribing side. */
export function ledgerTotals(rows: readonly LedgerRow[]): SeriesTotal[] {
  return ledgerSeries(rows).map(({ metric, subject, stage, qos, value = 0 }) => ({
    key: { metric, subject, stage, ...(qos === undefined ? {} : { qos }) },
    value,
    histogram: null,
  }));
}

/** The figures of every group of the plan. `stages` are the indexes of those that were entered. */
export function groupFigures(
  plan: Plan,
  stages: readonly number[],
  totals: readonly SeriesTotal[],
): Record<string, GroupFigures> {
  const groupOf = subjectGroups(plan);
  return Object.fromEntries(
    plan.groups.map((group) => {
      const own = totals.filter(({ key }) => groupOf(key.subject) === group.name);
      const named = [...group.publish, ...group.subscribe].filter((entry) => entry.name !== null);
      const streams = new Map(named.map((entry) => [entry.subject, entry.name ?? entry.subject]));
      const measured = new Set([...stages, ...own.map(({ key }) => key.stage)]);
      return [
        group.name,
        {
          ...sumOf(own),
          streams: Object.fromEntries(
            [...streams].map(([subject, name]) => [
              name,
              sumOf(own.filter(({ key }) => key.subject === subject)),
            ]),
          ),
          stages: Object.fromEntries(
            [...measured]
              .toSorted((a, b) => a - b)
              .map((stage) => [
                plan.stages[stage]?.name ?? `stage ${stage}`,
                sumOf(own.filter(({ key }) => key.stage === stage)),
              ]),
          ),
        },
      ];
    }),
  );
}

/** Counters of one agent by group. */
export function agentFigures(
  plan: Plan,
  agent: string,
  aggregate: RunAggregate | null,
): Record<string, Record<string, number>> {
  const groupOf = subjectGroups(plan);
  const groups: Record<string, Record<string, number>> = Object.fromEntries(
    plan.groups.map((group) => [group.name, Object.fromEntries(COUNTERS.map((name) => [name, 0]))]),
  );
  for (const { key, value } of aggregate?.agentCounters(agent) ?? []) {
    const counters = groups[groupOf(key.subject)];
    if (counters !== undefined && key.metric in counters) {
      counters[key.metric] = (counters[key.metric] ?? 0) + value;
    }
  }
  return groups;
}

/** `devices.telemetry` → `devices`. */
export function subjectGroups(plan: Plan): (subject: string) => string {
  const groups = new Map<string, string>();
  for (const group of plan.groups) {
    groups.set(group.name, group.name);
    for (const { subject } of [...group.publish, ...group.subscribe]) {
      groups.set(subject, group.name);
    }
  }
  return (subject) => groups.get(subject) ?? subject.split('.', 1)[0] ?? subject;
}

function sumOf(totals: readonly SeriesTotal[]): Figures {
  const sums = new Sums();
  for (const total of totals) sums.add(total);
  return sums.figures();
}
