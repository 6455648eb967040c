import type { Pace } from '../plan/plan.ts';

/**
 * Due times come from the absolute index, never from adding up intervals: `due(i) = i · step`, in µs
 * from the stage's clock. Tick i of a group belongs to the client of rank `i mod N`, so message j of
 * the client with rank r is tick `j·N + r`. A pace of `every` a client is a group rate of N / every.
 */
export interface Schedule {
  /** Clients of the whole group, N. */
  readonly clients: number;
  /** µs of one round in which every client has one turn. */
  readonly periodUs: number;
}

/** @throws RangeError for `max`, which has no schedule. */
export function scheduleOf(pace: Pace, clients: number): Schedule {
  switch (pace.kind) {
    case 'every':
      return { clients, periodUs: pace.everyUs };
    case 'rate':
      return { clients, periodUs: (clients / pace.perS) * 1_000_000 };
    case 'max':
      throw new RangeError('a closed loop has no schedule');
  }
}

/** Schedule by which a group connects: `ratePerS` over the whole group, each client once. */
export function connectSchedule(ratePerS: number, clients: number): Schedule {
  return { clients, periodUs: (clients / ratePerS) * 1_000_000 };
}

/** Due time of tick `tick` in µs from the stage's clock. */
export function dueUs(schedule: Schedule, tick: number): number {
  return (tick / schedule.clients) * schedule.periodUs;
}

/** How many ticks of the whole group are due before `lengthUs`. */
export function ticksBefore(schedule: Schedule, lengthUs: number): number {
  return firstTickAtOrAfter(schedule, lengthUs);
}

/** How many messages of the client with rank `rank` are due before `lengthUs`. */
export function messagesBefore(schedule: Schedule, rank: number, lengthUs: number): number {
  const ticks = ticksBefore(schedule, lengthUs);
  return ticks <= rank ? 0 : Math.floor((ticks - 1 - rank) / schedule.clients) + 1;
}

/**
 * The smallest tick whose due time is not before `us`: the number of ticks in that length.
 *
 * Counted on the number itself, not by comparing due times: 7/s in 12 s are 84 ticks, though tick 84
 * comes out a hair below 12 s in doubles. A quotient that is whole but for rounding is whole.
 */
function firstTickAtOrAfter(schedule: Schedule, us: number): number {
  if (us <= 0) return 0;
  const ticks = (us / schedule.periodUs) * schedule.clients;
  const whole = Math.round(ticks);
  return Math.abs(ticks - whole) <= whole * ROUNDING ? whole : Math.ceil(ticks);
}

/**
 * Far above the error of the few operations behind a quotient (some 1e-15 of it), far below anything
 * that a schedule can mean: a picosecond a second.
 */
const ROUNDING = 1e-12;
