import type { PrometheusProbeSource } from '@squall/core/plan';
import { figuresOf, parseSelector, PRESETS, type SeriesSelector } from '@squall/core/probes';
import { pageOf } from '../http/page.ts';
import { type Figure, type Probe, ProbeError, type Reading } from '../probe.ts';
import { pageLines } from './lines.ts';
import { nameOf, parseSample } from './sample.ts';
import { type SeriesFigure, SeriesSum } from './series-sum.ts';

/** OpenMetrics leaves the ending out where it names the type of a family. */
const FAMILY = /^# TYPE ([A-Za-z_:][\w:]*) /;
const ACCEPT = 'text/plain;version=0.0.4, application/openmetrics-text;q=0.5, */*;q=0.1';

/**
 * Chosen series of an exposition [Prometheus text format 0.0.4, OpenMetrics], or of what `/federate`
 * gives: what fits a selector is summed, counters series by series, so that one which began again is
 * seen. A figure of which any series is NaN or infinite is left out of the reading.
 */
export class PrometheusProbe implements Probe {
  readonly #page: ReturnType<typeof pageOf>;
  readonly #figures: ReadonlyMap<string, SeriesSum>;
  readonly #wanted = new Map<string, SeriesSum[]>();
  #beforeMs: number | null = null;

  constructor(source: PrometheusProbeSource) {
    this.#page = pageOf(source.url, { accept: ACCEPT, ...source.headers });
    this.#figures = new Map(
      seriesFigures(source).map((figure) => [figure.figure, new SeriesSum(figure)]),
    );
    for (const sum of this.#figures.values()) {
      for (const name of new Set(sum.names)) {
        this.#wanted.set(name, [...(this.#wanted.get(name) ?? []), sum]);
      }
    }
  }

  async read(signal: AbortSignal): Promise<Reading> {
    for (const sum of this.#figures.values()) sum.begin();
    let isExposition = false;
    for await (const line of pageLines({ ...this.#page, signal })) {
      const name = nameOf(line);
      if (name === null) this.#announce(line);
      const wanted = name === null ? undefined : this.#wanted.get(name);
      // The first sample tells that this is an exposition at all.
      if (name === null || (wanted === undefined && isExposition)) continue;
      const sample = parseSample(line);
      if (sample === null) continue;
      isExposition = true;
      for (const sum of wanted ?? []) sum.take(sample);
    }
    if (!isExposition) throw new ProbeError('not an exposition');
    return this.#reading();
  }

  async close(): Promise<void> {}

  #announce(line: string): void {
    const family = FAMILY.exec(line)?.[1];
    if (family === undefined) return;
    for (const name of [family, `${family}_total`]) {
      for (const sum of this.#wanted.get(name) ?? []) sum.announce(name);
    }
  }

  #reading(): Reading {
    const nowMs = performance.now();
    const seconds = this.#beforeMs === null ? 0 : (nowMs - this.#beforeMs) / 1_000;
    const sums = [...this.#figures];
    if (!sums.some(([, { isMatched }]) => isMatched)) throw new ProbeError('no such series');
    this.#beforeMs = nowMs;
    const figures = new Map<string, Figure>();
    for (const [name, sum] of sums) {
      const figure = sum.end(seconds);
      if (figure !== null) figures.set(name, figure);
    }
    // A rate has no figure the first time, and that is no failure.
    if (figures.size > 0 || seconds === 0) return figures;
    throw new ProbeError('no number', 'all series that fit are NaN or infinite');
  }
}

function seriesFigures(source: PrometheusProbeSource): SeriesFigure[] {
  const infos = figuresOf(source);
  const { preset, series } = source;
  const known = preset === null || preset === 'node' ? {} : PRESETS[preset];
  const ofPreset = Object.entries(known).map(([figure, { from, combine, scale, kind, unit }]) => ({
    figure,
    from: selectorsOf(from),
    info: { kind, unit },
    combine,
    scale,
  }));
  const chosen = Object.entries(series).map(([figure, selector]) => ({
    figure,
    from: selectorsOf([selector]),
    info: infos[figure] ?? { kind: 'gauge' as const, unit: null },
    combine: 'sum' as const,
    scale: 1,
  }));
  return [...ofPreset.filter(({ figure }) => series[figure] === undefined), ...chosen];
}

function selectorsOf(texts: readonly string[]): SeriesSelector[] {
  return texts.flatMap((text) => parseSelector(text) ?? []);
}
