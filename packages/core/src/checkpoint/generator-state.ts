import { z } from 'zod';
import type { GeneratorWatchState } from '../report/index.ts';
import { agentId, count, sparse } from './measured.ts';

/** `GeneratorWatch.toJSON()`, read back. */
export const generatorState: z.ZodType<GeneratorWatchState> = z.array(
  z.strictObject({
    agent: agentId,
    whole: sparse.nullable(),
    window: sparse.nullable(),
    windowIndex: z.number().int(),
    row: z.array(z.number()),
    windows: count,
    sustainedUs: z.number().nullable(),
    worstUs: z.number().nullable(),
    late: z.array(z.strictObject({ fromUs: z.number(), toUs: z.number(), byUs: z.number() })),
  }),
);
