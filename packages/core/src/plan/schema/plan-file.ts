import { z } from 'zod';
import {
  choice,
  count,
  duration,
  flag,
  named,
  notYet,
  oneOrMore,
  plainText,
  rate,
  share,
  someDuration,
  strictMap,
} from './leaves.ts';
import { balance } from './balance.ts';
import { group } from './groups.ts';
import { probe } from './probes.ts';
import { settle } from './settle.ts';
import { stage } from './stages.ts';
import { target } from './targets.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

function bounds<Leaf extends z.ZodType>(leaf: Leaf) {
  const limit = () => z.union([z.literal('off'), z.literal('any'), leaf]);
  return strictMap({
    degraded: limit().optional().describe('Above it the run is degraded; `off`: never, `any`: 0.'),
    invalid: limit().optional().describe('Above it the run is invalid; `off`: never, `any`: 0.'),
  });
}

const generator = strictMap({
  lateness: bounds(duration())
    .prefault({})
    .describe(
      'p99 of `lateness` over 10 s windows, 3 in a row; 50ms and 500ms by default. A single window beyond the second is degraded.',
    ),
  dropped: bounds(share())
    .prefault({})
    .describe('`dropped{generator}` of scheduled; 0.1% and 1% by default.'),
  framesMissing: bounds(share())
    .prefault({})
    .describe('Measurement frames that never came; any and 0.1% by default.'),
  startSkew: bounds(duration())
    .prefault({})
    .describe('How far agents began apart; 100ms and 1s by default.'),
  histogramOverflow: bounds(count())
    .prefault({})
    .describe('Times beyond the range of the histogram (1 h); any and off by default.'),
});

const limits = strictMap({
  maxDuration: someDuration()
    .optional()
    .describe('The run is aborted after it; 24h by default, or what the stages need and 1h.'),
  onAgentLoss: choice(['abort', 'degrade', 'redistribute'], {
    redistribute: 'onAgentLoss: redistribute is',
  })
    .prefault('abort')
    .describe('What happens when an agent is lost: end the run, or go on with what is left.'),
  agentGrace: someDuration()
    .prefault('10s')
    .describe('How long a silent agent is waited for, and by agents a silent controller.'),
  agents: strictMap({
    count: count({ min: 1, max: 10_000, range: '1 to 10000' })
      .optional()
      .describe('Agents that the run takes; all that are there by default.'),
    labels: z.record(z.string(), scalar).prefault({}).describe('Labels that an agent must have.'),
  })
    .prefault({})
    .describe('Which agents take part.'),
  generator: generator.prefault({}).describe('When the generator itself is no longer believed.'),
});

/**
 * An entry of `thresholds`. `core/thresholds` reads it (and finds its faults with their column);
 * `thresholdMap` only describes the long form to editors and people.
 */
export const thresholdEntry = z.unknown().meta({ 'x-unit': 'threshold' });

export const thresholdMap = strictMap({
  id: plainText().optional().describe('A name for reports.'),
  metric: plainText().describe('Metric.'),
  tags: z
    .record(z.string(), scalar)
    .optional()
    .describe('Series that it looks at, such as `{ group: devices }`.'),
  expect: plainText().describe('What must hold, such as `p(99) < 500ms`.'),
  over: plainText().optional().describe('Length of windows; the whole stage by default.'),
  for: z.union([z.string(), z.number()]).optional().describe('Windows in a row that must fail.'),
  stages: oneOrMore(plainText()).optional().describe('Stages; all but warm-up ones by default.'),
  slo: plainText().optional().describe('Share of windows that must hold.'),
  on_breach: choice(['fail', 'abort', 'warn']).optional().describe('What a breach does.'),
  abort: flag().optional().describe('A breach ends the run.'),
  warn: flag().optional().describe('A breach leaves the verdict alone.'),
  after: plainText().optional().describe('Windows that begin earlier in their stage are left out.'),
  no_data: choice(['fail', 'warn', 'pass', 'inconclusive'])
    .optional()
    .describe('What no data means; `fail` by default.'),
  min_samples: count().optional().describe('Fewer samples are inconclusive.'),
});

const cleanup = z.union([
  flag(),
  strictMap({
    retained: flag().prefault(true).describe('Removes retained messages on the topics of the run.'),
    sessions: flag().prefault(true).describe('Removes sessions that clients were to keep.'),
    rate: rate()
      .prefault('1000/s')
      .describe('Connections and messages a second over all agents, together.'),
    max: someDuration().prefault('60s').describe('It ends by then, with what is done.'),
  }),
]);

/** The whole language (§§1–7 of its description), what this version refuses included. */
export const planFile = strictMap({
  squall: choice(['1']).describe('Version of the language: 1.'),
  name: z.string().trim().min(1).max(128).describe('Name of the plan.'),
  description: plainText().prefault('').describe('What the plan is for.'),
  labels: z.record(z.string(), scalar).prefault({}).describe('Labels for reports and comparison.'),
  vars: named(scalar)
    .prefault({})
    .describe('Values that stand wherever `{{name}}` does; `--var name=value` overrides them.'),
  targets: named(target).describe('Where: the systems under load.'),
  groups: named(group).describe('Who: groups of virtual clients.'),
  matrix: notYet(z.unknown(), 'matrix is')
    .optional()
    .describe('Variables with several values: a run for each, such as one a broker.'),
  stages: z.array(stage).min(1).describe('When: one after the other.'),
  probes: named(probe)
    .prefault({})
    .describe('What is watched besides: figures of the system under load.'),
  thresholds: z.array(thresholdEntry).prefault([]).describe('What must hold.'),
  balance: balance.optional().describe('Counters of different systems that must agree at the end.'),
  limits: limits.prefault({}).describe('Bounds of the run.'),
  settle: settle
    .prefault({})
    .describe(
      'How long late messages are waited for after the last stage, when the plan subscribes.',
    ),
  drain: duration()
    .prefault('5s')
    .describe('How long acknowledgements of a stage’s messages are waited for after its end.'),
  backlog: duration()
    .prefault('5s')
    .describe('How late a due message may wait before it is dropped.'),
  cleanup: cleanup
    .prefault(false)
    .describe(
      'What the agents remove from the brokers when the run is over, as `squall clean` does: `true`, or a map. The report says how much.',
    ),
});

export type PlanFile = z.output<typeof planFile>;
export type GroupFile = PlanFile['groups'][string];
export type PublishFile = Exclude<NonNullable<GroupFile['publish']>, readonly unknown[]>;
export type SubscribeFile = Exclude<NonNullable<GroupFile['subscribe']>, readonly unknown[]>;
export type ConsumeFile = Exclude<NonNullable<GroupFile['consume']>, readonly unknown[]>;
export type RespondFile = Exclude<NonNullable<GroupFile['respond']>, readonly unknown[]>;
export type ProbeFile = PlanFile['probes'][string];
export type BalanceFile = NonNullable<PlanFile['balance']>;
export type StageFile = PlanFile['stages'][number];
export type LimitsFile = PlanFile['limits'];
export type CleanupFile = PlanFile['cleanup'];
