import { SquallError } from '../errors/index.ts';
import { readLedgerPages } from '../ledger/page-codec.ts';
import { decodeUtf8, encodeUtf8 } from '../text/utf8.ts';
import { BUCKET_COUNT, bucketOf, HIGHEST_US } from './bucket-layout.ts';
import { isMetricName, METRICS, type MetricName } from './catalogue.ts';
import {
  type Fields,
  finite,
  list,
  MAX_STAGES,
  record,
  refuse,
  text,
  whole,
} from './frame-fields.ts';
import type { FailureExample, Frame, Phase, SeriesDelta, Slice, SparseHistogram } from './frame.ts';

/**
 * A frame as it travels: JSON of `Frame` in UTF-8, with one difference: a histogram's buckets are
 * given by their distance from the one before, which makes the text half as long. Everything that
 * arrives is checked, field by field.
 */

/** Longest encoded frame. One of 20 series is some 20 KB; hundreds of series stay far below this. */
export const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** Slices of one frame. A frame has one or two, a coarsened one at most two a stage. */
export const MAX_SLICES = 1024;
/** Series of one slice. */
export const MAX_SERIES = 10_000;
/** Failure examples of one slice. */
export const MAX_SLICE_EXAMPLES = 10_000;
/** Frames that one coarsened frame may cover: more than a day of seconds. */
export const MAX_COVERED = 100_000;

/** @throws SquallError SQ_FRAME where the frame is longer than `MAX_FRAME_BYTES`. */
export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const bytes = encodeUtf8(JSON.stringify({ ...frame, slices: frame.slices.map(packSlice) }));
  if (bytes.length > MAX_FRAME_BYTES) throw refuse('frame', `has ${bytes.length} bytes`);
  return bytes;
}

function packSlice(slice: Slice): Slice {
  const series = slice.series.map((one) => {
    if (one.histogram === undefined) return one;
    const buckets = gapsOf(one.histogram.buckets);
    return { ...one, histogram: { ...one.histogram, buckets } };
  });
  return { ...slice, series };
}

function gapsOf(buckets: readonly number[]): number[] {
  const gaps: number[] = [];
  let before = 0;
  for (let at = 0; at + 1 < buckets.length; at += 2) {
    const index = buckets[at] ?? 0;
    gaps.push(index - before, buckets[at + 1] ?? 0);
    before = index;
  }
  return gaps;
}

