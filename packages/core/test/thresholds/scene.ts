import { Histogram, type Phase, type SeriesDelta, type Slice } from '@squall/core/metrics';
import type { Group, Pace, Plan, PublishStream, Stage, ThresholdSpec } from '@squall/core/plan';
import { Judge, type ThresholdResult } from '@squall/core/thresholds';

const SECOND_US = 1_000_000;

/** A group `devices` with one stream and a group `readers` that subscribes. */
export function planOf(
  thresholds: readonly (string | (Partial<ThresholdSpec> & { readonly text: string }))[],
  stages: readonly Stage[] = [stageOf('publish', 0)],
): Plan {
  return {
    squall: 1,
    name: 'test',
    description: '',
    labels: {},
    files: {},
    vars: {},
    targets: {},
    groups: [
      groupOf('devices', { publish: [STREAM] }),
      groupOf('readers', {
        subscribe: [
          {
            name: null,
            subject: 'readers',
            topics: ['t/#'],
            qos: 1,
            share: null,
            options: {
              noLocal: false,
              retainAsPublished: false,
              retainHandling: 0,
              identifier: null,
            },
          },
        ],
      }),
    ],
    stages,
    thresholds: thresholds.map((entry) => ({
      id: null,
      noData: 'fail',
      minSamples: null,
      ...(typeof entry === 'string' ? { text: entry } : entry),
    })),
    limits: {
      maxDurationUs: 3_600 * SECOND_US,
      onAgentLoss: 'abort',
      agentGraceUs: 15 * SECOND_US,
      agents: { count: null, labels: {} },
      generator: {
        latenessP99Us: { degraded: 50_000, invalid: 500_000 },
        droppedShare: { degraded: 0.001, invalid: 0.01 },
        framesMissingShare: { degraded: 0, invalid: 0.001 },
        startSkewUs: { degraded: 100_000, invalid: 1_000_000 },
        histogramOverflow: { degraded: 0, invalid: null },
      },
    },
    settle: { quietUs: 5 * SECOND_US, maxUs: 30 * SECOND_US },
    drainUs: 5 * SECOND_US,
    backlogUs: 5 * SECOND_US,
    probes: [],
    balance: null,
    cleanup: null,
  };
}

const PACE: Pace = { kind: 'every', everyUs: SECOND_US };

const STREAM: PublishStream = {
  name: null,
  subject: 'devices',
  topic: 't/{{n}}',
  qos: 1,
  retain: false,
  payload: { kind: 'size', bytes: 200, fill: 'repeat' },
  pace: PACE,
  arrivals: 'even',
  phase: 'even',
  inflight: 32,
  ackTimeoutUs: 30 * SECOND_US,
  count: null,
  verify: true,
  expiryS: null,
  topicAlias: null,
  properties: null,
  request: null,
};

function groupOf(name: string, parts: Partial<Group>): Group {
  return {
    name,
    target: 'broker',
    clients: 10,
    clientId: '{{n}}',
    username: null,
    password: null,
    from: null,
    sourceAddresses: [],
    respond: [],
    connect: {
      ratePerS: 1_000,
      keepAliveS: 60,
      cleanStart: true,
      timeoutUs: 10 * SECOND_US,
      retries: 3,
      backoffMinUs: SECOND_US,
      backoffMaxUs: 8 * SECOND_US,
      sessionExpiryS: null,
      will: null,
      properties: null,
      auth: null,
    },
    publish: [],
    subscribe: [],
    ...parts,
  };
}

export function stageOf(
  name: string,
  index: number,
  { kind = 'publish', warmup = false }: { kind?: 'publish' | 'connect'; warmup?: boolean } = {},
): Stage {
  const publish = { kind: 'publish', stream: 0, pace: PACE, inflight: 32 } as const;
  return {
    name,
    index,
    warmup,
    run:
      kind === 'connect'
        ? [
            { group: 0, activities: [{ kind: 'connect' }] },
            { group: 1, activities: [{ kind: 'subscribe', entry: 0 }] },
          ]
        : [{ group: 0, activities: [publish] }],
    forUs: kind === 'publish' ? 60 * SECOND_US : null,
    until: null,
    deadlineUs: 600 * SECOND_US,
    onIncomplete: 'continue',
  };
}

export function counter(
  metric: SeriesDelta['metric'],
  value: number,
  more: Partial<SeriesDelta> = {},
): SeriesDelta {
  return { metric, subject: 'devices', stage: 0, value, ...more };
}

/** Times in ms. */
export function times(
  metric: SeriesDelta['metric'],
  ms: readonly number[],
  more: Partial<SeriesDelta> = {},
): SeriesDelta {
  const histogram = new Histogram();
  for (const one of ms) histogram.record(one * 1_000);
  const sparse = histogram.toSparse();
  const series = { metric, subject: 'devices', stage: 0, ...more };
  return sparse === null ? series : { ...series, histogram: sparse };
}

export interface Place {
  readonly stage?: number;
  readonly phase?: Phase;
  readonly n: number;
  readonly span?: number;
  /** Of the (last) second, 1 if left out. */
  readonly lengthS?: number;
  /** Where `n = 0` of the phase lies on the run's timeline. */
  readonly startS?: number;
}

export function sliceOf(place: Place, series: readonly SeriesDelta[] = []): Slice {
  const { stage = 0, phase = 'main', n, span = 1, lengthS = 1, startS = 0 } = place;
  const fromUs = (startS + n) * SECOND_US;
  const toUs = fromUs + (span - 1 + lengthS) * SECOND_US;
  return { stage, phase, n, span, fromUs, toUs, series, examples: [] };
}

export type Second = readonly SeriesDelta[] | undefined;

/** Feeds one agent's seconds of the first stage, ends the load, and gives the results. */
export function judgeSeconds(
  plan: Plan,
  seconds: readonly Second[],
  { lastS = 1, settle = [] }: { lastS?: number; settle?: readonly Second[] } = {},
): readonly ThresholdResult[] {
  const judge = new Judge({ plan, agents: ['a'] });
  seconds.forEach((series, n) => {
    judge.add('a', sliceOf({ n, lengthS: n === seconds.length - 1 ? lastS : 1 }, series));
  });
  settle.forEach((series, n) => {
    judge.add('a', sliceOf({ phase: 'settle', n, startS: seconds.length }, series));
  });
  return judge.finish();
}

export function only(results: readonly ThresholdResult[]): ThresholdResult {
  const [result] = results;
  if (result === undefined || results.length !== 1) throw new Error('one result is expected');
  return result;
}

/** `n` times the same. */
export function repeat<T>(n: number, value: T): T[] {
  return Array.from({ length: n }, () => value);
}
