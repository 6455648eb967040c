import { SquallError } from '@squall/core/errors';
import { METRICS, type MetricName } from '@squall/core/metrics';
import { reportSchema } from '@squall/core/report';
import { parseDuration } from '@squall/core/units';
import { z } from 'zod';
import { DEFAULT_PAGE, MAX_PAGE } from '../service/limits.ts';
import {
  MAX_KEY_LENGTH,
  MAX_LABEL_LENGTH,
  MAX_LABELS,
  MAX_NOTES_LENGTH,
  MAX_WAIT_US,
  MAX_FILE_NAME_LENGTH,
} from './limits.ts';

/** What goes over the REST API: the one source of its checks, its types and its documentation. */

const text = z.string();
const count = z.number().int().nonnegative();
const us = z.number();
export const moment = z.iso.datetime({ precision: 3 });

/** Databases end a text at its first NUL. */
const line = (max: number) =>
  z
    .string()
    .max(max)
    .refine((value) => !value.includes('\0'), 'no NUL in a text');

const labels = z
  .record(line(MAX_LABEL_LENGTH), line(MAX_LABEL_LENGTH))
  .refine((value) => Object.keys(value).length <= MAX_LABELS, `at most ${MAX_LABELS} labels`);

/** `60s`, `5m` → µs. */
const duration = (maxUs: number) =>
  z.string().transform((value, context) => {
    try {
      const parsed = parseDuration(value);
      if (parsed <= maxUs) return parsed;
      context.addIssue(`at most ${maxUs / 1_000_000} s`);
    } catch (error) {
      if (!(error instanceof SquallError)) throw error;
      context.addIssue(`${error.message}; ${error.hint ?? ''}`);
    }
    return z.NEVER;
  });

/** Every answer that is not a success [RFC 9457]. */
export const problem = z
  .object({
    type: z.string().describe('`urn:squall:error:` and the code'),
    title: z.string().describe('the meaning of the status'),
    status: z.number().int(),
    detail: z.string().describe('what went wrong, one sentence'),
    code: z.string().describe('stable: match on this'),
    hint: z.string().optional().describe('what to do next'),
    path: z.string().optional().describe('the place: a key, an id, a file'),
    errors: z
      .array(
        z.object({
          path: z.string(),
          message: z.string(),
          hint: z.string().optional(),
          code: z.string(),
          line: z.number().int().optional(),
          column: z.number().int().optional(),
        }),
      )
      .optional()
      .describe('everything that is wrong, where there is more to tell'),
  })
  .meta({ id: 'Problem' });

/** A query parameter that may be given several times. */
const several = z.union([z.string(), z.array(z.string())]).optional();

export const idParam = z.object({ id: z.string().max(128) });

const page = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_PAGE)
    .default(DEFAULT_PAGE)
    .describe('entries of the page'),
  cursor: line(MAX_KEY_LENGTH).optional().describe('`next` of the page before'),
};
const next = text.nullable().describe('`cursor` of the next page; null: this is the last');

export const reportQuery = z.object({
  format: z
    .enum(['json', 'html', 'csv', 'hlog', 'md', 'junit'])
    .optional()
    .describe('its form; without it `html` where `Accept` names `text/html` first, else `json`'),
});

export const pageQuery = z.object(page);

export const planQuery = z.object({
  validate: z
    .enum(['true', 'false'])
    .default('false')
    .describe('`true`: only check the plan, keep nothing'),
});

const planFacts = {
  id: text.describe('from the hash: the same text is the same plan'),
  hash: text.describe('SHA-256 of the text, hex'),
  name: text,
  format: z.enum(['yaml', 'json']),
  createdAt: moment,
};
export const planSummary = z.object(planFacts).meta({ id: 'PlanSummary' });
export const planList = z.object({ plans: z.array(planSummary), next });

const warning = z.object({
  line: count,
  column: count,
  path: text,
  message: text,
  hint: text.optional(),
  code: text,
});

export const plan = z
  .object({
    ...planFacts,
    plan: z.record(z.string(), z.unknown()).describe('as Squall understands it, without passwords'),
  })
  .meta({ id: 'Plan' });

export const checkedPlan = z
  .object({
    ...planFacts,
    warnings: z.array(warning),
    secrets: z.array(text).describe('names that `{{env.X}}` needs: the run must be given them'),
    files: z
      .array(text)
      .describe('files and directories that the plan names: the run must be given them'),
  })
  .meta({ id: 'CheckedPlan' });

const states = [
  'waiting',
  'assigning',
  'starting',
  'running',
  'settling',
  'collecting',
  'done',
] as const;
const verdicts = reportSchema.shape.verdict;
const validities = reportSchema.shape.validity.shape.state;

