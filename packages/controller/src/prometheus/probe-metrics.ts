import type { Registry } from 'prom-client';
import type { RunHandle } from '../run/run-handle.ts';
import { addCounter, addGauge } from './described.ts';

/** What the probes of the runs read. */
export function addProbes(registry: Registry, runs: () => readonly RunHandle[]): void {
  addGauge(registry, {
    name: 'squall_run_probe_value',
    help: 'What a probe read last: shares from 0 to 1, times in seconds, sizes in bytes.',
    labels: ['run', 'probe', 'figure'],
    read: () => figuresOf(runs()).map(({ labels, figure }) => [labels, figure.last] as const),
  });
  addCounter(registry, {
    name: 'squall_run_probe_increase_total',
    help: 'What a counter of a probe grew by since before the load.',
    labels: ['run', 'probe', 'figure'],
    read: () =>
      figuresOf(runs()).flatMap(({ labels, figure }) =>
        figure.kind === 'counter' ? [[labels, figure.increase] as const] : [],
      ),
  });
  addCounter(registry, {
    name: 'squall_run_probe_failures_total',
    help: 'Readings of a probe that failed.',
    labels: ['run', 'probe'],
    read: () =>
      runs().flatMap(({ id, figures }) =>
        [...(figures?.probes.records() ?? [])].map(
          ([probe, { errors }]) => [{ run: id, probe }, errors] as const,
        ),
      ),
  });
}

function figuresOf(runs: readonly RunHandle[]) {
  return runs.flatMap((run) =>
    [...(run.figures?.probes.records() ?? [])].flatMap(([probe, { figures }]) =>
      Object.entries(figures).map(([name, figure]) => ({
        labels: { run: run.id, probe, figure: name },
        figure,
      })),
    ),
  );
}
