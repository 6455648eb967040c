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

/** The smallest tick whose due time is not before `us`; exact, whatever the rounding of the guess. */
function firstTickAtOrAfter(schedule: Schedule, us: number): number {
  if (us <= 0) return 0;
  let tick = Math.max(0, Math.floor((us / schedule.periodUs) * schedule.clients) - 2);
  while (dueUs(schedule, tick) < us) tick++;
  return tick;
}
