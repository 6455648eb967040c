// Data path
import { PICK_HISTORY } from '../limits.ts';
import { at } from '../element.ts';

/**
 * When waiting messages were picked up. A waiting message is only an index, so its moment is found
 * by its tick: each pass of the schedule notes the tick it began with and the time. Older passes
 * than the ring holds are forgotten; for them the due time stands in (asked by `before`).
 */
export class PickHistory {
  readonly #ticks = new Float64Array(PICK_HISTORY);
  readonly #timesUs = new Float64Array(PICK_HISTORY);
  /** Passes noted so far; the ring holds the last PICK_HISTORY of them. */
  #noted = 0;

  note(firstTick: number, nowUs: number): void {
    const place = this.#noted % PICK_HISTORY;
    this.#ticks[place] = firstTick;
    this.#timesUs[place] = nowUs;
    this.#noted += 1;
  }

  /** When `tick` was picked up, or `dueUs` where that is no longer known. */
  pickedUs(tick: number, dueUs: number): number {
    let low = Math.max(0, this.#noted - PICK_HISTORY);
    let high = this.#noted - 1;
    if (high < low || at(this.#ticks, low % PICK_HISTORY) > tick) return dueUs;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (at(this.#ticks, middle % PICK_HISTORY) <= tick) low = middle;
      else high = middle - 1;
    }
    return at(this.#timesUs, low % PICK_HISTORY);
  }
}
