// Data path
import { readMonotonicUs } from '@squall/mqtt';
import { at } from './element.ts';

/**
 * The time of a worker: `cell[0]` holds the moment, µs of CLOCK_MONOTONIC, at which that began which
 * is being worked on (a tick, a socket read). It is read from a cell and not passed on, because a
 * double that is passed costs an allocation each time.
 */
export type Moment = Float64Array;

export function momentOf(cell: Moment): number {
  return at(cell, 0);
}

/** Sets the moment to now; virtual in tests. */
export type ReadClock = (cell: Moment) => void;

export const readMonotonic: ReadClock = readMonotonicUs;
