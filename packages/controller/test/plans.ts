import type { Activity, Limits, Plan, Stage } from '@squall/core/plan';

interface StageSketch {
  readonly name?: string;
  readonly forUs?: number | null;
  readonly until?: Stage['until'];
  readonly deadlineUs?: number;
  readonly onIncomplete?: Stage['onIncomplete'];
  readonly activities?: readonly Activity[];
}

export const connect: Activity = { kind: 'connect' };
export const subscribe: Activity = { kind: 'subscribe', entry: 0 };
export const publish: Activity = {
  kind: 'publish',
  stream: 0,
  pace: { kind: 'rate', perS: 10 },
  inflight: 32,
};

export interface PlanSketch {
  readonly stages: readonly StageSketch[];
  readonly clients?: number;
  readonly subscribes?: boolean;
  readonly thresholds?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly settle?: Plan['settle'];
  readonly drainUs?: number;
}

/** A small plan in normalised form: one group of publishers. */
export function planOf(sketch: PlanSketch): Plan {
  return {
    squall: 1,
    name: 'controller-test',
    description: '',
    labels: { team: 'test' },
    files: {},
    vars: {},
    targets: {
      broker: {
        name: 'broker',
        protocol: 'mqtt',
        urls: [{ scheme: 'mqtt', host: '127.0.0.1', port: 1883, path: '' }],
        version: '3.1.1',
        spread: 'round-robin',
        tls: null,
        ws: null,
      },
    },
    groups: [
      {
        name: 'devices',
        target: 'broker',
        clients: sketch.clients ?? 4,
        clientId: '{{run}}-{{group}}-{{n}}',
        username: null,
        password: null,
        from: null,
        sourceAddresses: [],
        respond: [],
        connect: {
          ratePerS: 1_000,
          keepAliveS: 60,
          cleanStart: true,
          timeoutUs: 10_000_000,
          retries: 3,
          backoffMinUs: 1_000_000,
          backoffMaxUs: 8_000_000,
          sessionExpiryS: null,
          will: null,
          properties: null,
          auth: null,
        },
        publish: [
          {
            name: null,
            subject: 'devices',
            topic: 't/{{n}}',
            qos: 1,
            retain: false,
            payload: { kind: 'size', bytes: 100, fill: 'repeat' },
            pace: { kind: 'rate', perS: 10 },
            arrivals: 'even',
            phase: 'even',
            inflight: 32,
            ackTimeoutUs: 30_000_000,
            count: null,
            verify: true,
            expiryS: null,
            topicAlias: null,
            properties: null,
            request: null,
          },
        ],
        subscribe:
          sketch.subscribes === true
            ? [
                {
                  name: null,
                  subject: 'devices',
                  topics: ['t/{{n}}'],
                  qos: 1,
                  share: null,
                  options: {
                    noLocal: false,
                    retainAsPublished: false,
                    retainHandling: 0,
                    identifier: null,
                  },
                },
              ]
            : [],
      },
    ],
    stages: sketch.stages.map((stage, index) => ({
      name: stage.name ?? `stage-${index + 1}`,
      index,
      warmup: false,
      run: [{ group: 0, activities: stage.activities ?? [publish] }],
      forUs: stage.forUs ?? null,
      until: stage.until ?? null,
      deadlineUs: stage.deadlineUs ?? 60_000_000,
      onIncomplete: stage.onIncomplete ?? 'continue',
    })),
    thresholds: (sketch.thresholds ?? []).map((text) => ({
      text,
      id: null,
      noData: 'fail',
      minSamples: null,
    })),
    limits: {
      maxDurationUs: 60_000_000,
      onAgentLoss: 'abort',
      agentGraceUs: 1_000_000,
      agents: { count: 2, labels: {} },
      generator: {
        latenessP99Us: { degraded: 50_000, invalid: 500_000 },
        droppedShare: { degraded: 0.001, invalid: 0.01 },
        framesMissingShare: { degraded: 0, invalid: 0.001 },
        startSkewUs: { degraded: 100_000, invalid: 1_000_000 },
        histogramOverflow: { degraded: 0, invalid: null },
      },
      ...sketch.limits,
    },
    settle: sketch.settle ?? { quietUs: 1_000_000, maxUs: 5_000_000 },
    drainUs: sketch.drainUs ?? 1_000_000,
    backlogUs: 5_000_000,
    probes: [],
    balance: null,
    cleanup: null,
  };
}
