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
  /** Readings that it stands for; 1 where it is left out. */
  readonly weight?: number;
}

/**
 * At most about half of the samples. What changes a growth, a least or a greatest value stays: both ends,
 * the extremes, and both sides of where a counter began again, as long as those are not most. Each of the
 * rest stands for those left out before it, all for about as many, so that means and percentiles lean
 * to no part of the span.
 */
export function thinnedSamples(samples: readonly Sample[], kind: FigureInfo['kind']): Sample[] {
  const own = samples.filter((sample) => sample.before !== true);
  const extremes = new Set([extreme(own, -1), extreme(own, 1), samples[0], samples.at(-1)]);
  const falls = kind === 'counter' ? fallsOf(samples) : new Set<Sample>();
  const keepsFalls = falls.size < samples.length / 4;
  // Two neighbours that are left stand for more than this together: that makes half of them at most.
  const most = (4 * totalWeight(samples)) / samples.length;
  const kept: Sample[] = [];
  let owed = 0;
  for (const [index, sample] of samples.entries()) {
    const weight = owed + weightOf(sample);
    const next = samples[index + 1];
    const isFull = next !== undefined && weight + weightOf(next) > most;
    const stays = isFull || extremes.has(sample) || (keepsFalls && falls.has(sample));
    if (stays) kept.push({ ...sample, weight });
    owed = stays ? 0 : weight;
  }
  return kept;
}

function extreme(samples: readonly Sample[], sign: 1 | -1): Sample | undefined {
  let found = samples[0];
  for (const sample of samples) {
    if (found !== undefined && sign * (sample.value - found.value) > 0) found = sample;
  }
  return found;
}

/** Both sides of each fall. */
function fallsOf(samples: readonly Sample[]): Set<Sample> {
  const falls = new Set<Sample>();
  let before: Sample | undefined;
  for (const sample of samples) {
    if (before !== undefined && sample.value < before.value) falls.add(before).add(sample);
    before = sample;
  }
  return falls;
}

const weightOf = ({ weight = 1 }: Sample): number => weight;

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
  const sorted = own.toSorted((a, b) => a.value - b.value);
  switch (aggregate) {
    case 'min':
      return rank(sorted, 0);
    case 'max':
      return rank(sorted, 100);
    case 'med':
      return rank(sorted, 50);
    case 'p':
      return rank(sorted, percentile ?? 100);
    case 'avg':
      return mean(own);
    case 'count':
    case 'delta':
    case 'rate':
    case 'share':
    case 'value':
      return null;
  }
}

function mean(samples: readonly Sample[]): number {
  const sum = samples.reduce((all, sample) => all + sample.value * weightOf(sample), 0);
  return sum / totalWeight(samples);
}

const totalWeight = (samples: readonly Sample[]): number =>
  samples.reduce((sum, sample) => sum + weightOf(sample), 0);

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
function rank(sorted: readonly Sample[], percentile: number): number {
  const wanted = Math.max(1, Math.ceil((percentile * totalWeight(sorted)) / 100 - 1e-9));
  let seen = 0;
  const found = sorted.find((sample) => (seen += weightOf(sample)) >= wanted);
  return found?.value ?? 0;
}
