import { z } from 'zod';

/**
 * The report of a run: one model, of which everything that is shown (JSON, JUnit, terminal, pages)
 * is a drawing. Names are fixed. Times are whole µs with the suffix `Us`, moments UTC with
 * milliseconds, sizes in bytes, rates a second, shares from 0 to 1.
 */
export const REPORT_SCHEMA = 'squall.report/1';

const count = z.number().int().nonnegative().meta({ 'x-unit': 'count' });
const us = z.number().int().meta({ 'x-unit': 'µs' });
const moment = z.iso.datetime({ precision: 3 }).meta({ 'x-unit': 'moment (UTC)' });
const text = z.string();

const verdicts = ['pass', 'fail', 'inconclusive', 'aborted', 'cancelled', 'error'] as const;
export type Verdict = (typeof verdicts)[number];

const validityStates = ['valid', 'degraded', 'invalid'] as const;
export type ValidityState = (typeof validityStates)[number];

const stageEnds = [
  'complete',
  'duration',
  'condition',
  'deadline',
  'agent_lost',
  'aborted',
  'stopped',
] as const;
export type StageEnd = (typeof stageEnds)[number];

/** Every check of the harness: each is a case in JUnit, also where it found nothing. */
export const CHECKS = [
  'load_began',
  'lateness',
  'dropped',
  'frames_missing',
  'frames_conflict',
  'start_skew',
  'histogram_overflow',
  'negative_times',
  'agent_lost',
  'worker_lost',
  'clock_bound',
  'loop_delay',
  'books',
  'bus_interrupted',
  'bus_data_lost',
  'bus_gap',
  'bus_memory',
  'bus_length',
] as const;
export type Check = (typeof CHECKS)[number];

const finding = z.strictObject({
  check: z.enum(CHECKS),
  state: z.enum([...validityStates, 'note']).describe('`note`: worth knowing, no harm to validity'),
  observed: z.union([z.number(), z.string()]),
  limit: z.number().nullable().describe('the limit that it passed'),
  agent: text.optional().describe('whose finding it is'),
  hint: text.describe('what it means and what can be done, one sentence'),
});

const times = z.strictObject({
  count,
  minUs: us,
  meanUs: us,
  p50Us: us,
  p90Us: us,
  p95Us: us,
  p99Us: us,
  p999Us: us,
  p9999Us: us,
  maxUs: us,
  overflow: count.describe('above one hour, recorded as one hour'),
  negative: count.describe('below zero, recorded as 0'),
  boundUs: us
    .optional()
    .describe('how far off a time may be, as sender and receiver read different clocks'),
});

const figures = {
  counters: z.record(text, count).describe('by metric; those of the ledger come with it'),
  reasons: z.record(text, z.record(text, count)).describe('by metric and reason'),
  times: z.record(text, times).describe('by metric; merged from buckets, never averaged'),
};

const stageFigures = z.strictObject(figures);
const group = z.strictObject({
  ...figures,
  streams: z
    .record(text, stageFigures)
    .describe('named streams and subscriptions of the group, by name'),
  stages: z
    .record(text, stageFigures)
    .describe('by the stage that owns the measurement; sum = group'),
});

const agent = z.strictObject({
  id: text,
  host: text,
  cores: count,
  workers: count,
  version: text,
  clockBoundUs: us.nullable().describe('how far off its clock may be from the controller’s'),
  startSkewUs: us.nullable().describe('how late after the common start it began'),
  framesProduced: count.nullable().describe('null where it never said how many'),
  framesReceived: count.describe('each counted once'),
  state: z.enum(['completed', 'lost', 'refused']),
  lostAt: moment.optional(),
  reason: text.optional().describe('why it was lost or refused'),
  workersLost: z.array(z.strictObject({ worker: count, reason: text })),
  cpuSeconds: z.number().nonnegative().nullable(),
  rssBytesMax: count.nullable(),
  latenessP99Us: us.nullable().describe('due → picked up, warm-up left out'),
  loopDelayP99Us: us.nullable().describe('worst that its processes reported'),
  hostFigures: z
    .record(text, z.strictObject({ mean: z.number(), max: z.number() }))
    .describe('how its host fared, by the figures of a probe of type `host`'),
  counters: z.record(text, z.record(text, count)).describe('by group; sum over agents = group'),
});

