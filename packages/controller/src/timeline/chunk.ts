import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { isMetricName, type MetricName } from '@squall/core/metrics';
import { z } from 'zod';

/** A run's time line is kept in pieces of one minute. */
export const CHUNK_SECONDS = 60;
export const SECOND_US = 1_000_000;

/** A second of a time, in µs; the sum is exact. */
export const TIME_COLUMNS = [
  'count',
  'sum',
  'min',
  'p50',
  'p90',
  'p95',
  'p99',
  'p999',
  'max',
] as const;
export type TimeColumnName = (typeof TIME_COLUMNS)[number];

/** Written by this same code: looking at every number would take longer than all the rest. */
const numbers = z.custom<number[]>((value) => Array.isArray(value));
const maybe = z.custom<(number | null)[]>((value) => Array.isArray(value));
const metric = z.string().refine((name): name is MetricName => isMetricName(name));
const series = z.discriminatedUnion('kind', [
  /** Growth in each second. */
  z.object({ kind: z.literal('counter'), metric, subject: z.string(), values: numbers }),
  /** Value in each second; null: nobody told. */
  z.object({ kind: z.literal('gauge'), metric, subject: z.string(), values: maybe }),
  z.object({
    kind: z.literal('time'),
    metric,
    subject: z.string(),
    columns: z.record(z.enum(TIME_COLUMNS), numbers),
  }),
]);
const chunk = z.object({
  seconds: z.number().int(),
  series: z.array(series),
  /** By agent: µs on the run's timeline up to which it has reported when this was written. */
  reported: z.record(z.string(), z.number()),
});

/** One minute of a run, all series side by side; every column has `seconds` entries. */
export type ChunkData = z.infer<typeof chunk>;
export type ChunkSeries = z.infer<typeof series>;

/** Columns as JSON, deflated: a fraction of what rows would take, and read in one piece. */
export function encodeChunk(data: ChunkData): Uint8Array {
  return deflateRawSync(JSON.stringify(data));
}

/** @throws where the bytes are no chunk. */
export function decodeChunk(bytes: Uint8Array): ChunkData {
  return chunk.parse(JSON.parse(inflateRawSync(bytes).toString('utf8')));
}

export function seriesId(metricName: string, subject: string): string {
  return `${metricName}\n${subject}`;
}
