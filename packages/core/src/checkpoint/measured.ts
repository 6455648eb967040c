import { z } from 'zod';
import {
  BUCKET_COUNT,
  isMetricName,
  type MetricName,
  type SeriesKey,
  type SparseHistogram,
} from '../metrics/index.ts';

/** What all states are made of. Numbers are finite: JSON has no others. */
export const count = z.number().int().nonnegative();
export const seq = z.number().int().positive();
export const agentId = z.string().min(1).max(128);
export const phase = z.enum(['prologue', 'main', 'settle']);
export const metric = z.custom<MetricName>(
  (value) => typeof value === 'string' && isMetricName(value),
  'is no metric',
);
export const example = z.strictObject({
  metric,
  subject: z.string(),
  reason: z.string(),
  client: z.string(),
  address: z.string(),
  atUs: z.number(),
  agent: agentId,
});

export const moment = z.strictObject({
  stage: count,
  phase,
  n: z.number().int(),
  toUs: z.number(),
});

export const sparse: z.ZodType<SparseHistogram> = z.strictObject({
  buckets: z.array(z.number()).refine(areBuckets, 'must be rising buckets with their counts'),
  minUs: z.number(),
  maxUs: z.number(),
  sumUs: z.number(),
  overflow: count,
  negative: count,
  boundUs: count.exactOptional(),
});

export const seriesKey: z.ZodType<SeriesKey> = z.strictObject({
  metric,
  subject: z.string(),
  stage: count,
  qos: z.literal([0, 1, 2]).exactOptional(),
  reason: z.string().exactOptional(),
});

function areBuckets(buckets: readonly number[]): boolean {
  let before = -1;
  for (let at = 0; at < buckets.length; at += 2) {
    const index = buckets[at] ?? -1;
    const times = buckets[at + 1] ?? 0;
    if (!Number.isInteger(index) || index <= before || index >= BUCKET_COUNT) return false;
    if (!Number.isInteger(times) || times <= 0) return false;
    before = index;
  }
  return true;
}