const stage = z.strictObject({
  name: text,
  startedAt: moment,
  clockAt: moment.nullable().describe('null where its clock never started'),
  endedAt: moment,
  durationUs: us.describe('from its clock; from its start where the clock never started'),
  prologueUs: us.describe('connecting and subscribing before its clock'),
  endedBy: z.enum(stageEnds).describe('what ended it'),
  warmup: z.boolean().describe('left out of judgement unless a threshold names it'),
});

const threshold = z.strictObject({
  id: text.nullable(),
  text,
  state: z.enum(['pass', 'fail', 'warn', 'no_data', 'inconclusive']),
  leadsTo: z
    .enum(['pass', 'fail', 'warn', 'inconclusive'])
    .describe('what the state does to the verdict'),
  expected: text.describe('the line without its metric'),
  observed: z.number().nullable().describe('in `unit`'),
  unit: z.enum(['us', 'count', 'per_second', 'bytes', 'bytes_per_second', 'share']),
  observedText: text.describe('the same in words, with units'),
  worst: z
    .strictObject({ stage: text, from: moment, to: moment, value: z.number() })
    .nullable()
    .describe('the worst window, or stage'),
  windows: count.describe('windows (or stages) that were judged'),
  failedWindows: count.describe('how many of them did not hold'),
  partialWindows: count.describe('how many of them were shorter than `over`'),
  aborted: z.boolean().describe('it ended the run'),
  remark: text.describe('why it is neither a plain pass nor a plain fail'),
});

const ledgerPair = z.strictObject({
  from: text,
  to: text,
  qos: count,
  expected: count,
  received: count,
  unique: count,
  lost: count,
  duplicated: count,
  reordered: count,
  corrupted: count,
  unexpected: count,
  foreign: count,
  unresolved: count,
  unresolvedArrived: count,
  unverifiable: count,
  pairs: count.describe('publishing × subscribing clients'),
  lostDisconnected: count.describe('of the lost: while the subscriber had no connection'),
  lostSession: count.describe('of the lost: around the loss of a session that was to be kept'),
  expired: count.describe(
    'not arrived, and possibly expired while the subscriber was away; in no other figure',
  ),
  wrongTopic: count.describe('of all arrivals: on another topic than that of the publisher'),
  wrongQos: count.describe('of all arrivals: by another QoS than the row has'),
  retained: count.describe('copies kept for new subscriptions, repeated ones included'),
  queued: count.describe('of the arrivals: sent before the connection that resumed the session'),
  refused: count.describe('of the unresolved: refused by the broker'),
  copies: count.describe('further copies for overlapping subscriptions; in no other figure'),
  unverifiablePairs: count,
  unverifiableFrom: z.array(text).describe('agents whose ledger did not come, or not whole'),
  inexactPairs: count.describe('with more gaps than are kept: their figures are bounds'),
  undecidedPairs: count.describe('subscribed while messages were on their way, and got none'),
  state: z.enum(['pass', 'fail', 'inconclusive']).describe('judged without warm-up stages'),
  remark: text.describe('why it is not a pass'),
  examples: z.record(
    text,
    z.array(
      z.strictObject({
        client: text.describe('client id of the publisher; empty where it is not known'),
        subscriber: text,
        seq: count,
        sentAt: moment.nullable(),
        while: z.enum(['disconnected', 'session lost']).optional(),
      }),
    ),
  ),
});

const balance = z.strictObject({
  equation: text,
  values: z.record(text, z.number()).describe('what each side counted since the load began'),
  unresolved: count.describe('messages of which nobody knows whether they arrived'),
  difference: z.number().describe('of the side that fits the first least, less the first'),
  share: z.number().describe('the difference over the first side'),
  settledAfterUs: us.nullable().describe('from the end of the load until it held'),
  holds: z.boolean(),
  state: z.enum(['pass', 'fail', 'inconclusive']),
  remark: text.describe('why, in one sentence'),
});

