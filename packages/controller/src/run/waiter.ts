import type { TimeSource } from '../time-source.ts';

/**
 * How much of a hurry a run is in. Each wait names the hurry from which on it is given up:
 * a graceful end gives up the load, a hard one the settling, an impatient one every wait there is.
 */
export const HURRY = { none: 0, graceful: 1, hard: 2, impatient: 3 } as const;
export type Hurry = (typeof HURRY)[keyof typeof HURRY];

export interface Wait {
  /** Looked at once at the start and after each `poke`. */
  readonly until: () => boolean;
  /** Moment of the monotonic clock at which the wait ends in any case. */
  readonly deadlineUs: number;
  readonly yieldsTo: Hurry;
}

export type WaitEnd = 'met' | 'deadline' | 'interrupted';

interface Pending extends Wait {
  readonly finish: (end: WaitEnd) => void;
}

/** All waiting of a run: conditions that are looked at when something happened, never polled. */
export class Waiter {
  readonly #time: TimeSource;
  readonly #pending = new Set<Pending>();
  #hurry: Hurry;

  constructor(time: TimeSource, hurry: Hurry = HURRY.none) {
    this.#time = time;
    this.#hurry = hurry;
  }

  get hurry(): Hurry {
    return this.#hurry;
  }

  wait(wait: Wait): Promise<WaitEnd> {
    const now = this.#verdictOn(wait);
    if (now !== null) return Promise.resolve(now);
    return new Promise((resolve) => {
      const delayUs = Math.max(0, wait.deadlineUs - this.#time.monotonicUs());
      const cancel = this.#time.after(delayUs, () =>
        pending.finish(this.#verdictOn(wait) ?? 'deadline'),
      );
      const pending: Pending = {
        ...wait,
        finish: (end) => {
          cancel();
          this.#pending.delete(pending);
          resolve(end);
        },
      };
      this.#pending.add(pending);
    });
  }

  /** Waits for a moment; `met` once it has come. */
  async reach(momentUs: number, yieldsTo: Hurry): Promise<'met' | 'interrupted'> {
    const end = await this.wait({ until: () => false, deadlineUs: momentUs, yieldsTo });
    return end === 'interrupted' ? 'interrupted' : 'met';
  }

  /** Something happened: looks at every condition again. */
  poke(): void {
    for (const pending of this.#pending) {
      const end = this.#verdictOn(pending);
      if (end !== null) pending.finish(end);
    }
  }

  /** Hurry only ever grows. */
  raise(hurry: Hurry): void {
    if (hurry <= this.#hurry) return;
    this.#hurry = hurry;
    this.poke();
  }

  #verdictOn(wait: Wait): WaitEnd | null {
    if (this.#hurry >= wait.yieldsTo) return 'interrupted';
    return wait.until() ? 'met' : null;
  }
}
