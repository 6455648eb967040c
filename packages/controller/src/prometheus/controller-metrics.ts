import type { MetricName } from '@squall/core/metrics';
import { type FigureUnit, HOST } from '@squall/core/probes';
import { Registry } from 'prom-client';
import type { AgentView } from '../hub/agent-view.ts';
import type { MetricsText } from '../rest/app.ts';
import type { RunHandle } from '../run/run-handle.ts';
import { addCounter, addGauge, type Sample } from './described.ts';
import { histogramText } from './histogram-text.ts';
import { RUN_METRICS } from './names.ts';
import { addProbes } from './probe-metrics.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { type RunSeries, seriesOfRuns } from './run-series.ts';

export interface ControllerMetricsSources {
  readonly version: string;
  readonly agents: () => readonly AgentView[];
  /** Runs that go on, or ended a moment ago. */
  readonly runs: () => readonly RunHandle[];
  readonly storeHealthy: () => boolean;
}

/**
 * What the controller tells Prometheus. Everything is read when it is asked for, so the series of a run
 * go away with it.
 */
export function controllerMetrics(sources: ControllerMetricsSources): MetricsText {
  const registry = new Registry();
  addProcessMetrics(registry);
  addController(registry, sources);
  addAgents(registry, sources);
  addHosts(registry, sources);
  addRuns(registry, sources);
  addProbes(registry, sources.runs);
  const read = perScrape(() => seriesOfRuns(sources.runs()));
  addRunSeries(registry, sources, read);
  addDeliveryBound(registry, read);
  return {
    contentType: registry.contentType,
    text: async () => `${await registry.metrics()}\n${timesText(read())}`,
  };
}

type SeriesByMetric = ReturnType<typeof seriesOfRuns>;

function timesText(series: SeriesByMetric): string {
  const times = RUN_METRICS.filter(({ kind }) => kind === 'time');
  return times
    .map((described) => {
      const own = series.get(described.metric) ?? [];
      return histogramText(
        described,
        own.flatMap(({ labels, times: merged }) =>
          merged === null ? [] : [{ labels, times: merged }],
        ),
      );
    })
    .join('');
}

function addController(registry: Registry, sources: ControllerMetricsSources): void {
  addGauge(registry, {
    name: 'squall_controller_info',
    help: 'Always 1; the labels tell what runs here.',
    labels: ['version'],
    read: () => [[{ version: sources.version }, 1]],
  });
  addGauge(registry, {
    name: 'squall_store_up',
    help: 'Whether the store takes what is written.',
    labels: [],
    read: () => [[{}, sources.storeHealthy() ? 1 : 0]],
  });
}

function addAgents(registry: Registry, { agents }: ControllerMetricsSources): void {
  addGauge(registry, {
    name: 'squall_agent_up',
    help: 'Whether the link of an agent stands.',
    labels: ['agent'],
    read: () => agents().map((agent) => [{ agent: agent.id }, agent.connected ? 1 : 0]),
  });
  addGauge(registry, {
    name: 'squall_agent_busy',
    help: 'Whether a run has the agent.',
    labels: ['agent'],
    read: () => agents().map((agent) => [{ agent: agent.id }, agent.run === null ? 0 : 1]),
  });
  addGauge(registry, {
    name: 'squall_agent_clock_bound_seconds',
    help: 'How far the clock of an agent may be off at most.',
    labels: ['agent'],
    read: () =>
      agents().flatMap(({ id, clock }) =>
        clock === null ? [] : [[{ agent: id }, clock.boundUs / 1_000_000] as const],
      ),
  });
}

const SUFFIXES: Readonly<Record<FigureUnit, string>> = {
  count: '',
  bytes: '_bytes',
  seconds: '_seconds',
  share: '_ratio',
  per_second: '_per_second',
  bytes_per_second: '_bytes_per_second',
};

