import type { Plan } from '@squall/core/plan';

/** One group, one stage without `for`, nothing judged: enough for an agent without a broker. */
export function smallPlan(changes: { clients?: number; agentGraceUs?: number } = {}): Plan {
  return {
    squall: 1,
    name: 'small',
    description: '',
    labels: {},
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
        name: 'g',
        target: 'broker',
        clients: changes.clients ?? 10,
        clientId: '{{run}}-{{n}}',
        username: null,
        password: null,
        from: null,
        sourceAddresses: [],
        respond: [],
        connect: {
          ratePerS: 1000,
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
        publish: [],
        subscribe: [],
      },
    ],
    stages: [
      {
        name: 'connect',
        index: 0,
        warmup: false,
        run: [{ group: 0, activities: [{ kind: 'connect' }] }],
        forUs: null,
        until: null,
        deadlineUs: 60_000_000,
        onIncomplete: 'continue',
      },
    ],
    thresholds: [],
    limits: {
      maxDurationUs: 600_000_000,
      onAgentLoss: 'abort',
      agentGraceUs: changes.agentGraceUs ?? 10_000_000,
      agents: { count: null, labels: {} },
      generator: {
        latenessP99Us: { degraded: null, invalid: null },
        droppedShare: { degraded: null, invalid: null },
        framesMissingShare: { degraded: null, invalid: null },
        startSkewUs: { degraded: null, invalid: null },
        histogramOverflow: { degraded: null, invalid: null },
      },
    },
    settle: { quietUs: 0, maxUs: 0 },
    drainUs: 1_000_000,
    backlogUs: 5_000_000,
    probes: [],
    balance: null,
    cleanup: null,
  };
}