export const run = z
  .object({
    id: text,
    name: text.describe('of the plan'),
    plan: text.describe('id of the plan'),
    labels: z.record(text, text),
    notes: text,
    state: z.enum(states).describe('`waiting`: for agents; `starting`: every agent is ready'),
    stage: text.nullable().describe('the stage that it is in'),
    submittedAt: moment,
    startedAt: moment.nullable().describe('when the load began'),
    endedAt: moment.nullable(),
    verdict: verdicts.nullable().describe('null before the end'),
    validity: validities.nullable(),
    exitCode: count.nullable(),
    reasons: z.array(text).describe('why this verdict, most important first'),
    options: z.object({
      vars: z.record(text, text).describe('redacted'),
      scale: z.number(),
      strict: z.boolean(),
      timeoutUs: us.nullable(),
      agents: count.nullable(),
    }),
  })
  .meta({ id: 'Run' });

export const submittedRun = z
  .object({ ...run.shape, warnings: z.array(warning).describe('of the plan') })
  .meta({ id: 'SubmittedRun' });

export const runRequest = z
  .strictObject({
    plan: text.max(128).optional().describe('id of a plan; this or `text`'),
    text: text.optional().describe('the plan itself, YAML or JSON'),
    vars: z
      .record(text, line(MAX_NOTES_LENGTH))
      .default({})
      .describe('override `vars` of the plan'),
    labels: labels.default({}).describe('beside those of the plan, which they override'),
    notes: line(MAX_NOTES_LENGTH).default(''),
    scale: z.number().positive().default(1).describe('scales clients and rates'),
    strict: z.boolean().default(false).describe('validity `degraded` is no success'),
    timeout: duration(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('ends the run after this time at the latest, such as `30m`'),
    agents: z
      .number()
      .int()
      .min(1)
      .max(4_096)
      .optional()
      .describe('how many agents, where not as many as the plan says'),
    env: z
      .record(text, text)
      .default({})
      .describe('values of `{{env.X}}`; given to the agents, kept nowhere'),
    files: z
      .record(text.max(MAX_FILE_NAME_LENGTH), z.base64())
      .default({})
      .describe(
        'files that the plan names, by those names, in base64, 32 MiB in all; given to the agents, kept nowhere',
      ),
  })
  .refine((value) => (value.plan === undefined) !== (value.text === undefined), {
    message: 'one of plan and text is needed',
  })
  .meta({ id: 'RunRequest' });

export const idempotencyHeader = z.object({
  'idempotency-key': z
    .string()
    .min(1)
    .max(MAX_KEY_LENGTH)
    .regex(/^[\x21-\x7e]+$/, 'visible ASCII characters only')
    .optional()
    .describe('the same key makes one run, however often it is sent; remembered for 24 hours'),
});

export const runsQuery = z.object({
  ...page,
  label: several.describe('`key=value`; several: all of them'),
  plan: text.optional().describe('id of the plan'),
  name: text.optional().describe('name of the plan'),
  state: z.enum(['active', 'done']).optional().describe('`active`: not over'),
  verdict: verdicts.optional(),
});
export const runList = z.object({ runs: z.array(run), next });

export const waitQuery = z.object({
  wait: duration(MAX_WAIT_US)
    .default(0)
    .describe(
      'answers when the run is over (with `If-None-Match`: when it has changed), or after this time; at most `5m`',
    ),
});
export const ifNoneMatch = z.object({
  'if-none-match': z.string().optional().describe('the `etag` of what the reader has'),
});
export const ifMatch = z.object({
  'if-match': z.string().optional().describe('the `etag` of what is to be changed'),
});

export const eventsHeader = z.object({
  'last-event-id': z.string().max(MAX_KEY_LENGTH).optional().describe('the last event that came'),
});

const agentStates = ['assigned', 'ready', 'refused', 'active', 'cut off', 'lost', 'done'] as const;
const byMetric = z.record(z.string(), z.number());

/** The data of server-sent events, by their type. */
export const runEvents = {
  state: z.object({ state: z.enum(states), text }),
  stage: z.object({ index: count, name: text, phase: z.enum(['prologue', 'main']) }),
  agent: z.object({ agent: text, state: z.enum(agentStates) }),
  warning: z.object({ text }),
  progress: z.object({
    progress: z.object({
      stage: z.object({ index: count, name: text }).nullable(),
      phase: z.enum(['prologue', 'main', 'settle', 'cleanup']),
      elapsedUs: us,
      stageElapsedUs: us,
      stageLengthUs: us.nullable(),
      targetPerS: z.number().nullable(),
      clients: count,
      connections: z.number(),
      totals: byMetric,
      rates: byMetric,
      times: z.record(z.string(), z.object({ p50Us: us, p99Us: us })),
      agents: z.array(
        z.object({
          id: text,
          state: z.enum(agentStates),
          loopDelayP99Us: us.nullable(),
          rssBytes: z.number().nullable(),
        }),
      ),
    }),
  }),
  done: z.object({
    verdict: verdicts.nullable(),
    validity: validities.nullable(),
    exitCode: count.nullable(),
    reasons: z.array(text),
  }),
};

export const runPatch = z
  .strictObject({
    labels: z
      .record(line(MAX_LABEL_LENGTH), line(MAX_LABEL_LENGTH).nullable())
      .optional()
      .describe('merged into those that are there; null takes one away'),
    notes: line(MAX_NOTES_LENGTH).optional(),
  })
  .meta({ id: 'RunPatch' });

export const stopRequest = z
  .strictObject({
    mode: z
      .enum(['graceful', 'hard'])
      .default('graceful')
      .describe('`hard` cuts connections and waits for nothing'),
  })
  .nullish();

export const thresholds = z.object({
  final: z.boolean().describe('false: as they would come out if the run ended now'),
  thresholds: reportSchema.shape.thresholds,
});
export const ledger = z.object({
  final: z.boolean().describe('false: the ledger is made when the run is over'),
  ledger: reportSchema.shape.ledger,
});

export const runAgents = z.object({
  agents: z.array(
    z.object({
      id: text,
      host: text,
      workers: count,
      version: text,
      state: text.describe('assigned · ready · refused · active · cut off · lost · done'),
      reason: text.nullable(),
      workersLost: z.array(z.object({ worker: count, reason: text })),
      clockBoundUs: us.nullable(),
      startSkewUs: us.nullable(),
      framesReceived: count,
      framesMissing: count.describe('gaps, as far as they show by now'),
      reportedUpToUs: us.nullable().describe('on the run’s timeline; null after the end'),
      cpuSeconds: z.number().nullable(),
      rssBytesMax: count.nullable(),
      loopDelayP99Us: us.nullable(),
    }),
  ),
});

const metricNames = Object.keys(METRICS).filter((name): name is MetricName => name in METRICS);
const atPoint = 'from the start of the run (`90s`, `1h30m`) or a moment (`2026-11-30T17:30:55Z`)';

export const metricsQuery = z.object({
  from: text.optional().describe(`${atPoint}; default: the start`),
  to: text.optional().describe(`${atPoint}; default: the end, or the last complete second`),
  step: text.optional().describe('whole seconds, such as `10s`; default: `1s`'),
  metric: z
    .union([z.enum(metricNames), z.array(z.enum(metricNames))])
    .optional()
    .describe('several: all of them; default: every metric'),
  subject: several.describe('a group (with its streams) or a stream; default: all'),
});

const column = z.array(z.number().nullable());
const curve = { metric: text, subject: text.describe('group or `group.stream`') };
export const metrics = z
  .object({
    startedAt: moment.nullable().describe('0 of the run’s timeline; null: the load never began'),
    fromUs: us,
    toUs: us,
    stepUs: us,
    final: z.boolean().describe('false: the run goes on'),
    stages: z.array(
      z.object({ name: text, fromUs: us, clockUs: us.nullable(), toUs: us.nullable() }),
    ),
    series: z
      .array(
        z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('counter'), ...curve, rate: column, count: column }),
          z.object({ kind: z.literal('gauge'), ...curve, value: column }),
          z.object({
            kind: z.literal('time'),
            ...curve,
            count: column,
            minUs: column,
            meanUs: column,
            p50Us: column,
            p90Us: column,
            p95Us: column,
            p99Us: column,
            p999Us: column,
            maxUs: column,
          }),
        ]),
      )
      .describe(
        'one entry a step, null where nothing was measured. Rates (a second) and means are exact in every step; of percentiles a step of several seconds shows the worst, of gauges the last',
      ),
  })
  .meta({ id: 'Metrics' });

export const agents = z.object({
  agents: z.array(
    z.object({
      id: text,
      host: text,
      pid: count,
      version: text,
      cores: count,
      workers: count,
      memoryBytes: count,
      labels: z.record(text, text),
      connected: z.boolean(),
      run: text.nullable().describe('the run that has it'),
      clock: z
        .object({ offsetUs: us, boundUs: us, rttUs: us })
        .nullable()
        .describe('how its clock relates to the controller’s'),
      health: z
        .object({
          cpuSeconds: z.number(),
          rssBytes: count,
          loopDelayP99Us: us,
          outboxFrames: count,
        })
        .nullable(),
      observes: z.boolean().describe('it makes no load and only tells how its host fares'),
      hostFigures: z.record(text, z.number()).nullable().describe('as of a probe of type `host`'),
    }),
  ),
});

export const report = reportSchema.meta({ id: 'Report' });

export const health = z.object({ status: z.literal('ok') });
export const readiness = z.object({
  status: z.enum(['ready', 'not ready']),
  troubles: z.array(text),
});
