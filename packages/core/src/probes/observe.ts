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
  term: Term,
  samples: readonly Sample[],
  { kind, unit }: FigureInfo,
): number | null {
  const own = samples.filter((sample) => sample.before !== true);
  const last = own.at(-1);
  if (last === undefined) return null;
  const value = overTime(term, kind === 'counter' ? samples : own, kind) ?? overValues(term, own);
  return value === null ? null : value * (unit === 'seconds' ? SECOND_US : 1);
}

/** What depends on the order of the samples. */
function overTime(
  { aggregate }: Term,
  samples: readonly Sample[],
  kind: FigureInfo['kind'],
): number | null {
  if (aggregate === 'value') return samples.at(-1)?.value ?? null;
  if (aggregate === 'delta' || aggregate === 'count') return grown(samples, kind);
  if (aggregate !== 'rate') return null;
  const us = (samples.at(-1)?.atUs ?? 0) - (samples[0]?.atUs ?? 0);
  return us <= 0 ? null : (grown(samples, kind) * SECOND_US) / us;
}

function overValues({ aggregate, percentile }: Term, own: readonly Sample[]): number | null {
  const values = own.map(({ value }) => value).toSorted((a, b) => a - b);
  switch (aggregate) {
    case 'min':
      return values[0] ?? null;
    case 'max':
      return values.at(-1) ?? null;
    case 'med':
      return rank(values, 50);
    case 'p':
      return rank(values, percentile ?? 100);
    case 'avg':
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    case 'count':
    case 'delta':
    case 'rate':
    case 'share':
    case 'value':
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