/** @throws SquallError SQ_FRAME for anything but a well-formed frame, with the field as its path. */
export function decodeFrame(bytes: Uint8Array): Frame {
  if (bytes.length > MAX_FRAME_BYTES) throw refuse('frame', `has ${bytes.length} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(bytes));
  } catch (cause) {
    throw new SquallError('SQ_FRAME', 'a measurement frame is not JSON in UTF-8', { cause });
  }
  const frame = record(value, 'frame');
  const seqFrom = whole(frame['seqFrom'], 'seqFrom', 1);
  const seqTo = whole(frame['seqTo'], 'seqTo', seqFrom);
  if (seqTo - seqFrom >= MAX_COVERED) throw refuse('seqTo', 'covers too many frames');
  return {
    run: text(frame['run'], 'run'),
    agent: text(frame['agent'], 'agent'),
    epoch: whole(frame['epoch'], 'epoch', 1),
    seqFrom,
    seqTo,
    slices: list(frame['slices'], 'slices', MAX_SLICES).map(readSlice),
    ...(frame['pages'] === undefined ? {} : { pages: readLedgerPages(frame['pages']) }),
  };
}

function readSlice(value: unknown): Slice {
  const slice = record(value, 'slices[]');
  const stage = readStage(slice['stage'], 'slices[].stage');
  const fromUs = finite(slice['fromUs'], 'slices[].fromUs');
  const toUs = finite(slice['toUs'], 'slices[].toUs');
  if (toUs < fromUs) throw refuse('slices[].toUs', 'lies before fromUs');
  return {
    stage,
    phase: readPhase(slice['phase']),
    n: whole(slice['n'], 'slices[].n', 0),
    span: whole(slice['span'], 'slices[].span', 1),
    fromUs,
    toUs,
    series: list(slice['series'], 'series', MAX_SERIES).map(readSeries),
    examples: list(slice['examples'], 'examples', MAX_SLICE_EXAMPLES).map(readExample),
  };
}

function readSeries(value: unknown): SeriesDelta {
  const series = record(value, 'series[]');
  const metric = readMetric(series['metric'], 'series[].metric');
  const qos = series['qos'];
  const reason = series['reason'];
  return {
    metric,
    subject: text(series['subject'], 'series[].subject'),
    stage: readStage(series['stage'], 'series[].stage'),
    ...(qos === undefined ? {} : { qos: readQos(qos) }),
    ...(reason === undefined ? {} : { reason: text(reason, 'series[].reason') }),
    ...readDelta(metric, series),
  };
}

function readDelta(metric: MetricName, series: Fields): Pick<SeriesDelta, 'value' | 'histogram'> {
  const { kind } = METRICS[metric];
  if (kind === 'time') return { histogram: readHistogram(series['histogram']) };
  if (series['histogram'] !== undefined) throw refuse('series[].histogram', 'is not for a counter');
  if (kind === 'gauge') return { value: finite(series['value'], 'series[].value') };
  return { value: whole(series['value'], 'series[].value', 0) };
}

function readHistogram(value: unknown): SparseHistogram {
  const histogram = record(value, 'histogram');
  const buckets = list(histogram['buckets'], 'histogram.buckets', 2 * BUCKET_COUNT);
  const minUs = time(histogram['minUs'], 'histogram.minUs');
  const maxUs = time(histogram['maxUs'], 'histogram.maxUs');
  const checked = readBuckets(buckets);
  // Minimum and maximum bound the walk over the buckets, so they must be those of the buckets.
  if (checked.numbers[0] !== bucketOf(minUs)) throw refuse('histogram.minUs', 'is not in a bucket');
  if (checked.numbers.at(-2) !== bucketOf(maxUs) || maxUs < minUs) {
    throw refuse('histogram.maxUs', 'is not in the last bucket');
  }
  const sumUs = finite(histogram['sumUs'], 'histogram.sumUs');
  const slack = 1e-9 * checked.count * maxUs;
  if (sumUs < checked.count * minUs - slack || sumUs > checked.count * maxUs + slack) {
    throw refuse('histogram.sumUs', 'does not fit minimum and maximum');
  }
  const overflow = whole(histogram['overflow'], 'histogram.overflow', 0);
  const negative = whole(histogram['negative'], 'histogram.negative', 0);
  if (overflow + negative > checked.count)
    throw refuse('histogram', 'has more outside than in all');
  const read = { buckets: checked.numbers, minUs, maxUs, sumUs, overflow, negative };
  const boundUs = histogram['boundUs'];
  if (boundUs === undefined) return read;
  return { ...read, boundUs: whole(boundUs, 'histogram.boundUs', 1) };
}

/** Pairs of (distance from the bucket before, count); only the first distance may be 0. */
function readBuckets(pairs: readonly unknown[]): { numbers: number[]; count: number } {
  if (pairs.length === 0 || pairs.length % 2 !== 0) {
    throw refuse('histogram.buckets', 'is not a list of pairs');
  }
  const numbers: number[] = [];
  let index = 0;
  let count = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    index += whole(pairs[at], 'histogram.buckets', at === 0 ? 0 : 1);
    if (index >= BUCKET_COUNT) throw refuse('histogram.buckets', `has no bucket ${index}`);
    const n = whole(pairs[at + 1], 'histogram.buckets', 1);
    numbers.push(index, n);
    count += n;
  }
  return { numbers, count };
}

function readExample(value: unknown): FailureExample {
  const example = record(value, 'examples[]');
  return {
    metric: readMetric(example['metric'], 'examples[].metric'),
    subject: text(example['subject'], 'examples[].subject'),
    reason: text(example['reason'], 'examples[].reason'),
    client: text(example['client'], 'examples[].client', 0),
    address: text(example['address'], 'examples[].address', 0),
    atUs: finite(example['atUs'], 'examples[].atUs'),
  };
}

function readMetric(value: unknown, path: string): MetricName {
  const name = text(value, path);
  if (!isMetricName(name)) throw refuse(path, 'is no metric of the catalogue');
  return name;
}

function readPhase(value: unknown): Phase {
  if (value === 'prologue' || value === 'main' || value === 'settle') return value;
  throw refuse('slices[].phase', 'is none of prologue, main, settle');
}

function readStage(value: unknown, path: string): number {
  const stage = whole(value, path, 0);
  if (stage >= MAX_STAGES) throw refuse(path, 'is beyond the last possible stage');
  return stage;
}

function readQos(value: unknown): 0 | 1 | 2 {
  if (value === 0 || value === 1 || value === 2) return value;
  throw refuse('series[].qos', 'is none of 0, 1, 2');
}

function time(value: unknown, path: string): number {
  const us = whole(value, path, 0);
  if (us > HIGHEST_US) throw refuse(path, 'is longer than an hour');
  return us;
}
