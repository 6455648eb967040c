import fc from 'fast-check';
import {
  type FailureExample,
  type Frame,
  Histogram,
  METRICS,
  type MetricName,
  metricInfo,
  type SeriesDelta,
  seriesKeyOf,
  type Slice,
  type SparseHistogram,
} from '@squall/core/metrics';

/** Arbitrary, but well-formed measurements. */
export const sparse: fc.Arbitrary<SparseHistogram> = fc
  .tuple(
    fc.array(fc.integer({ min: -5, max: 3_700_000_000 }), { minLength: 1, maxLength: 30 }),
    fc.constantFrom(0, 0, 7, 250_000),
  )
  .map(([values, boundUs]) => sparseOf(values, boundUs));

export function sparseOf(values: readonly number[], boundUs = 0): SparseHistogram {
  const histogram = new Histogram();
  for (const value of values) histogram.record(value);
  histogram.widen(boundUs);
  const result = histogram.toSparse();
  if (result === null) throw new Error('no values');
  return result;
}

const names = (Object.keys(METRICS) as MetricName[]).slice();
const text = fc.stringMatching(/^[a-z]{1,4}$/);

const seriesDelta: fc.Arbitrary<SeriesDelta> = fc
  .record({
    metric: fc.constantFrom(...names),
    subject: fc.constantFrom('devices', 'devices.beat', 'readers'),
    stage: fc.nat(3),
    qos: fc.constantFrom(undefined, 0 as const, 1 as const),
    reason: fc.option(text, { nil: undefined }),
    value: fc.nat(1_000_000),
    histogram: sparse,
  })
  .map(({ qos, reason, value, histogram, ...key }) => ({
    ...key,
    ...(qos === undefined ? {} : { qos }),
    ...(reason === undefined ? {} : { reason }),
    ...(metricInfo(key.metric).kind === 'time' ? { histogram } : { value }),
  }));

const example: fc.Arbitrary<FailureExample> = fc.record({
  metric: fc.constantFrom<MetricName>('connect_failed', 'publish_failed'),
  subject: fc.constantFrom('devices', 'readers'),
  reason: fc.constantFrom('refused', 'timed out'),
  client: text,
  address: fc.constant('127.0.0.1:1883'),
  atUs: fc.nat(1_000_000),
});

const seriesList = fc.uniqueArray(seriesDelta, { selector: seriesKeyOf, maxLength: 8 });
const exampleList = fc.array(example, { maxLength: 40 });

/** The contents of a slice of second `n` of stage `stage`. */
export function sliceAt(n: number, stage = 0): fc.Arbitrary<Slice> {
  return fc.record({ series: seriesList, examples: exampleList }).map((contents) => ({
    stage,
    phase: 'main',
    n,
    span: 1,
    fromUs: n * 1_000_000,
    toUs: (n + 1) * 1_000_000,
    ...contents,
  }));
}

/** Frames 1 … of one agent, a second each. */
export function frames(agent: string, count: number): fc.Arbitrary<Frame[]> {
  return fc.tuple(...Array.from({ length: count }, (_, n) => sliceAt(n))).map((slices) =>
    slices.map((slice, n) => ({
      run: 'run-1',
      agent,
      epoch: 1,
      seqFrom: n + 1,
      seqTo: n + 1,
      slices: [slice],
    })),
  );
}

/** Everything in a fixed order, so that two merges can be compared. */
export function sorted(slice: Slice): Slice {
  const series = slice.series.toSorted((a, b) => (seriesKeyOf(a) < seriesKeyOf(b) ? -1 : 1));
  return { ...slice, series };
}
