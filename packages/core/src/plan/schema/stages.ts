import { z } from 'zod';
import { MAX_IN_FLIGHT } from '../limits.ts';
import {
  choice,
  count,
  duration,
  flag,
  name,
  named,
  plainText,
  rate,
  rateOrMax,
  share,
  someDuration,
  strictMap,
} from './leaves.ts';
import { paceWords, shapeWords } from './paces.ts';

/** What a stage may change of a stream. */
const publishOverride = strictMap({
  ...paceWords,
  inflight: count({ min: 1, max: MAX_IN_FLIGHT, range: `1 to ${MAX_IN_FLIGHT}` })
    .optional()
    .describe('In place of the stream’s own window.'),
});

const nothing = z.union([z.null(), strictMap({})]);
const orNothing = <Schema extends z.ZodType>(schema: Schema) => z.union([z.null(), schema]);

const connectOverride = strictMap({
  rate: rate().optional().describe('Connects a second over the whole group, in this stage.'),
  over: someDuration().optional().describe('In place of `rate`: the time for all clients.'),
});

const someShare = () => share().optional().describe('Share of the clients; all by default.');

const reconnect = z.union([
  rate(),
  strictMap({
    rate: rate().describe('Connects a second over the whole group.'),
    after: duration().prefault('0s').describe('How long the first one stays away.'),
  }),
]);

const disconnectOverride = strictMap({
  share: someShare(),
  rate: rateOrMax()
    .optional()
    .describe(
      'Disconnects a second over the whole group, or `max`: all at once. By default the connect rate, with `reconnect` all at once.',
    ),
  by: choice(['disconnect', 'reset'])
    .prefault('disconnect')
    .describe('A DISCONNECT packet, or a reset of the TCP connection without one.'),
  reconnect: reconnect
    .optional()
    .describe('The clients come back at this rate: a reconnect storm. `recovery_time` tells how.'),
});

const sleepOverride = strictMap({
  share: someShare(),
  rate: rateOrMax()
    .optional()
    .describe('Disconnects a second over the whole group; the connect rate by default.'),
});

const takeoverOverride = strictMap({
  share: someShare(),
  rate: rate().optional().describe('Takeovers a second; the connect rate by default.'),
});

const churn = strictMap({
  rate: rate().describe('Connects a second over the whole group.'),
  stay: someDuration().describe('From CONNACK to DISCONNECT.'),
});

/** `{ publish: { rate: 500/s } }`: activities as keys, what the stage changes of them as values. */
const activityMap = z
  .object({
    connect: orNothing(connectOverride).optional().describe('Connect.'),
    subscribe: nothing.optional().describe('Subscribe.'),
    unsubscribe: nothing.optional().describe('Unsubscribe.'),
    respond: nothing.optional().describe('Subscribe to requests and answer them.'),
    disconnect: orNothing(disconnectOverride)
      .optional()
      .describe('Disconnect, all or a share, for good or to come back at a rate.'),
    sleep: orNothing(sleepOverride)
      .optional()
      .describe('Disconnect and leave the session on the broker; needs `cleanStart: false`.'),
    wake: orNothing(connectOverride).optional().describe('Connect to the session that was left.'),
    takeover: orNothing(takeoverOverride)
      .optional()
      .describe('Connect again by the same client id while the old connection lives.'),
    churn: churn.optional().describe('Connect at a rate, stay, and disconnect, again and again.'),
    idle: nothing.optional().describe('Do nothing new.'),
    consume: nothing.optional().describe('Consume (RocketMQ).'),
    ...shapeWords,
  })
  .catchall(z.union([z.null(), publishOverride]));

const activityName = z.string().meta({
  examples: [
    'connect',
    'subscribe',
    'publish',
    'publish.heartbeat',
    'respond',
    'unsubscribe',
    'disconnect',
    'sleep',
    'wake',
    'takeover',
    'consume',
    'idle',
  ],
});

const oneActivity = z.union([activityName, activityMap]);

const activities = z.union([oneActivity, z.array(oneActivity).min(1)]);

export const stage = strictMap({
  name: name().describe('Name of the stage; thresholds call it by this.'),
  run: named(activities)
    .prefault({})
    .describe(
      'What each group does: a word (`connect`, `subscribe`, `publish`, `publish.stream`, `respond`, `unsubscribe`, `disconnect`, `sleep`, `wake`, `takeover`, `consume`, `idle`), a list of them, or a map with overrides such as `{ publish: { rate: 500/s } }`. `{ ramp: … }`, `{ steps: … }` and `{ spike: … }` alone are the pace of the group’s one stream. A group that is not named starts nothing new.',
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

export type ActivityFile = z.output<typeof activityMap>;
