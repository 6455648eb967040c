import { z } from 'zod';
import { MAX_STEPS } from '../limits.ts';
import { duration, rateOrMax, rateOrNone, someDuration, strictMap } from './leaves.ts';

const ramp = strictMap({
  from: rateOrNone().describe('Rate at the start.'),
  to: rateOrNone().describe('Rate at the end; it stays there.'),
  over: someDuration()
    .optional()
    .describe(
      'How long it takes; a ramp that stands in a stage with `for` takes its length by default.',
    ),
});

const step = strictMap({
  rate: rateOrNone().describe('Rate of the step.'),
  for: someDuration().describe('How long it lasts; the last step stays.'),
});

const spike = strictMap({
  base: rateOrNone().describe('Rate before and after.'),
  peak: rateOrNone().describe('Rate of the spike.'),
  at: duration().describe('When it begins.'),
  for: someDuration().describe('How long it lasts.'),
});

/** Rates over the whole group that change with time, counted from the stage's clock. */
export const shapeWords = {
  ramp: ramp.optional().describe('A rate over the whole group that rises or falls evenly.'),
  steps: z
    .array(step)
    .min(1)
    .max(MAX_STEPS)
    .optional()
    .describe('Rates over the whole group, one after the other.'),
  spike: spike.optional().describe('A rate over the whole group that jumps for a while.'),
};

/** How often to publish: exactly one of these. */
export const paceWords = {
  every: someDuration().optional().describe('Each client sends one message in this time.'),
  rate: rateOrMax()
    .optional()
    .describe('Messages a second over the whole group, or `max`: as fast as the window lets it.'),
  ...shapeWords,
};

const paceMap = z.object(paceWords);
/** What of a stream or of an override says how often. */
export type PaceFile = z.output<typeof paceMap>;
