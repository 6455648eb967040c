import type { Figure, Reading } from '../probe.ts';
import type { HookFigures, HookLatency } from './stats.ts';

const COUNTERS = [
  'requests',
  'refused',
  'messages',
  'unique',
  'duplicated',
  'corrupted',
  'foreign',
  'untracked',
  'forgotten',
  'untimed',
] as const satisfies readonly (keyof HookFigures)[];

const TIMES = [
  ['mean', 'meanUs'],
  ['p50', 'p50Us'],
  ['p90', 'p90Us'],
  ['p95', 'p95Us'],
  ['p99', 'p99Us'],
  ['p999', 'p999Us'],
  ['max', 'maxUs'],
] as const satisfies readonly (readonly [string, keyof HookLatency])[];

/** What a hook counted, as figures of a probe. Times are there once something was timed. */
export function hookFigures(stats: HookFigures): Reading {
  const figures = new Map<string, Figure>();
  for (const name of COUNTERS) figures.set(name, counter(stats[name]));
  figures.set('bytes', { value: stats.bytes, kind: 'counter', unit: 'bytes' });
  figures.set('bad_bodies', counter(sumOf(stats.badBodies)));
  figures.set('lost', { value: stats.lost, kind: 'gauge', unit: 'count' });
  if (stats.hookLatency.count === 0) return figures;
  for (const [name, key] of TIMES) {
    const seconds = stats.hookLatency[key] / 1_000_000;
    figures.set(`hook_latency_${name}`, { value: seconds, kind: 'gauge', unit: 'seconds' });
  }
  return figures;
}

const counter = (value: number): Figure => ({ value, kind: 'counter', unit: 'count' });

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, one) => sum + one, 0);
}
