import { performance } from 'node:perf_hooks';
import { Counter, Gauge, Registry } from 'prom-client';
import type { AgentStatus } from '../main/options.ts';

/** A metric that is read when it is asked for. */
interface Described {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  /** 0 for what is not known before the first heartbeat. */
  readonly read: (status: AgentStatus) => number;
  readonly labels?: (status: AgentStatus) => Record<string, string>;
}

const DESCRIBED: readonly Described[] = [
  {
    kind: 'gauge',
    name: 'squall_agent_info',
    help: 'Always 1; the labels tell who this is.',
    read: () => 1,
    labels: ({ id, version }) => ({ agent: id, version }),
  },
  {
    kind: 'gauge',
    name: 'squall_agent_link_up',
    help: 'Whether the link to the controller stands.',
    read: ({ linkUp }) => Number(linkUp),
  },
  {
    kind: 'gauge',
    name: 'squall_agent_run_active',
    help: 'Whether the agent is at work in a run.',
    read: ({ run }) => Number(run !== null),
  },
  {
    kind: 'gauge',
    name: 'squall_agent_workers',
    help: 'Worker processes that live.',
    read: ({ workers }) => workers,
  },
  {
    kind: 'counter',
    name: 'squall_agent_refused_shares_total',
    help: 'Shares of runs that this host could not carry.',
    read: ({ refusals }) => refusals,
  },
  {
    kind: 'gauge',
    name: 'squall_agent_outbox_frames',
    help: 'Frames of measurements that no checkpoint of the controller has yet.',
    read: ({ health }) => health?.outboxFrames ?? 0,
  },
  {
    kind: 'gauge',
    name: 'squall_agent_loop_delay_seconds',
    help: 'Delay that 99 of 100 timers of the busiest event loop kept below, over the last second.',
    read: ({ health }) => (health?.loopDelayP99Us ?? 0) / 1_000_000,
  },
  {
    kind: 'counter',
    name: 'squall_agent_run_cpu_seconds_total',
    help: 'CPU time of the agent and its workers since the run began.',
    read: ({ health }) => health?.cpuSeconds ?? 0,
  },
  {
    kind: 'gauge',
    name: 'squall_agent_resident_memory_bytes',
    help: 'Resident memory of the agent and its workers.',
    read: ({ health }) => health?.rssBytes ?? 0,
  },
  {
    kind: 'counter',
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    read: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1_000_000;
    },
  },
  {
    kind: 'gauge',
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    read: () => process.memoryUsage.rss(),
  },
  {
    kind: 'gauge',
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    read: () => performance.timeOrigin / 1_000,
  },
];

/** What an agent tells Prometheus: its health. What it measures is told by its controller, once. */
export function agentMetrics(status: () => AgentStatus): Registry {
  const registry = new Registry();
  for (const described of DESCRIBED) registry.registerMetric(metricOf(described, status));
  return registry;
}

function metricOf(
  { kind, name, help, read, labels }: Described,
  status: () => AgentStatus,
): Counter | Gauge {
  const labelNames = labels === undefined ? [] : Object.keys(labels(status()));
  const base = { name, help, labelNames, registers: [] };
  const sample = (): [Record<string, string>, number] => {
    const current = status();
    return [labels?.(current) ?? {}, read(current)];
  };
  if (kind === 'counter') {
    return new Counter({
      ...base,
      collect() {
        this.reset();
        this.inc(...sample());
      },
    });
  }
  return new Gauge({
    ...base,
    collect() {
      this.reset();
      this.set(...sample());
    },
  });
}
