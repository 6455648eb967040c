import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Ticks are no finer than this: at high rates several pass in one. */
const STEP_MS = 5;

/** Lets so many pass a second, evenly, and no more of them at a time than there are places. */
export class Gate {
  readonly #stepMs: number;
  /** Once aborted, nobody passes any more. */
  readonly signal: AbortSignal | undefined;
  #nextMs = 0;

  /** @param perS above 0. @param signal once aborted, nobody passes any more. */
  constructor(perS: number, signal?: AbortSignal) {
    this.#stepMs = 1_000 / perS;
    this.signal = signal;
    // Everyone who waits for a turn listens to it.
    if (signal !== undefined) setMaxListeners(0, signal);
  }

  get isShut(): boolean {
    return this.signal?.aborted === true;
  }

  /** Does `work` for each item, `places` at a time. */
  async each<T>(
    items: Iterable<T>,
    places: number,
    work: (item: T, place: number) => Promise<void>,
  ) {
    const queue = items[Symbol.iterator]();
    const lane = async (place: number): Promise<void> => {
      for (let next = queue.next(); next.done !== true; next = queue.next()) {
        await this.#pass();
        if (this.isShut) return;
        await work(next.value, place);
      }
    };
    await Promise.all(Array.from({ length: places }, (_, place) => lane(place)));
  }

  async #pass(): Promise<void> {
    const nowMs = performance.now();
    // Time that nobody used is not made up for by a burst.
    const turnMs = Math.max(this.#nextMs, nowMs - STEP_MS);
    this.#nextMs = turnMs + this.#stepMs;
    if (turnMs - nowMs < STEP_MS) return;
    await delay(turnMs - nowMs, null, { signal: this.signal }).catch(() => null);
  }
}
