import type { Report } from '@squall/core/report';

/** A report by its laws, small enough to read; tests put in what they are about. */
export function reportOf(more: Partial<Report> = {}): Report {
  return {
    schema: 'squall.report/1',
    run: {
      id: '20261201t120000-abcdefgh',
      name: 'gateway',
      description: '',
      labels: { branch: 'main' },
      startedAt: '2026-12-01T12:00:00.000Z',
      endedAt: '2026-12-01T12:00:04.000Z',
      durationUs: 4_000_000,
      scale: 1,
      scaled: [],
      vars: { broker: 'mqtt://127.0.0.1:1883' },
      version: '0.1.0',
      strict: false,
      environment: { node: 'v20', cores: 2 },
    },
    verdict: 'pass',
    exitCode: 0,
    reasons: ['all 2 thresholds hold'],
    notes: [],
    validity: { state: 'valid', findings: [] },
    plan: { name: 'gateway' },
    split: [{ agent: 'a', workers: [{ groups: { devices: { clients: 4, first: 0, last: 3 } } }] }],
    agents: [],
    stages: [
      {
        name: 'publish',
        startedAt: '2026-12-01T12:00:00.000Z',
        clockAt: '2026-12-01T12:00:00.000Z',
        endedAt: '2026-12-01T12:00:04.000Z',
        durationUs: 4_000_000,
        prologueUs: 0,
        endedBy: 'duration',
        warmup: false,
      },
    ],
    groups: {},
    failures: [],
    ledger: [],
    books: [],
    thresholds: [],
    balance: [],
    probes: {},
    histograms: [],
    timeline: {
      startedAt: '2026-12-01T12:00:00.000Z',
      stepUs: 1_000_000,
      stages: [{ name: 'publish', fromUs: 0, clockUs: 0, toUs: 4_000_000 }],
      series: [],
    },
    ...more,
  };
}

export function rate(metric: string, values: readonly (number | null)[], group = 'devices') {
  return { metric, labels: { group, stat: 'rate' }, values: [...values] };
}
