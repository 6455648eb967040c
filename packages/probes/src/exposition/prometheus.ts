import type { PrometheusProbeSource } from '@squall/core/plan';
import { pageOf } from '../http/page.ts';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';
import { pageLines } from './lines.ts';
import { nameOf, parseSample } from './sample.ts';

interface Wanted {
  readonly figure: string;
  readonly labels: readonly (readonly [string, string])[];
}

/** Chosen series of an exposition; what fits a selector is summed. */
export class PrometheusProbe implements Probe {
  readonly #page: ReturnType<typeof pageOf>;
  readonly #wanted = new Map<string, Wanted[]>();

  constructor({ url, headers, series }: PrometheusProbeSource) {
    this.#page = pageOf(url, headers);
    for (const [figure, selector] of Object.entries(series)) {
      const name = nameOf(selector) ?? '';
      // A selector is written as a sample without its value.
      const labels = [...(parseSample(`${selector} 0`)?.labels ?? [])];
      const known = this.#wanted.get(name) ?? [];
      this.#wanted.set(name, [...known, { figure, labels }]);
    }
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const figures = new Map<string, Figure>();
    const counters = new Set<string>();
    let samples = 0;
    for await (const line of pageLines({ ...this.#page, signal })) {
      if (line.startsWith('# TYPE ')) {
        const [, , name = '', type] = line.trim().split(' ');
        if (type === 'counter') counters.add(name);
        continue;
      }
      const name = nameOf(line);
      if (name === null) continue;
      samples += 1;
      const wanted = this.#wanted.get(name);
      const sample = wanted === undefined ? null : parseSample(line);
      if (wanted === undefined || sample === null) continue;
      // OpenMetrics names the family without the ending that its samples have.
      const isCounter = counters.has(name) || counters.has(name.replace(/_total$/, ''));
      for (const { figure, labels } of wanted) {
        if (!labels.every(([key, value]) => sample.labels.get(key) === value)) continue;
        const before = figures.get(figure)?.value ?? 0;
        const kind = isCounter ? 'counter' : 'gauge';
        figures.set(figure, { value: before + sample.value, kind, unit: null });
      }
    }
    if (figures.size > 0) return figures;
    throw samples === 0
      ? new ProbeError('not an exposition')
      : new ProbeError('no such series', `none of ${samples} samples fits`);
  }

  async close(): Promise<void> {}
}
