import { RunAggregate, type SeriesDelta, type Slice } from '@squall/core/metrics';
import { split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import {
  type AgentRecord,
  GeneratorWatch,
  type ReportInput,
  type RunFacts,
} from '@squall/core/report';
import { Judge } from '@squall/core/thresholds';
import { counter, sliceOf, times } from '../thresholds/scene.ts';

export const RUN: RunFacts = {
  id: '20261130t120000-abcdefgh',
  startedUtcMs: Date.UTC(2026, 10, 30, 12),
  durationUs: 10_000_000,
  version: '0.1.0',
  environment: { host: 'here', cores: 2 },
  labels: { branch: 'main' },
  strict: false,
  scale: 1,
  scaled: [],
};

export function agentOf(id: string, more: Partial<AgentRecord> = {}): AgentRecord {
  return {
    id,
    host: 'here',
    cores: 2,
    workers: 1,
    version: '0.1.0',
    state: 'completed',
    lostAtUs: null,
    reason: null,
    workersLost: [],
    clockBoundUs: 50,
    startSkewUs: 120,
    framesProduced: 2,
    framesReceived: 2,
    cpuSeconds: 1.5,
    rssBytesMax: 100_000_000,
    loopDelayP99Us: 1_000,
    ...more,
  };
}

/** A second of a healthy agent: everything that was due was sent and acknowledged. */
export function healthySecond(messages: number): SeriesDelta[] {
  return [
    ...['planned', 'scheduled', 'sent', 'acked', 'published'].map((metric) =>
      counter(metric as SeriesDelta['metric'], messages, { qos: 1 }),
    ),
    times('publish_time', Array<number>(messages).fill(5), { qos: 1 }),
    times('lateness', Array<number>(messages).fill(0.5), { qos: 1 }),
  ];
}

export function connecting(clients: number): SeriesDelta[] {
  return [
    counter('connect_attempts', clients),
    counter('connected', clients),
    times('connect_time', Array<number>(clients).fill(2)),
  ];
}

export interface Scene {
  readonly plan: Plan;
  /** Slices of each agent, one a frame. */
  readonly slices: Readonly<Record<string, readonly Slice[]>>;
  readonly agents?: readonly AgentRecord[];
  readonly more?: Partial<ReportInput>;
}

/** Feeds the slices as frames, the way the controller does. */
export function inputOf({ plan, slices, agents, more }: Scene): ReportInput {
  const ids = Object.keys(slices);
  const aggregate = new RunAggregate('run');
  const judge = new Judge({ plan, agents: ids });
  const watch = new GeneratorWatch(plan.stages.filter((one) => one.warmup).map((one) => one.index));
  aggregate.onSlice((agent, slice) => {
    judge.add(agent, slice);
    watch.add(agent, slice);
  });
  for (const [agent, list] of Object.entries(slices)) {
    list.forEach((slice, at) => {
      const seq = at + 1;
      aggregate.fold({ run: 'run', agent, epoch: 1, seqFrom: seq, seqTo: seq, slices: [slice] });
    });
  }
  return {
    run: RUN,
    plan,
    split:
      ids.length === 0
        ? []
        : split(
            plan.groups.map((group) => group.clients),
            ids.map((agent) => ({ agent, workers: 1 })),
          ),
    agents:
      agents ??
      ids.map((id) => {
        const frames = slices[id]?.length ?? 0;
        return agentOf(id, { framesProduced: frames, framesReceived: frames });
      }),
    stages: [{ index: 0, enteredUs: 0, clockUs: 1_000_000, endUs: 5_000_000, endedBy: 'duration' }],
    aggregate,
    thresholds: judge.finish(),
    generator: watch.facts(),
    outcome: { kind: 'completed' },
    notes: [],
    ...more,
  };
}

/** Two agents, four seconds each, everything as it should be. */
export function healthySlices(): Record<string, Slice[]> {
  const seconds = [0, 1, 2, 3];
  const of = (clients: number) => [
    sliceOf({ phase: 'prologue', n: 0 }, connecting(clients)),
    ...seconds.map((n) => sliceOf({ n, startS: 1 }, healthySecond(clients))),
  ];
  return { a: of(6), b: of(4) };
}
