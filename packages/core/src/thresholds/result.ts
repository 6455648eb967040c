import type { ThresholdSpec } from '../plan/plan.ts';

/** How one threshold came out. Moments are µs on the run's timeline. */
export interface ThresholdResult {
  readonly id: string | null;
  readonly text: string;
  readonly state: ThresholdState;
  /** What the state does to the verdict; `no_data` leads where the line says, default `fail`. */
  readonly leadsTo: ThresholdSpec['noData'];
  /** In words with units: `p(99) < 500ms over 10s for 3`. */
  readonly expected: string;
  /**
   * The value that decided: of the worst window, or of the stage (the run, for counts without `in`).
   * In the unit below; null where there was nothing to observe.
   */
  readonly observed: number | null;
  readonly unit: ThresholdUnit;
  /** In words with units: `p(99) = 612ms`. */
  readonly observedText: string;
  readonly worst: WorstWindow | null;
  /** Windows (or whole stages) that were judged, and how many of them did not hold. */
  readonly windows: number;
  readonly failedWindows: number;
  /** Judged windows shorter than `over`, at the end of a stage. */
  readonly partialWindows: number;
  /** Whether it ended the run. */
  readonly aborted: boolean;
  /** Why it is neither a plain pass nor a plain fail; empty where there is nothing to add. */
  readonly remark: string;
}

export type ThresholdState = 'pass' | 'fail' | 'warn' | 'no_data' | 'inconclusive';

export type ThresholdUnit = 'us' | 'count' | 'per_second' | 'bytes' | 'bytes_per_second' | 'share';

export interface WorstWindow {
  readonly stage: string;
  readonly fromUs: number;
  readonly toUs: number;
  readonly value: number;
}