const probeFigure = z.strictObject({
  kind: z.enum(['counter', 'gauge']),
  unit: z
    .enum(['count', 'bytes', 'seconds', 'share', 'per_second', 'bytes_per_second'])
    .nullable()
    .describe('null: only the server knows'),
  min: z.number(),
  mean: z.number(),
  max: z.number(),
  last: z.number(),
  increase: z.number().describe('since the reading before the load; a counter’s restarts added up'),
  decreases: count.describe('how often it went down; of a counter: restarts'),
});

const probe = z
  .object({
    type: text,
    readings: count,
    errors: count.describe('readings that failed'),
    skipped: count.describe('readings left out, since the one before had not ended'),
    reasons: z.record(text, count).describe('of the errors'),
  })
  .catchall(probeFigure);

export const reportSchema = z.strictObject({
  schema: z.literal(REPORT_SCHEMA),
  run: z.strictObject({
    id: text,
    name: text,
    description: text,
    labels: z.record(text, text),
    startedAt: moment,
    endedAt: moment,
    durationUs: us,
    scale: z.number().positive().describe('`--scale`'),
    scaled: z.array(z.strictObject({ path: text, from: text, to: text })),
    vars: z.record(text, text).describe('redacted'),
    version: text,
    strict: z.boolean().describe('`--strict`: validity `degraded` is no success'),
    environment: z.record(text, z.union([text, z.number()])).describe('where the controller ran'),
  }),
  verdict: z.enum(verdicts),
  exitCode: count.describe('follows from verdict, validity and `strict`'),
  reasons: z.array(text).describe('why this verdict, most important first'),
  notes: z.array(text).describe('what else a reader must know, such as what was not verified'),
  validity: z.strictObject({ state: z.enum(validityStates), findings: z.array(finding) }),
  plan: z.record(text, z.unknown()).describe('normalised'),
  split: z
    .array(
      z.strictObject({
        agent: text,
        workers: z.array(
          z.strictObject({
            groups: z.record(
              text,
              z.strictObject({ clients: count, first: z.number().int(), last: z.number().int() }),
            ),
          }),
        ),
      }),
    )
    .describe(
      'client indexes from 0, both ends included; `{{n}}` and `check --split` count from 1',
    ),
  agents: z.array(agent),
  stages: z.array(stage),
  groups: z.record(text, group),
  failures: z.array(
    z.strictObject({
      metric: text,
      subject: text,
      reason: text,
      count,
      examples: z.array(
        z.strictObject({ client: text, agent: text.optional(), address: text, at: moment }),
      ),
    }),
  ),
  ledger: z
    .array(ledgerPair)
    .describe('by publish stream, subscribe entry and QoS; empty: delivery was not verified'),
  books: z.array(z.strictObject({ equation: text, left: count, right: count, holds: z.boolean() })),
  thresholds: z.array(threshold),
  balance: z.array(balance),
  probes: z
    .record(text, probe)
    .describe('by the plan’s name; figures beside `errors` and the like'),
  histograms: z
    .array(
      z.strictObject({
        group: text,
        stage: text,
        metric: text,
        minUs: us,
        width: z.number().describe('of a bucket, over the time it stands for: how exact they are'),
        upToUs: z.array(us).describe('upper ends of the buckets that hold something, rising'),
        counts: z.array(count).describe('a count for each of them'),
      }),
    )
    .describe('how the times are spread, by group, stage and metric'),
  timeline: z.strictObject({
    startedAt: moment,
    stepUs: us.positive(),
    stages: z.array(z.strictObject({ name: text, fromUs: us, clockUs: us.nullable(), toUs: us })),
    series: z.array(
      z.strictObject({
        metric: text,
        labels: z.record(text, text),
        values: z
          .array(z.number().nullable())
          .describe('a step each; label `stat`: rate (a second), value, p50 and p99 (µs)'),
      }),
    ),
  }),
});

export type Report = z.infer<typeof reportSchema>;
export type Finding = Report['validity']['findings'][number];
export type Times = z.infer<typeof times>;
export type Figures = z.infer<typeof stageFigures>;
export type GroupFigures = z.infer<typeof group>;
export type Balance = z.infer<typeof balance>;
export type ProbeFigures = z.infer<typeof probe>;
export type Book = Report['books'][number];
