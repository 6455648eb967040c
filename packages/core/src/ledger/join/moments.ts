import { CROSS_CLOCK_DRIFT, CROSS_CLOCK_MARGIN_US } from '../limits.ts';
import type { PageClock } from '../page.ts';

/** A moment on the clock of the worker that names it. */
export interface ClockedMoment {
  readonly us: number;
  readonly clock: PageClock;
}

/**
 * Whether the second moment surely came after the first. On one clock that is a comparison; on two, the difference must be larger than what may lie between them. Where it is not sure, no
 * message is expected because of it: better a loss untold than a false one.
 */
export function surelyAfter(first: ClockedMoment, second: ClockedMoment): boolean {
  if (first.clock.domain === second.clock.domain) return second.us > first.us;
  const from = first.us - first.clock.startUs;
  const to = second.us - second.clock.startUs;
  const elapsedUs = Math.max(Math.abs(from), Math.abs(to));
  return to - from > CROSS_CLOCK_MARGIN_US + CROSS_CLOCK_DRIFT * elapsedUs;
}
