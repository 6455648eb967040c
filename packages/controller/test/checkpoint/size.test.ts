import { type Frame, Histogram, RunAggregate, type SeriesDelta } from '@squall/core/metrics';
import type { MetricName } from '@squall/core/metrics';
import { GeneratorWatch } from '@squall/core/report';
import { Judge } from '@squall/core/thresholds';
import { describe, expect, it } from 'vitest';
import { encodeSavedRun } from '../../src/run/checkpoint/run-codec.ts';
import type { SavedRun } from '../../src/run/checkpoint/saved-run.ts';
import { planOf } from '../plans.ts';
import { savedRunOf } from './saved-runs.ts';

const COUNTERS: readonly MetricName[] = [
  'planned',
  'scheduled',
  'sent',
  'acked',
  'published',
  'bytes_sent',
  'received',
  'bytes_received',
  'wire_sent',
  'wire_received',
];
const GAUGES: readonly MetricName[] = ['connections', 'inflight', 'backlog'];
const TIMES: readonly MetricName[] = [
  'lateness',
  'wait_time',
  'service_time',
  'publish_time',
  'delivery_time',
];
const DISTINCT = 60;
const SERIES = COUNTERS.length + GAUGES.length + TIMES.length + 2;

/** Second `n` of one agent: twenty series, sixty different times in each histogram. */
function frameOf(agent: number, n: number): Frame {
  const key = { subject: 'devices', stage: 0 } as const;
  const histogramOf = (offset: number) => {
    const histogram = new Histogram();
    for (let i = 0; i < DISTINCT; i++) histogram.record(1_000 + offset + i * i * 37 + agent + n);
    const sparse = histogram.toSparse();
    if (sparse === null) throw new Error('nothing recorded');
    return sparse;
  };
  const series: SeriesDelta[] = [
    ...[...COUNTERS, ...GAUGES].map((metric) => ({ metric, ...key, value: 100 })),
    ...TIMES.map((metric, at) => ({ metric, ...key, histogram: histogramOf(at * 100) })),
    { metric: 'publish_failed', ...key, reason: 'a', value: 1 },
    { metric: 'publish_failed', ...key, reason: 'b', value: 1 },
  ];
  const seq = n + 1;
  const [fromUs, toUs] = [n * 1e6, (n + 1) * 1e6];
  const place = { stage: 0, phase: 'main', n, span: 1, fromUs, toUs } as const;
  return {
    run: 'run',
    agent: `agent-${agent}`,
    epoch: 1,
    seqFrom: seq,
    seqTo: seq,
    slices: [{ ...place, series, examples: [] }],
  };
}

function savedAfter(agents: number, seconds: number): SavedRun {
  const plan = planOf({
    stages: [{ forUs: 3_600e6 }],
    thresholds: ['publish_time: p(99) < 1s over 10s', 'publish_failed: share < 5%'],
  });
  const ids = Array.from({ length: agents }, (_, agent) => `agent-${agent}`);
  const aggregate = new RunAggregate('run');
  const judge = new Judge({ plan, agents: ids });
  const watch = new GeneratorWatch();
  aggregate.onSlice((agent, slice) => {
    judge.add(agent, slice);
    watch.add(agent, slice);
  });
  for (let n = 0; n < seconds; n++) {
    for (let agent = 0; agent < agents; agent++) aggregate.fold(frameOf(agent, n));
    aggregate.closedUpTo(ids, n * 1e6);
  }
  return savedRunOf('run', {
    plan,
    measured: {
      aggregate: aggregate.toJSON(),
      judge: judge.toJSON(),
      generator: [...watch.toJSON()],
    },
  });
}

const textOf = (saved: SavedRun) => JSON.stringify(saved).length;

describe(`a checkpoint of ${SERIES} series an agent`, { timeout: 60_000 }, () => {
  it('of 200 agents has a bounded size', async () => {
    const saved = savedAfter(200, 65);
    expect(textOf(saved)).toBeLessThan(10e6);
    expect((await encodeSavedRun(saved)).length).toBeLessThan(1.5e6);
  });

  it('grows with its agents no faster than they do', () => {
    const [few, many] = [textOf(savedAfter(10, 65)), textOf(savedAfter(40, 65))];
    expect(many / few).toBeLessThan(4);
  });

  it('does not grow with the number of frames, but by some figures a second for the curves', () => {
    // After a minute the seconds are closed: what they add is their figures, not their buckets.
    const [minute, hour] = [savedAfter(5, 120), savedAfter(5, 1_320)];
    const grown = (textOf(hour) - textOf(minute)) / 1_200;
    expect(grown / SERIES).toBeLessThan(40);
  });
});
