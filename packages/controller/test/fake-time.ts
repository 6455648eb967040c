import type { TimeSource } from '../src/time-source.ts';

/** Time that passes only when a test says so. */
export class FakeTime implements TimeSource {
  #nowUs = 0;
  readonly #timers = new Set<{ readonly dueUs: number; readonly action: () => void }>();

  /** Timers that are armed now. */
  get armed(): number {
    return this.#timers.size;
  }

  monotonicUs(): number {
    return this.#nowUs;
  }

  utcMs(): number {
    return this.#nowUs / 1_000;
  }

  after(delayUs: number, action: () => void): () => void {
    const timer = { dueUs: this.#nowUs + delayUs, action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(us: number): void {
    this.#nowUs += us;
    for (const timer of this.#timers) {
      if (timer.dueUs > this.#nowUs || !this.#timers.delete(timer)) continue;
      timer.action();
    }
  }
}
