import { z } from 'zod';
import type { JudgeState } from '../thresholds/index.ts';
import { agentId, count, phase, sparse } from './measured.ts';

const accumulator = z.strictObject({
  value: z.number(),
  base: z.number(),
  histogram: sparse.nullable(),
  seconds: z.array(z.tuple([z.number().int(), z.number()])),
});

const span = z.strictObject({
  stage: z.string(),
  fromUs: z.number(),
  toUs: z.number(),
  finding: z.strictObject({
    holds: z.boolean(),
    values: z.array(z.number()),
    value: z.number(),
    badness: z.number(),
  }),
});

const tally = z.strictObject({
  windows: count,
  failedWindows: count,
  partialWindows: count,
  counted: count,
  row: count,
  worst: span.nullable(),
});

const track = z.strictObject({
  tally,
  open: z.array(
    z.strictObject({
      index: z.number().int(),
      measured: accumulator,
      began: z.number(),
      ended: z.number(),
    }),
  ),
  next: z.number().int(),
  waiting: z.number(),
  blurred: count,
  eligible: count,
  tooFew: count,
  fewest: count.nullable(),
  judged: count,
});

/** `Judge.toJSON()`, read back. */
export const judgeState: z.ZodType<JudgeState> = z.strictObject({
  book: z.strictObject({
    live: z.array(
      z.tuple([agentId, z.strictObject({ stage: count, rank: count, n: z.number().int() })]),
    ),
    spans: z.array(
      z.tuple([
        z.string(),
        z.strictObject({ startUs: z.number(), endUs: z.number(), fullSeconds: z.number() }),
      ]),
    ),
  }),
  lines: z.array(
    z.strictObject({
      known: z.strictObject({
        seen: z.boolean(),
        stages: z.array(z.tuple([count, accumulator])),
        tracks: z.array(z.tuple([count, phase, track])),
      }),
      abortedBy: tally.nullable(),
      boundUs: z.number().nonnegative(),
    }),
  ),
  clockDoubt: z.string().nullable(),
});
