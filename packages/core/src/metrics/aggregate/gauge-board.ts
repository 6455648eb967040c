import { METRICS, type MetricName } from '../catalogue.ts';
import type { Slice } from '../frame.ts';
import { compareMoments, type Moment, momentOf } from './moments.ts';

/** What one agent's gauges were at a moment, by `gaugeKey`: summed over stages and QoS. */
export interface GaugeReading {
  readonly moment: Moment;
  readonly values: ReadonlyMap<string, number>;
}

/** A metric and a subject as one text. */
function gaugeKey(metric: MetricName, subject: string): string {
  return `${metric}\n${subject}`;
}

/**
 * The reading that holds after a slice: the later one. Two slices of the same moment are parts of
 * different workers and add up.
 */
export function readGauges(before: GaugeReading | undefined, slice: Slice): GaugeReading {
  const moment = momentOf(slice);
  const order = before === undefined ? 1 : compareMoments(moment, before.moment);
  if (before !== undefined && order < 0) return before;
  const values = new Map(order === 0 ? before?.values : undefined);
  for (const { metric, subject, value } of slice.series) {
    if (METRICS[metric].kind !== 'gauge') continue;
    const key = gaugeKey(metric, subject);
    values.set(key, (values.get(key) ?? 0) + (value ?? 0));
  }
  return { moment, values };
}

export type GaugeBoardState = readonly (readonly [
  string,
  Moment,
  readonly (readonly [string, number])[],
])[];

/** The newest reading of each agent. */
export class GaugeBoard {
  readonly #readings = new Map<string, GaugeReading>();

  constructor(state: GaugeBoardState = []) {
    for (const [agent, moment, values] of state) {
      this.#readings.set(agent, { moment, values: new Map(values) });
    }
  }

  report(agent: string, slice: Slice): void {
    this.#readings.set(agent, readGauges(this.#readings.get(agent), slice));
  }

  /** An agent that is lost holds nothing any more. */
  forget(agent: string): void {
    this.#readings.delete(agent);
  }

  /** Sum over agents of the newest values of a metric, of the subjects that `accepts` names. */
  sum(metric: MetricName, accepts: (subject: string) => boolean): number {
    const prefix = gaugeKey(metric, '');
    let sum = 0;
    for (const { values } of this.#readings.values()) {
      for (const [key, value] of values) {
        if (key.startsWith(prefix) && accepts(key.slice(prefix.length))) sum += value;
      }
    }
    return sum;
  }

  toJSON(): GaugeBoardState {
    return [...this.#readings].map(([agent, { moment, values }]) => [agent, moment, [...values]]);
  }
}