/** How the hosts of agents fare, those that only observe included. */
function addHosts(registry: Registry, { agents }: ControllerMetricsSources): void {
  for (const [figure, { unit }] of Object.entries(HOST)) {
    addGauge(registry, {
      name: `squall_agent_host_${figure}${unit === null ? '' : SUFFIXES[unit]}`,
      help: `Of the host of an agent: ${figure.replaceAll('_', ' ')}.`,
      labels: ['agent'],
      read: () =>
        agents().flatMap(({ id, host }) => {
          const value = host?.[figure];
          return value === undefined ? [] : [[{ agent: id }, value] as const];
        }),
    });
  }
}

function addRuns(registry: Registry, { runs }: ControllerMetricsSources): void {
  addGauge(registry, {
    name: 'squall_run_info',
    help: 'Always 1 for a run that goes on or ended a moment ago.',
    labels: ['run', 'plan', 'state'],
    read: () => runs().map(({ id, plan, state }) => [{ run: id, plan: plan.name, state }, 1]),
  });
  const ofAgents = (read: (agent: ReturnType<RunHandle['agents']>[number]) => number) => () =>
    runs().flatMap((run) =>
      run.agents().map((agent) => [{ run: run.id, agent: agent.id }, read(agent)] as const),
    );
  addCounter(registry, {
    name: 'squall_run_frames_received_total',
    help: 'Frames of measurements that came from an agent, each counted once.',
    labels: ['run', 'agent'],
    read: ofAgents((agent) => agent.framesReceived),
  });
  addGauge(registry, {
    name: 'squall_run_frames_missing',
    help: 'Gaps in what came from an agent, as far as they show by now.',
    labels: ['run', 'agent'],
    read: ofAgents((agent) => agent.framesMissing),
  });
  addCounter(registry, {
    name: 'squall_run_late_slices_total',
    help: 'Slices that came too late for the percentiles of their second.',
    labels: ['run'],
    read: () =>
      runs().flatMap(({ id, figures }) =>
        figures === null ? [] : [[{ run: id }, figures.aggregate.timeline.late] as const],
      ),
  });
}

function addRunSeries(
  registry: Registry,
  { runs }: ControllerMetricsSources,
  read: () => SeriesByMetric,
): void {
  for (const { metric, kind, name, help } of RUN_METRICS) {
    if (kind === 'counter') {
      const series = (): readonly RunSeries[] => read().get(metric) ?? [];
      const values = () => series().map(({ labels, value }) => [labels, value] as const);
      addCounter(registry, { name, help, labels: ['run', 'group', 'stage'], read: values });
    }
    if (kind === 'gauge') {
      const values = () => runs().flatMap((run) => gaugesOf(run, metric));
      addGauge(registry, { name, help, labels: ['run', 'group'], read: values });
    }
  }
}

/** Only where sender and receiver read different clocks. */
function addDeliveryBound(registry: Registry, read: () => SeriesByMetric): void {
  addGauge(registry, {
    name: 'squall_run_delivery_time_bound_seconds',
    help: 'How far off delivery times of a run may be, since hosts have different clocks.',
    labels: ['run', 'group', 'stage'],
    read: () =>
      (read().get('delivery_time') ?? []).flatMap(({ labels, times }) => {
        const boundUs = times?.boundUs ?? 0;
        return boundUs > 0 ? [[labels, boundUs / 1_000_000] as const] : [];
      }),
  });
}

function gaugesOf({ id, figures, plan }: RunHandle, metric: MetricName): Sample[] {
  if (figures === null) return [];
  return plan.groups.map(({ name }) => [
    { run: id, group: name },
    figures.aggregate.gauge(metric, name),
  ]);
}

/** Reads once for all metrics of a scrape, which are collected in the same breath. */
function perScrape<T>(read: () => T): () => T {
  let known: { readonly value: T } | null = null;
  return () => {
    if (known === null) {
      known = { value: read() };
      setImmediate(() => {
        known = null;
      });
    }
    return known.value;
  };
}
