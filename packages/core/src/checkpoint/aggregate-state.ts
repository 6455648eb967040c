import { z } from 'zod';
import { MAX_STEPS, type RunAggregateState } from '../metrics/index.ts';
import { agentId, count, example, metric, moment, seq, seriesKey, sparse } from './measured.ts';

const values = z.array(z.tuple([z.string(), z.number()]));
const step = count.max(MAX_STEPS);

const series = z.array(
  z.strictObject({ key: seriesKey, value: z.number(), histogram: sparse.nullable() }),
);

const stepTimes = z.strictObject({ count, p50Us: z.number(), p99Us: z.number() });

const timeline = z.strictObject({
  stepUs: z.number().positive(),
  length: step,
  late: count,
  counters: z.array(z.tuple([z.string(), z.array(z.number()).max(MAX_STEPS)])),
  times: z.array(
    z.tuple([
      z.string(),
      z.strictObject({
        open: z.array(z.tuple([step, z.array(sparse)])),
        sealed: z.array(stepTimes.nullable()).max(MAX_STEPS),
      }),
    ]),
  ),
  gauges: z.strictObject({
    open: z.array(z.tuple([step, agentId, moment, values])),
    sealed: z.array(z.tuple([step, values])),
  }),
});

/** `RunAggregate.toJSON()`, read back. */
export const aggregateState: z.ZodType<RunAggregateState> = z.strictObject({
  frames: z.array(
    z.strictObject({
      agent: agentId,
      epoch: seq,
      ranges: z.array(z.strictObject({ from: seq, to: seq })),
    }),
  ),
  series,
  agents: z.array(z.tuple([agentId, series])),
  gauges: z.array(z.tuple([agentId, moment, values])),
  moments: z.strictObject({
    newest: z.array(z.tuple([agentId, moment])),
    open: z.array(moment),
    closed: moment.nullable(),
  }),
  growth: z.array(z.tuple([metric, z.number()])),
  examples: z.array(example),
  conflicts: count,
  timeline,
});
