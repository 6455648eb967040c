import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  coarsenFrames,
  decodeFrame,
  encodeFrame,
  type Frame,
  Histogram,
  MAX_EXAMPLES,
  mergeSlices,
  mergeSparse,
  METRICS,
  seriesKeyOf,
  type Slice,
  sparseCount,
} from '@squall/core/metrics';
import { frames, sliceAt, sorted, sparse } from './frames.ts';

describe('mergeSparse', () => {
  it('is associative and commutative, and equals adding the histograms', () => {
    fc.assert(
      fc.property(sparse, sparse, sparse, (a, b, c) => {
        const sum = mergeSparse(mergeSparse(a, b), c);
        expect(mergeSparse(a, mergeSparse(b, c))).toEqual(sum);
        expect(mergeSparse(b, a)).toEqual(mergeSparse(a, b));
        const histogram = new Histogram();
        for (const part of [a, b, c]) histogram.addSparse(part);
        expect(histogram.toSparse()).toEqual(sum);
        expect(sparseCount(sum)).toBe(histogram.count);
      }),
    );
  });
});

describe('mergeSlices', () => {
  it('is associative and commutative', () => {
    const slice = sliceAt(4);
    fc.assert(
      fc.property(slice, slice, slice, (a, b, c) => {
        const left = mergeSlices(mergeSlices(a, b), c);
        expect(sorted(mergeSlices(a, mergeSlices(b, c)))).toEqual(sorted(left));
        // Neither order of the workers nor of their messages may change what an agent reports.
        expect(sorted(mergeSlices(mergeSlices(c, b), a))).toEqual(sorted(left));
      }),
    );
  });

  it('keeps every series and at most twenty examples of a kind, the earliest', () => {
    fc.assert(
      fc.property(sliceAt(0), sliceAt(0), (a, b) => {
        const merged = mergeSlices(a, b);
        const keys = new Set([...a.series, ...b.series].map(seriesKeyOf));
        expect(new Set(merged.series.map(seriesKeyOf))).toEqual(keys);
        expect(merged.series).toHaveLength(keys.size);
        const times = merged.examples.map(({ atUs }) => atUs);
        expect(Math.max(0, ...countsByKind(merged.examples))).toBeLessThanOrEqual(
          Math.max(MAX_EXAMPLES, ...countsByKind(a.examples), ...countsByKind(b.examples)),
        );
        expect(times.length).toBeLessThanOrEqual(a.examples.length + b.examples.length);
      }),
    );
  });

  it('refuses slices of different moments', () => {
    fc.assert(
      fc.property(sliceAt(1), sliceAt(2), (a, b) => {
        expect(() => mergeSlices(a, b)).toThrow('not the same one');
      }),
      { numRuns: 1 },
    );
  });
});

describe('coarsenFrames', () => {
  it('keeps cumulative figures, the last gauges and the covered range', () => {
    fc.assert(
      fc.property(frames('a', 5), (list) => {
        const whole = list.reduce(coarsenFrames);
        expect([whole.seqFrom, whole.seqTo]).toEqual([1, 5]);
        expect(whole.slices).toHaveLength(1);
        expect(whole.slices[0]).toMatchObject({ n: 0, span: 5, fromUs: 0, toUs: 5_000_000 });
        expect(totals([whole])).toEqual(totals(list));
        expect(gauges(whole)).toEqual(gauges(list.at(-1)));
        expect(decodeFrame(encodeFrame(whole))).toEqual(whole);
      }),
    );
  });

  it('keeps stages and phases apart', () => {
    fc.assert(
      fc.property(sliceAt(0, 0), sliceAt(0, 1), (a, b) => {
        const frame = (seq: number, slice: typeof a): Frame => ({
          run: 'r',
          agent: 'a',
          epoch: 1,
          seqFrom: seq,
          seqTo: seq,
          slices: [slice],
        });
        expect(coarsenFrames(frame(1, a), frame(2, b)).slices).toEqual([a, b]);
      }),
      { numRuns: 20 },
    );
  });

  it('takes the late part of an earlier second in without moving its ends', () => {
    const base = { run: 'r', agent: 'a', epoch: 1 };
    const newer: Frame = { ...base, seqFrom: 1, seqTo: 1, slices: [connectionsAt(5, 7)] };
    const late: Frame = { ...base, seqFrom: 2, seqTo: 2, slices: [connectionsAt(4, 3)] };
    const [joined] = coarsenFrames(newer, late).slices;
    expect(joined).toMatchObject({ n: 4, span: 2, fromUs: 4e6, toUs: 6e6 });
    expect(joined?.series).toEqual(connectionsAt(5, 7).series);
  });

  it('refuses frames that do not follow each other', () => {
    fc.assert(
      fc.property(frames('a', 3), ([first, , third]) => {
        if (first === undefined || third === undefined) throw new Error('three frames');
        expect(() => coarsenFrames(first, third)).toThrow('does not follow');
      }),
      { numRuns: 1 },
    );
  });
});

/** A second in which nothing is reported but a gauge. */
function connectionsAt(n: number, value: number): Slice {
  return {
    stage: 0,
    phase: 'main',
    n,
    span: 1,
    fromUs: n * 1e6,
    toUs: (n + 1) * 1e6,
    series: [{ metric: 'connections', subject: 'd', stage: 0, value }],
    examples: [],
  };
}

function gauges(frame: Frame | undefined) {
  return frame?.slices.at(-1)?.series.filter(({ metric }) => METRICS[metric].kind === 'gauge');
}

function countsByKind(examples: readonly { metric: string; subject: string; reason: string }[]) {
  const counts = new Map<string, number>();
  for (const { metric, subject, reason } of examples) {
    const kind = `${metric} ${subject} ${reason}`;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts.values();
}

/** Counters and counts of times, by series. */
function totals(list: readonly Frame[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const series of list.flatMap((frame) => frame.slices.flatMap((slice) => slice.series))) {
    if (METRICS[series.metric].kind === 'gauge') continue;
    const key = seriesKeyOf(series);
    const amount = series.histogram === undefined ? series.value : sparseCount(series.histogram);
    sums.set(key, (sums.get(key) ?? 0) + (amount ?? 0));
  }
  return sums;
}
