import type { Slice } from '../frame.ts';
import { type GaugeReading, readGauges } from './gauge-board.ts';
import type { Moment } from './moments.ts';

/** Sums over agents by `gaugeKey`. */
type GaugeSums = ReadonlyMap<string, number>;

/** The gauges over the steps of the timeline: in each step the last reading of every agent counts. */
export class GaugeSteps {
  readonly #open = new Map<number, Map<string, GaugeReading>>();
  #sealed: (GaugeSums | undefined)[] = [];

  constructor(state: GaugeStepsState = { open: [], sealed: [] }) {
    for (const [step, agent, moment, values] of state.open) {
      this.#readingsOf(step).set(agent, { moment, values: new Map(values) });
    }
    for (const [step, values] of state.sealed) this.#sealed[step] = new Map(values);
  }

  add(step: number, agent: string, slice: Slice): void {
    const readings = this.#readingsOf(step);
    readings.set(agent, readGauges(readings.get(agent), slice));
  }

  /** Null where no agent reported the step, or none of them had this gauge. */
  at(step: number, key: string): number | null {
    const readings = this.#open.get(step);
    return readings === undefined
      ? (this.#sealed[step]?.get(key) ?? null)
      : sumOfOne(readings, key);
  }

  keys(): Set<string> {
    const open = [...this.#open.values()].flatMap((readings) => [...readings.values()]);
    const sealed = this.#sealed.flatMap((sums) => (sums === undefined ? [] : [...sums.keys()]));
    return new Set([...open.flatMap(({ values }) => [...values.keys()]), ...sealed]);
  }

  seal(before: number): void {
    for (const [step, readings] of this.#open) {
      if (step >= before) continue;
      this.#sealed[step] = sumOf(readings);
      this.#open.delete(step);
    }
  }

  /** Makes two steps one: the later of the two stands. */
  halve(): void {
    const last = Math.max(this.#sealed.length, ...[...this.#open.keys()].map((step) => step + 1));
    this.seal(last);
    const sealed = this.#sealed;
    this.#sealed = Array.from(
      { length: Math.ceil(sealed.length / 2) },
      (_, step) => sealed[2 * step + 1] ?? sealed[2 * step],
    );
  }

  toJSON(): GaugeStepsState {
    return {
      open: [...this.#open].flatMap(([step, readings]) =>
        [...readings].map(
          ([agent, { moment, values }]) => [step, agent, moment, [...values]] as const,
        ),
      ),
      sealed: [...this.#sealed].flatMap((sums, step) =>
        sums === undefined ? [] : [[step, [...sums]] as const],
      ),
    };
  }

  #readingsOf(step: number): Map<string, GaugeReading> {
    const known = this.#open.get(step);
    if (known !== undefined) return known;
    const readings = new Map<string, GaugeReading>();
    this.#open.set(step, readings);
    return readings;
  }
}

type Values = readonly (readonly [string, number])[];

export interface GaugeStepsState {
  readonly open: readonly (readonly [number, string, Moment, Values])[];
  readonly sealed: readonly (readonly [number, Values])[];
}

/** One gauge alone: whoever asks for all of them would add up all of them each time. */
function sumOfOne(readings: ReadonlyMap<string, GaugeReading>, key: string): number | null {
  let sum: number | null = null;
  for (const { values } of readings.values()) {
    const value = values.get(key);
    if (value !== undefined) sum = (sum ?? 0) + value;
  }
  return sum;
}

function sumOf(readings: ReadonlyMap<string, GaugeReading>): GaugeSums {
  const sums = new Map<string, number>();
  for (const { values } of readings.values()) {
    for (const [key, value] of values) sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}
