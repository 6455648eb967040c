// Data path: one tick a millisecond while there is load.
import { type Moment, momentOf, type ReadClock } from '../clock.ts';
import { SLEEP_FROM_US, SLEEP_MAX_MS, TICK_MS, TICKS_A_LOOK } from '../limits.ts';
import type { LoopDelay } from '../measure/loop-delay.ts';

/** What is paced. */
export interface Paced {
  tick(): void;
  /** When the next tick is wanted, µs. */
  nextUs(): number;
}

/**
 * Calls `tick` once a millisecond while something is due soon, and sleeps to the next due moment
 * otherwise, so that an idle worker costs next to nothing. Lost time is made up by due times: a tick
 * that comes late simply finds more to do.
 */
export class Pacer {
  readonly #paced: Paced;
  readonly #moment: Moment;
  readonly #readClock: ReadClock;
  readonly #delay: LoopDelay;
  readonly #onTick: () => void;
  /** One timer object for all ticks: `refresh` allocates nothing. */
  #tickTimer: NodeJS.Timeout | null = null;
  #sleepTimer: NodeJS.Timeout | null = null;
  #ticking = false;
  /** Ticks since it was last asked whether there is anything to tick for. */
  #looks = 0;
  #stopped = false;

  constructor(
    paced: Paced,
    time: { readonly moment: Moment; readonly readClock: ReadClock },
    delay: LoopDelay,
  ) {
    this.#paced = paced;
    this.#moment = time.moment;
    this.#readClock = time.readClock;
    this.#delay = delay;
    this.#onTick = () => this.#tick();
  }

  /** Something may be due: ticks within a millisecond. */
  wake(): void {
    if (this.#ticking || this.#stopped) return;
    if (this.#sleepTimer !== null) clearTimeout(this.#sleepTimer);
    this.#sleepTimer = null;
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#tickTimer !== null) clearTimeout(this.#tickTimer);
    if (this.#sleepTimer !== null) clearTimeout(this.#sleepTimer);
  }

  #arm(): void {
    this.#ticking = true;
    this.#readClock(this.#moment);
    this.#delay.expect(this.#moment, TICK_MS);
    if (this.#tickTimer === null) this.#tickTimer = setTimeout(this.#onTick, TICK_MS);
    else this.#tickTimer.refresh();
  }

  #tick(): void {
    if (this.#stopped) return;
    this.#sleepTimer = null;
    this.#readClock(this.#moment);
    this.#delay.arrived(this.#moment);
    this.#paced.tick();
    this.#ticking = false;
    this.#looks = (this.#looks + 1) % TICKS_A_LOOK;
    if (this.#looks !== 0) {
      this.#arm();
      return;
    }
    const aheadUs = this.#paced.nextUs() - momentOf(this.#moment);
    if (aheadUs < SLEEP_FROM_US) this.#arm();
    else this.#sleep(Math.min(SLEEP_MAX_MS, Math.floor(aheadUs / 1_000)));
  }

  #sleep(ms: number): void {
    this.#delay.expect(this.#moment, ms);
    this.#sleepTimer = setTimeout(this.#onTick, ms);
  }
}
