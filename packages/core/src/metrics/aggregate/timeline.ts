import { isMetricName, METRICS, type MetricName } from '../catalogue.ts';
import type { SeriesDelta, Slice, SparseHistogram } from '../frame.ts';
import { GaugeSteps, type GaugeStepsState } from './gauge-steps.ts';
import { spreadOverSteps, type StepShare } from './step-spread.ts';
import { type StepTimes, TimeColumn, type TimeColumnState, timesOf } from './time-column.ts';

/** Steps of a timeline: an hour of seconds, after which the steps get twice as long, and so on. */
export const MAX_STEPS = 3_600;
const FIRST_STEP_US = 1_000_000;

/**
 * Steps behind the newest that can still take what agents report late (they were cut off, say);
 * what comes even later is in all totals, but no more in the percentiles and gauges of its step.
 */
export const OPEN_STEPS = 60;

export type TimelineStat = 'rate' | 'value' | 'p50' | 'p99';

/** One curve. Rates are a second, percentiles are µs; null: nothing was measured in the step. */
export interface TimelineSeries {
  readonly metric: MetricName;
  readonly subject: string;
  readonly stat: TimelineStat;
  readonly values: readonly (number | null)[];
}

export interface StepFigures {
  /** Counters in the step, over all subjects. */
  readonly counters: ReadonlyMap<MetricName, number>;
  readonly times: ReadonlyMap<MetricName, StepTimes>;
}

/**
 * How the run went, step by step of its own time: for drawings, not for judgement. Stages, QoS and
 * reasons are summed; a curve is (metric, subject).
 */
export class Timeline {
  #stepUs: number;
  #length: number;
  #late: number;
  readonly #counters: Map<string, number[]>;
  readonly #times: Map<string, TimeColumn>;
  readonly #gauges: GaugeSteps;

  constructor(state: TimelineState = EMPTY) {
    this.#stepUs = state.stepUs;
    this.#length = state.length;
    this.#late = state.late;
    this.#counters = new Map(state.counters.map(([key, values]) => [key, [...values]]));
    this.#times = new Map(state.times.map(([key, column]) => [key, new TimeColumn(column)]));
    this.#gauges = new GaugeSteps(state.gauges);
  }

  /** Current length of a step. */
  get stepUs(): number {
    return this.#stepUs;
  }

  /** Steps begun so far. */
  get length(): number {
    return this.#length;
  }

  /** Slices too late for the percentiles and gauges of their step. */
  get late(): number {
    return this.#late;
  }

  add(agent: string, slice: Slice): void {
    while (slice.toUs >= MAX_STEPS * this.#stepUs) this.#halve();
    const shares = spreadOverSteps(slice.fromUs, slice.toUs, this.#stepUs);
    this.#grow((shares.at(-1)?.step ?? 0) + 1);
    const open = shares.filter(({ step }) => step >= this.#length - OPEN_STEPS);
    if (open.length < shares.length) this.#late++;
    for (const series of slice.series) this.#addSeries(series, shares, open);
    for (const { step } of open) this.#gauges.add(step, agent, slice);
  }

  /** The figures of the step that ended last before `us`, or null where none did. */
  lastStepBefore(us: number): StepFigures | null {
    const step = Math.min(this.#length, Math.floor(us / this.#stepUs)) - 1;
    if (step < 0) return null;
    const counters = new Map<MetricName, number>();
    for (const [key, values] of this.#counters) {
      const { metric } = partsOf(key);
      counters.set(metric, (counters.get(metric) ?? 0) + (values[step] ?? 0));
    }
    return { counters, times: this.#timesOfStep(step) };
  }

  series(): TimelineSeries[] {
    const curves: TimelineSeries[] = [];
    const perS = 1_000_000 / this.#stepUs;
    for (const [key, values] of this.#counters) {
      const rates = this.#steps((step) => (values[step] ?? 0) * perS);
      curves.push({ ...partsOf(key), stat: 'rate', values: rates });
    }
    for (const key of this.#gauges.keys()) {
      const values = this.#steps((step) => this.#gauges.at(step, key));
      curves.push({ ...partsOf(key), stat: 'value', values });
    }
    for (const [key, column] of this.#times) {
      const times = this.#steps((step) => column.at(step));
      const [p50, p99] = [times.map((t) => t?.p50Us ?? null), times.map((t) => t?.p99Us ?? null)];
      curves.push({ ...partsOf(key), stat: 'p50', values: p50 });
      curves.push({ ...partsOf(key), stat: 'p99', values: p99 });
    }
    return curves;
  }

  toJSON(): TimelineState {
    return {
      stepUs: this.#stepUs,
      length: this.#length,
      late: this.#late,
      counters: [...this.#counters].map(([key, v]) => [key, Array.from(v, (n) => n ?? 0)]),
      times: [...this.#times].map(([key, column]) => [key, column.toJSON()]),
      gauges: this.#gauges.toJSON(),
    };
  }

  #addSeries(series: SeriesDelta, shares: readonly StepShare[], open: readonly StepShare[]): void {
    const key = `${series.metric}\n${series.subject}`;
    if (METRICS[series.metric].kind === 'counter') {
      const values = this.#counters.get(key) ?? [];
      this.#counters.set(key, values);
      for (const { step, share } of shares) {
        values[step] = (values[step] ?? 0) + (series.value ?? 0) * share;
      }
    }
    if (series.histogram === undefined) return;
    const column = this.#times.get(key) ?? new TimeColumn();
    this.#times.set(key, column);
    for (const { step } of open) column.add(step, series.histogram);
  }

  #timesOfStep(step: number): Map<MetricName, StepTimes> {
    const pending = new Map<MetricName, SparseHistogram[]>();
    for (const [key, column] of this.#times) {
      const { metric } = partsOf(key);
      pending.set(metric, [...(pending.get(metric) ?? []), ...column.pending(step)]);
    }
    const times = new Map<MetricName, StepTimes>();
    for (const [metric, deltas] of pending) {
      const merged = timesOf(deltas);
      if (merged !== null) times.set(metric, merged);
    }
    return times;
  }

  #steps<T>(at: (step: number) => T): T[] {
    return Array.from({ length: this.#length }, (_, step) => at(step));
  }

  #grow(length: number): void {
    if (length <= this.#length) return;
    this.#length = length;
    for (const column of this.#times.values()) column.seal(length - OPEN_STEPS);
    this.#gauges.seal(length - OPEN_STEPS);
  }

  #halve(): void {
    this.#stepUs *= 2;
    this.#length = Math.ceil(this.#length / 2);
    for (const [key, values] of this.#counters) {
      const halved = Array.from(
        { length: Math.ceil(values.length / 2) },
        (_, step) => (values[2 * step] ?? 0) + (values[2 * step + 1] ?? 0),
      );
      this.#counters.set(key, halved);
    }
    for (const column of this.#times.values()) column.halve();
    this.#gauges.halve();
  }
}

export interface TimelineState {
  readonly stepUs: number;
  readonly length: number;
  readonly late: number;
  readonly counters: readonly (readonly [string, readonly number[]])[];
  readonly times: readonly (readonly [string, TimeColumnState])[];
  readonly gauges: GaugeStepsState;
}

const EMPTY: TimelineState = {
  stepUs: FIRST_STEP_US,
  length: 0,
  late: 0,
  counters: [],
  times: [],
  gauges: { open: [], sealed: [] },
};

function partsOf(key: string): { metric: MetricName; subject: string } {
  const [metric = '', subject = ''] = key.split('\n');
  if (!isMetricName(metric)) throw new RangeError(`${metric} is no metric`);
  return { metric, subject };
}
