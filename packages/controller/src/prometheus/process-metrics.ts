import { performance } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { addCounter, addGauge } from './described.ts';

/**
 * What the process needs, by the names that every Prometheus client has for it
 * [prometheus.io/docs/instrumenting/writing_clientlibs], and how busy its loop is.
 */
export function addProcessMetrics(registry: Registry): void {
  addCounter(registry, {
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    labels: [],
    read: () => {
      const { user, system } = process.cpuUsage();
      return [[{}, (user + system) / 1_000_000]];
    },
  });
  addGauge(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory size in bytes.',
    labels: [],
    read: () => [[{}, process.memoryUsage.rss()]],
  });
  addGauge(registry, {
    name: 'process_start_time_seconds',
    help: 'Start time of the process since unix epoch in seconds.',
    labels: [],
    read: () => [[{}, performance.timeOrigin / 1_000]],
  });
  addCounter(registry, {
    name: 'squall_loop_busy_seconds_total',
    help: 'Time in which the event loop was at work; a rate near 1 is a loop that is too busy.',
    labels: [],
    read: () => [[{}, performance.eventLoopUtilization().active / 1_000]],
  });
}
