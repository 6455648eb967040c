import {
  type FailureExample,
  MAX_EXAMPLES,
  type SeriesDelta,
  type Slice,
} from '@squall/core/metrics';
import type { Moment } from '../clock.ts';
import { HistogramPool } from './histogram-pool.ts';
import { Meter, type MeterKey } from './meter.ts';

/** Kinds of failures of which examples are kept. */
const MAX_EXAMPLE_KINDS = 1_000;

export type SliceHead = Omit<Slice, 'series' | 'examples'>;

/**
 * The book-keeper of a worker: gives out meters and cuts their growth into slices. A meter stays
 * until its stage is retired. Ask for a meter again after each cut, or keep it while its stage lives.
 */
export class Recorder {
  readonly #moment: Moment;
  readonly #pool = new HistogramPool();
  readonly #meters = new Map<string, Meter>();
  readonly #retired = new Set<number>();
  readonly #examples: FailureExample[] = [];
  readonly #exampleCounts = new Map<string, number>();

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  /** The open meter of a key. Called when stages change, not per message. */
  meter(key: MeterKey): Meter {
    const name = `${key.kind}|${key.subject}|${key.stage}|${key.qos ?? ''}`;
    const known = this.#meters.get(name);
    if (known !== undefined) return known;
    const made = new Meter(key, this.#pool, this.#moment);
    this.#meters.set(name, made);
    return made;
  }

  /**
   * The stage is over and drained: its meters are given back with the next slice. What still comes
   * for it (a message delivered late) gets a meter for that one slice.
   */
  retire(stage: number): void {
    this.#retired.add(stage);
  }

  /** Keeps the first `MAX_EXAMPLES` of a kind, for the next slice. */
  example(example: FailureExample): void {
    const kind = `${example.metric}|${example.subject}|${example.reason}`;
    const kept = this.#exampleCounts.get(kind) ?? 0;
    if (kept >= MAX_EXAMPLES || this.#exampleCounts.size >= MAX_EXAMPLE_KINDS) return;
    this.#exampleCounts.set(kind, kept + 1);
    this.#examples.push(example);
  }

  /** Whether `example` would still be kept: so that its text is not made in vain. */
  wantsExample(metric: FailureExample['metric'], subject: string, reason: string): boolean {
    return (this.#exampleCounts.get(`${metric}|${subject}|${reason}`) ?? 0) < MAX_EXAMPLES;
  }

  /** Everything since the last cut, as one slice. */
  cut(head: SliceHead): Slice {
    const series: SeriesDelta[] = [];
    for (const [name, meter] of this.#meters) {
      meter.drain(series);
      if (!this.#retired.has(meter.key.stage)) continue;
      meter.release();
      this.#meters.delete(name);
    }
    return { ...head, series, examples: this.#examples.splice(0) };
  }

  /** Histograms in memory: bounded by the stages that are alive at the same time. */
  get histograms(): number {
    return this.#pool.made;
  }
}
