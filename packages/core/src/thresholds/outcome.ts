import type { Slice } from '../metrics/index.ts';
import type { Tally } from './tally.ts';

/** Judges one threshold. Slices come once each, after they were entered in the stage book. */
export interface LineJudge {
  add(slice: Slice): void;
  /** What is known by now if it breaks the threshold, else null. */
  breached(nowUs: number): Tally | null;
  /** Once, at the end of the run. */
  finish(): Outcome;
}

export interface Outcome {
  readonly tally: Tally;
  /** What was not measured though it was asked for, a sentence each. */
  readonly missing: readonly string[];
  /** Measurements that could not be put into their window. */
  readonly blurred: number;
  /** Windows or stages with fewer samples than `min_samples`. */
  readonly tooFew: number;
}
