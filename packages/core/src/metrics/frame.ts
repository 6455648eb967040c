import type { LedgerPage } from '../ledger/page.ts';
import type { MetricName } from './catalogue.ts';

/**
 * What an agent reports: deltas, cut into slices of one second of the stage's clock.
 *
 * A frame is numbered from 1 in the agent's epoch and immutable once it was attempted. Frames that
 * were never sent may be merged when the outbox is full; a merged one covers `seqFrom..seqTo`.
 */
export interface Frame {
  readonly run: string;
  readonly agent: string;
  readonly epoch: number;
  readonly seqFrom: number;
  readonly seqTo: number;
  readonly slices: readonly Slice[];
  /** Pages of the delivery ledger, at the end of a run. Frames with pages are never merged. */
  readonly pages?: readonly LedgerPage[];
}

/**
 * Deltas of one span of time. All workers of all agents cut at the same moments of the run's
 * timeline: at every whole second counted from the stage's clock (in a prologue: from the stage's
 * start), at the stage's clock itself and at its end. `n` counts from 0 in (stage, phase).
 * A coarser slice (after merging) has `span` > 1 and stands for `n … n + span - 1`.
 */
export interface Slice {
  /** The stage whose clock cuts this slice: the current one, not always the owner of its series. */
  readonly stage: number;
  readonly phase: Phase;
  readonly n: number;
  readonly span: number;
  /** µs on the run's timeline (0 = start of the first stage). */
  readonly fromUs: number;
  readonly toUs: number;
  readonly series: readonly SeriesDelta[];
  readonly examples: readonly FailureExample[];
}

/** `prologue`: before the stage's clock. `main`: from it on. `settle`: after the last stage's end. */
export type Phase = 'prologue' | 'main' | 'settle';

/** A series is (metric, subject, stage, qos, reason); the agent is the frame's. */
export interface SeriesKey {
  readonly metric: MetricName;
  /** Group (`devices`) or stream (`devices.heartbeat`). */
  readonly subject: string;
  /** Index of the stage that owns the measurement (where the message was due). */
  readonly stage: number;
  readonly qos?: 0 | 1 | 2;
  readonly reason?: string;
}

export interface SeriesDelta extends SeriesKey {
  /**
   * Counters: growth in the slice. Gauges: value at its end; every slice states every gauge anew, and
   * one that a slice does not name is 0.
   */
  readonly value?: number;
  /** Times. */
  readonly histogram?: SparseHistogram;
}

/** One histogram's growth: only the buckets that moved. */
export interface SparseHistogram {
  /** Bucket index, count, bucket index, count … rising by index. */
  readonly buckets: readonly number[];
  readonly minUs: number;
  readonly maxUs: number;
  /** Exact sum of the recorded values, for the mean. */
  readonly sumUs: number;
  /** Values above the range: clamped into the last bucket and counted here. */
  readonly overflow: number;
  /** Values below zero: counted here and recorded as 0. */
  readonly negative: number;
  /**
   * How far off a value may be at most, whole µs, because its two moments were read on different
   * clocks. Left out where each was read on one.
   */
  readonly boundUs?: number;
}

/** One of the first failures of a kind, kept so that a person can look at a real case. */
export interface FailureExample {
  readonly metric: MetricName;
  readonly subject: string;
  readonly reason: string;
  readonly client: string;
  readonly address: string;
  /** µs on the run's timeline. */
  readonly atUs: number;
}

/** Examples kept per (metric, subject, reason), by a worker and in the report alike. */
export const MAX_EXAMPLES = 20;
