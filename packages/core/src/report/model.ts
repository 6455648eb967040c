import { z } from 'zod';

/**
 * The report of a run: one model, of which everything that is shown (JSON, JUnit, terminal, pages)
 * is a drawing. Names are fixed. Times are whole µs with the suffix `Us`, moments UTC with
 * milliseconds, sizes in bytes, rates a second, shares from 0 to 1.
 */
export const REPORT_SCHEMA = 'squall.report/1';

const count = z.number().int().nonnegative();
const us = z.number().int();
const moment = z.iso.datetime({ precision: 3 });
const text = z.string();

export const verdicts = ['pass', 'fail', 'inconclusive', 'aborted', 'cancelled', 'error'] as const;
export type Verdict = (typeof verdicts)[number];

export const validityStates = ['valid', 'degraded', 'invalid'] as const;
export type ValidityState = (typeof validityStates)[number];

export const stageEnds = [
  'complete',
  'duration',
  'condition',
  'deadline',
  'agent_lost',
  'aborted',
  'stopped',
] as const;
export type StageEnd = (typeof stageEnds)[number];

const finding = z.strictObject({
  check: text.describe(
    'lateness · dropped · frames_missing · start_skew · histogram_overflow · agent_lost · worker_lost · agent_refused · books · clock_bound · loop_delay',
  ),
  state: z.enum([...validityStates, 'note']).describe('`note`: worth knowing, no harm to validity'),
  observed: z.union([z.number(), z.string()]),
  limit: z.number().nullable(),
  agent: text.optional(),
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
});

const figures = {
  counters: z.record(text, count),
  reasons: z.record(text, z.record(text, count)),
  times: z.record(text, times),
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
  clockBoundUs: us.nullable(),
  startSkewUs: us.nullable(),
  framesProduced: count.nullable(),
  framesReceived: count,
  state: z.enum(['completed', 'lost', 'refused']),
  lostAt: moment.optional(),
  reason: text.optional(),
  workersLost: z.array(z.strictObject({ worker: count, reason: text })),
  cpuSeconds: z.number().nonnegative().nullable(),
  rssBytesMax: count.nullable(),
  latenessP99Us: us.nullable(),
  loopDelayP99Us: us.nullable(),
  counters: z.record(text, z.record(text, count)).describe('by group; sum over agents = group'),
});

const stage = z.strictObject({
  name: text,
  startedAt: moment,
  clockAt: moment.nullable().describe('null where its clock never started'),
  endedAt: moment,
  durationUs: us.describe('from its clock; from its start where the clock never started'),
  prologueUs: us.describe('connecting and subscribing before its clock'),
  endedBy: z.enum(stageEnds),
  warmup: z.boolean(),
});

const threshold = z.strictObject({
  id: text.nullable(),
  text,
  state: z.enum(['pass', 'fail', 'warn', 'no_data', 'inconclusive']),
  leadsTo: z.enum(['pass', 'fail', 'warn', 'inconclusive']),
  expected: text,
  observed: z.number().nullable().describe('in `unit`'),
  unit: z.enum(['us', 'count', 'per_second', 'bytes', 'bytes_per_second', 'share']),
  observedText: text,
  worst: z
    .strictObject({ stage: text, from: moment, to: moment, value: z.number() })
    .nullable()
    .describe('the worst window, or stage'),
  windows: count,
  failedWindows: count,
  partialWindows: count,
  aborted: z.boolean(),
  remark: text,
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
  examples: z.record(
    text,
    z.array(z.strictObject({ client: text, seq: count, sentAt: moment.nullable() })),
  ),
});

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
    scale: z.number().positive(),
    scaled: z.array(z.strictObject({ path: text, from: text, to: text })),
    vars: z.record(text, text).describe('redacted'),
    version: text,
    strict: z.boolean(),
    environment: z.record(text, z.union([text, z.number()])),
  }),
  verdict: z.enum(verdicts),
  exitCode: count,
  reasons: z.array(text).describe('why this verdict, most important first'),
  notes: z.array(text).describe('what else a reader must know, such as what was not verified'),
  validity: z.strictObject({ state: z.enum(validityStates), findings: z.array(finding) }),
  plan: z.record(text, z.unknown()).describe('normalised'),
  split: z.array(
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
  ledger: z.array(ledgerPair).describe('empty: delivery was not verified'),
  books: z.array(z.strictObject({ equation: text, left: count, right: count, holds: z.boolean() })),
  thresholds: z.array(threshold),
  balance: z.array(
    z.strictObject({
      equation: text,
      values: z.record(text, z.number()),
      difference: z.number(),
      settledAfterUs: us.nullable(),
      holds: z.boolean(),
    }),
  ),
  probes: z.record(text, z.unknown()),
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
export type Book = Report['books'][number];
