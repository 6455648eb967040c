import { Histogram } from '@squall/core/metrics';
import { runHash } from '@squall/core/stamp';
import type { HookTally, RunTally } from './tally.ts';

/** How long messages took from being due to their arrival at the hook; µs. */
export interface HookLatency {
  readonly count: number;
  readonly minUs: number;
  readonly meanUs: number;
  readonly p50Us: number;
  readonly p90Us: number;
  readonly p95Us: number;
  readonly p99Us: number;
  readonly p999Us: number;
  readonly maxUs: number;
  /** Recorded as 0: the message came before it was due, as clocks have it. */
  readonly negative: number;
  /** How far off a time may be, as sender and hook read different clocks. */
  readonly boundUs: number;
}

/** Upper ends of the buckets of the histogram, µs: from a tenth of a millisecond to a minute. */
const BUCKETS_US = [
  100, 250, 500, 1e3, 2.5e3, 5e3, 1e4, 2.5e4, 5e4, 1e5, 2.5e5, 5e5, 1e6, 2.5e6, 5e6, 1e7, 3e7, 6e7,
];

/** What a hook has counted since it was opened. */
export interface HookStats extends HookFigures {
  /** How many messages took no longer than so many µs: rising bounds, rising counts. */
  readonly hookHistogram: readonly (readonly [upToUs: number, count: number])[];
}

/** The part of it that a run reads. */
export interface HookFigures {
  readonly requests: number;
  readonly refused: number;
  readonly bytes: number;
  readonly messages: number;
  readonly unique: number;
  readonly duplicated: number;
  /** Missing below the highest number of its publisher that came. */
  readonly lost: number;
  readonly corrupted: number;
  readonly foreign: number;
  /** Of publishers that there was no place to follow. */
  readonly untracked: number;
  /** Gaps that were too many to keep: `lost` and `duplicated` may be too high. */
  readonly forgotten: number;
  /** On clocks that the hook does not know: they have no latency. */
  readonly untimed: number;
  readonly badBodies: Readonly<Record<string, number>>;
  readonly hookLatency: HookLatency;
}

/** Of all runs together, or of the one with that id; messages of others are foreign then. */
export function hookStats(tally: HookTally, run?: string): HookStats {
  const only = run === undefined ? null : tally.runs.get(runHash(run));
  const runs = only === null ? [...tally.runs.values()] : only === undefined ? [] : [only];
  const sum = (read: (one: RunTally) => number): number =>
    runs.reduce((total, one) => total + read(one), 0);
  const own = {
    unique: sum(({ book }) => book.unique),
    duplicated: sum(({ book }) => book.duplicated),
    untracked: sum(({ book }) => book.untracked),
    corrupted: sum(({ corrupted }) => corrupted),
  };
  const latency = new Histogram();
  for (const one of runs) latency.add(one.latency);
  return {
    requests: tally.requests,
    refused: tally.refused,
    bytes: tally.bytes,
    messages: tally.messages,
    ...own,
    lost: sum(({ book }) => book.lost),
    foreign: tally.messages - Object.values(own).reduce((total, one) => total + one, 0),
    forgotten: sum(({ book }) => book.forgotten),
    untimed: sum(({ untimed }) => untimed),
    badBodies: Object.fromEntries(tally.badBodies),
    hookLatency: latencyOf(latency),
    hookHistogram: latency
      .countsUpTo(BUCKETS_US)
      .map((count, place) => [BUCKETS_US[place] ?? 0, count] as const),
  };
}

function latencyOf(times: Histogram): HookLatency {
  return {
    count: times.count,
    minUs: times.minUs,
    meanUs: Math.round(times.meanUs),
    p50Us: times.percentileUs(50),
    p90Us: times.percentileUs(90),
    p95Us: times.percentileUs(95),
    p99Us: times.percentileUs(99),
    p999Us: times.percentileUs(99.9),
    maxUs: times.maxUs,
    negative: times.negative,
    boundUs: times.boundUs,
  };
}
