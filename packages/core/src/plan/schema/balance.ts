import { z } from 'zod';
import { choice, plainText, strictMap } from './leaves.ts';
import { settle } from './settle.ts';

const sides = () => z.array(plainText()).min(2).max(8);

/** Counters of different systems that must agree when the run is over. */
export const balance = strictMap({
  settle: settle.optional().describe('How long the sides are waited for; `max` counts.'),
  equal: sides()
    .optional()
    .describe('Counters that must agree with the first, such as `[devices.acked, rows]`.'),
  atLeast: sides().optional().describe('The first is no less than any other.'),
  duplicates: choice(['allow'])
    .optional()
    .describe('More on the right is no fault: what QoS 1 may deliver twice.'),
});
