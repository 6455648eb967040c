import type { Pace } from '../plan/plan.ts';
import { rateProfile } from './pace-profile.ts';
import { wholeIfNear } from './rate-profile.ts';
import { ShapedTimes, type Spacing } from './shaped-times.ts';

/**
 * Due times come from the absolute index, never from adding up intervals: `due(i) = i · step`, in µs
 * from the stage's clock, or what `times` makes of i. Tick i of a group belongs to the client of rank
 * `i mod N`, so message j of the client with rank r is tick `j·N + r`. A pace of `every` a client is a
 * group rate of N / every.
 */
export interface Schedule {
  /** Clients of the whole group, N. */
  readonly clients: number;
  /** µs of one round in which every client has one turn; of no meaning where `times` are given. */
  readonly periodUs: number;
  /** Null for one even rate, which is most of what there is and costs one product a tick. */
  readonly times: ShapedTimes | null;
}

const EVEN: Spacing = { kind: 'even' };

/** @throws RangeError for `max`, which has no schedule. */
export function scheduleOf(pace: Pace, clients: number, spacing: Spacing = EVEN): Schedule {
  if (spacing.kind === 'even') {
    if (pace.kind === 'every') return { clients, periodUs: pace.everyUs, times: null };
    if (pace.kind === 'rate') return connectSchedule(pace.perS, clients);
  }
  const times = new ShapedTimes(rateProfile(pace, clients), clients, spacing);
  return { clients, periodUs: 0, times };
}

/** Schedule by which a group connects: `ratePerS` over the whole group, each client once. */
export function connectSchedule(ratePerS: number, clients: number): Schedule {
  return { clients, periodUs: (clients / ratePerS) * 1_000_000, times: null };
}

/** Due time of tick `tick` in µs from the stage's clock; Infinity where it is never due. */
export function dueUs(schedule: Schedule, tick: number): number {
  const { times } = schedule;
  if (times === null) return (tick / schedule.clients) * schedule.periodUs;
  const cell = new Float64Array(1);
  times.locate(tick, cell);
  return cell[0] ?? 0;
}

/**
 * Puts the due time of a tick into `cell[0]`, as `dueUs` gives it: on a data path, where a double that
 * is given back would be boxed.
 */
export function locateDue(schedule: Schedule, tick: number, cell: Float64Array): void {
  const { times } = schedule;
  if (times === null) {
    cell[0] = (tick / schedule.clients) * schedule.periodUs;
    return;
  }
  times.locate(tick, cell);
}

/**
 * How many ticks of the whole group are due before `lengthUs`: the smallest tick whose due time is
 * not before it.
 *
 * Counted on the number itself, not by comparing due times: 7/s in 12 s are 84 ticks, though tick 84
 * comes out a hair below 12 s in doubles. A quotient that is whole but for rounding is whole.
 */
export function ticksBefore(schedule: Schedule, lengthUs: number): number {
  if (lengthUs <= 0) return 0;
  if (schedule.times !== null) return schedule.times.ticksBefore(lengthUs);
  return Math.ceil(wholeIfNear((lengthUs / schedule.periodUs) * schedule.clients));
}

/** How many messages of the client with rank `rank` are due before `lengthUs`. */
export function messagesBefore(schedule: Schedule, rank: number, lengthUs: number): number {
  const ticks = ticksBefore(schedule, lengthUs);
  return ticks <= rank ? 0 : Math.floor((ticks - 1 - rank) / schedule.clients) + 1;
}
