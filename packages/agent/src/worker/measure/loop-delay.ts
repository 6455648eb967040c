// Data path
import { Histogram } from '@squall/core/metrics';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';

/** How late the event loop comes to its timers: a sign of a worker that has too much to do. */
export class LoopDelay {
  readonly #late = new Histogram();
  readonly #expectedUs = new Float64Array(1);

  /** A timer of `ms` was set at the moment. */
  expect(moment: Moment, ms: number): void {
    this.#expectedUs[0] = momentOf(moment) + ms * 1_000;
  }

  arrived(moment: Moment): void {
    const lateUs = Math.max(0, momentOf(moment) - at(this.#expectedUs, 0));
    // Whole numbers are not boxed on the way.
    this.#late.record(Math.min(lateUs, 2_000_000_000) | 0);
  }

  /** The 99th percentile since the last call, µs. */
  takeP99Us(): number {
    const p99Us = this.#late.percentileUs(99);
    this.#late.reset();
    return p99Us;
  }
}
