import { Histogram } from '@squall/core/metrics';

/**
 * Histograms are large and only the current and the draining stages need live ones: those of a
 * finished stage are emptied and used again.
 */
export class HistogramPool {
  readonly #free: Histogram[] = [];
  #made = 0;

  take(): Histogram {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    this.#made += 1;
    return new Histogram();
  }

  give(histogram: Histogram): void {
    histogram.reset();
    this.#free.push(histogram);
  }

  /** Histograms that exist, in use or free. */
  get made(): number {
    return this.#made;
  }
}
