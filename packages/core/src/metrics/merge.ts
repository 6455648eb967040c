import { METRICS } from './catalogue.ts';
import {
  type FailureExample,
  type Frame,
  MAX_EXAMPLES,
  type SeriesDelta,
  type Slice,
} from './frame.ts';
import { seriesKeyOf } from './series-key.ts';
import { mergeSparse } from './sparse.ts';

/**
 * The same slice of two workers of one agent, as one: counters, gauges and histograms add up, the
 * earliest examples of a kind stay. Associative and commutative but for the order of the series.
 *
 * @throws RangeError where the two are not the same slice.
 */
export function mergeSlices(a: Slice, b: Slice): Slice {
  if (a.stage !== b.stage || a.phase !== b.phase || a.n !== b.n || a.span !== b.span) {
    throw new RangeError(`slices ${nameOf(a)} and ${nameOf(b)} are not the same one`);
  }
  return {
    ...a,
    fromUs: Math.min(a.fromUs, b.fromUs),
    toUs: Math.max(a.toUs, b.toUs),
    series: mergeSeries(a.series, b.series),
    examples: mergeExamples(a.examples, b.examples),
  };
}

/**
 * Two adjacent frames that were never sent, as one that covers both (`seqFrom..seqTo`). Cumulative
 * figures stay exact; only the resolution in time is coarser: what one stage and phase has in both
 * becomes one slice of a longer span, so the result has at most one slice a stage and phase.
 *
 * @throws RangeError where the second does not follow the first, or one of them carries ledger pages.
 */
export function coarsenFrames(earlier: Frame, later: Frame): Frame {
  const sameStream =
    earlier.run === later.run && earlier.agent === later.agent && earlier.epoch === later.epoch;
  if (!sameStream || later.seqFrom !== earlier.seqTo + 1) {
    throw new RangeError(`frame ${later.seqFrom} does not follow frame ${earlier.seqTo}`);
  }
  if (earlier.pages !== undefined || later.pages !== undefined) {
    throw new RangeError('a frame with ledger pages stays as it is');
  }
  const slices: Slice[] = [];
  for (const slice of [...earlier.slices, ...later.slices]) {
    const last = slices.at(-1);
    if (last !== undefined && last.stage === slice.stage && last.phase === slice.phase) {
      slices[slices.length - 1] = joinSlices(last, slice);
    } else {
      slices.push(slice);
    }
  }
  return { ...earlier, seqTo: later.seqTo, slices };
}

/**
 * Two slices of one stage and phase as one that covers both. Gauges are those at the later end; two
 * slices with the same end are the parts of different workers, and their gauges add up.
 */
function joinSlices(a: Slice, b: Slice): Slice {
  const [endA, endB] = [a.n + a.span, b.n + b.span];
  const n = Math.min(a.n, b.n);
  return {
    ...a,
    n,
    span: Math.max(endA, endB) - n,
    fromUs: Math.min(a.fromUs, b.fromUs),
    toUs: Math.max(a.toUs, b.toUs),
    series: mergeSeries(
      endA < endB ? withoutGauges(a.series) : a.series,
      endB < endA ? withoutGauges(b.series) : b.series,
    ),
    examples: mergeExamples(a.examples, b.examples),
  };
}

function withoutGauges(series: readonly SeriesDelta[]): SeriesDelta[] {
  return series.filter(({ metric }) => METRICS[metric].kind !== 'gauge');
}

function mergeSeries(a: readonly SeriesDelta[], b: readonly SeriesDelta[]): SeriesDelta[] {
  const merged = new Map<string, SeriesDelta>();
  for (const series of a) merged.set(seriesKeyOf(series), series);
  for (const series of b) {
    const key = seriesKeyOf(series);
    const other = merged.get(key);
    merged.set(key, other === undefined ? series : addDeltas(other, series));
  }
  return [...merged.values()];
}

function addDeltas(a: SeriesDelta, b: SeriesDelta): SeriesDelta {
  if (a.histogram !== undefined && b.histogram !== undefined) {
    return { ...a, histogram: mergeSparse(a.histogram, b.histogram) };
  }
  return { ...a, value: (a.value ?? 0) + (b.value ?? 0) };
}

/** The earliest `MAX_EXAMPLES` of each (metric, subject, reason). */
export function mergeExamples(
  a: readonly FailureExample[],
  b: readonly FailureExample[],
): readonly FailureExample[] {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const kept = new Map<string, number>();
  return [...a, ...b].toSorted(compareExamples).filter((example) => {
    const kind = `${example.metric}\n${example.subject}\n${example.reason}`;
    const before = kept.get(kind) ?? 0;
    kept.set(kind, before + 1);
    return before < MAX_EXAMPLES;
  });
}

/** By time; the rest only makes the order the same whoever merges first. */
function compareExamples(a: FailureExample, b: FailureExample): number {
  if (a.atUs !== b.atUs) return a.atUs - b.atUs;
  const left = `${a.client}\n${a.metric}\n${a.subject}\n${a.reason}\n${a.address}`;
  const right = `${b.client}\n${b.metric}\n${b.subject}\n${b.reason}\n${b.address}`;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function nameOf(slice: Slice): string {
  return `${slice.stage}/${slice.phase}/${slice.n}+${slice.span}`;
}
