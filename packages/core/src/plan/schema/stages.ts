import { z } from 'zod';
import { MAX_IN_FLIGHT } from '../limits.ts';
import {
  choice,
  count,
  flag,
  name,
  named,
  notYet,
  plainText,
  rate,
  rateOrMax,
  someDuration,
  strictMap,
} from './leaves.ts';

const ramp = notYet(
  strictMap({
    from: rate().describe('Rate at the start.'),
    to: rate().describe('Rate at the end.'),
    over: someDuration().optional().describe('How long it takes; the stage by default.'),
  }),
  'ramp is',
);
const steps = notYet(z.unknown(), 'steps are');
const spike = notYet(z.unknown(), 'spike is');

const shapes = {
  ramp: ramp.optional().describe('A rate that rises or falls.'),
  steps: steps.optional().describe('A rate that changes in steps.'),
  spike: spike.optional().describe('A rate that jumps.'),
};

/** What a stage may change of a stream. */
const publishOverride = strictMap({
  every: someDuration().optional().describe('In place of the stream’s own pace.'),
  rate: rateOrMax().optional().describe('In place of the stream’s own pace.'),
  inflight: count({ min: 1, max: MAX_IN_FLIGHT, range: `1 to ${MAX_IN_FLIGHT}` })
    .optional()
    .describe('In place of the stream’s own window.'),
  ...shapes,
});

const nothing = z.union([z.null(), strictMap({})]);
const refusedOverride = (what: string) =>
  z.union([nothing, notYet(z.record(z.string(), z.unknown()), what)]);

/** `{ publish: { rate: 500/s } }`: activities as keys, what the stage changes of them as values. */
const activityMap = z
  .object({
    connect: refusedOverride('an override of connect in a stage is')
      .optional()
      .describe('Connect.'),
    subscribe: refusedOverride('an override of subscribe in a stage is')
      .optional()
      .describe('Subscribe.'),
    disconnect: refusedOverride('a disconnect storm is').optional().describe('Disconnect.'),
    idle: refusedOverride('an override of idle in a stage is')
      .optional()
      .describe('Do nothing new.'),
    consume: notYet(z.unknown(), 'consume is').optional().describe('Consume (RocketMQ).'),
    churn: notYet(z.unknown(), 'churn is').optional().describe('Disconnect and connect again.'),
    ...shapes,
  })
  .catchall(z.union([z.null(), publishOverride]));

const activityName = z
  .string()
  .superRefine((text, context) => {
    if (!/^(churn|consume)(\.|$)/.test(text)) return;
    notYetWord(text.split('.')[0] ?? '', context);
  })
  .meta({
    examples: ['connect', 'subscribe', 'publish', 'publish.heartbeat', 'disconnect', 'idle'],
  });

function notYetWord(word: string, context: z.core.$RefinementCtx): void {
  context.addIssue({
    code: 'custom',
    message: `${word} is not supported by this version`,
    params: { code: 'SQ_UNSUPPORTED' },
  });
}

const oneActivity = z.union([activityName, activityMap]);

const activities = z.union([oneActivity, z.array(oneActivity).min(1)]);

export const stage = strictMap({
  name: name().describe('Name of the stage; thresholds call it by this.'),
  run: named(activities)
    .prefault({})
    .describe(
      'What each group does: `connect`, `subscribe`, `publish`, `publish.stream`, `disconnect`, `idle`, a list of them, or a map with overrides such as `{ publish: { rate: 500/s } }`. A group that is not named starts nothing new.',
    ),
  for: someDuration().optional().describe('Length of the stage, counted from its clock.'),
  until: plainText()
    .optional()
    .describe(
      'Condition on a counter that ends the stage, such as `devices.sent >= 100k`; with `run.` before it counts from the start of the run. The stage goes on for 2 s and more after it has come true, until everybody knows its end; exact numbers are `count`. Where all its streams have a `count` the stage also ends when they are done.',
    ),
  warmup: flag().prefault(false).describe('Takes the stage out of judgement.'),
  onIncomplete: choice(['continue', 'abort'])
    .prefault('continue')
    .describe('What happens when clients finally failed at what the stage asks of them.'),
});
