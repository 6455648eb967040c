import type { Term } from '../thresholds/threshold.ts';
import type { FigureInfo } from './figures.ts';

const SECOND_US = 1_000_000;

/** One value of a figure. */
export interface Sample {
  /** On the run's timeline. */
  readonly atUs: number;
  readonly value: number;
  /** Read before the span: only what it counts up from. */
  readonly before?: boolean;
}

/**
 * An aggregate over a span, in the unit of the literals (µs for seconds); null where there is nothing
 * to aggregate. What a counter grew by counts from the reading before the span.
 */
export function observe(
  { aggregate, percentile }: Term,
  samples: readonly Sample[],
  { kind, unit }: FigureInfo,
): number | null {
  const own = samples.filter((sample) => sample.before !== true);
  const last = own.at(-1);
  if (last === undefined) return null;
  const scale = unit === 'seconds' ? SECOND_US : 1;
  const first = (kind === 'counter' ? samples : own)[0] ?? last;
  const values = own.map(({ value }) => value).toSorted((a, b) => a - b);
  switch (aggregate) {
    case 'value':
      return last.value * scale;
    case 'delta':
    case 'count':
      return grown(kind === 'counter' ? samples : own, kind) * scale;
    case 'rate': {
      const us = last.atUs - first.atUs;
      return us <= 0 ? null : (grown(samples, kind) * SECOND_US * scale) / us;
    }
    case 'min':
      return (values[0] ?? 0) * scale;
    case 'max':
      return (values.at(-1) ?? 0) * scale;
    case 'med':
      return rank(values, 50) * scale;
    case 'p':
      return rank(values, percentile ?? 100) * scale;
    case 'avg':
      return (values.reduce((sum, value) => sum + value, 0) / values.length) * scale;
    case 'share':
      return null;
  }
}

/** A counter that began again counts from 0. */
function grown(samples: readonly Sample[], kind: FigureInfo['kind']): number {
  if (kind === 'gauge') return (samples.at(-1)?.value ?? 0) - (samples[0]?.value ?? 0);
  let sum = 0;
  for (let k = 1; k < samples.length; k++) {
    const step = (samples[k]?.value ?? 0) - (samples[k - 1]?.value ?? 0);
    sum += step < 0 ? (samples[k]?.value ?? 0) : step;
  }
  return sum;
}

/** Nearest rank, as for times. */
function rank(sorted: readonly number[], percentile: number): number {
  const wanted = Math.max(1, Math.ceil((percentile * sorted.length) / 100 - 1e-9));
  return sorted[wanted - 1] ?? 0;
}
