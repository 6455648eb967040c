import type { Phase, Slice } from '../metrics/index.ts';
import type { AccumulatorState } from './accumulator.ts';
import type { Tally } from './tally.ts';
import type { WindowTrackState } from './window-track.ts';

/** Judges one threshold. Slices come once each, after they were entered in the stage book. */
export interface LineJudge {
  add(slice: Slice): void;
  /** What is known by now if it breaks the threshold, else null. */
  breached(nowUs: number): Tally | null;
  /** Once, at the end of the run. */
  finish(): Outcome;
  /** All that it knows as plain data, which the constructor takes back. */
  toJSON(): LineState;
}

/** What is known of one threshold: by stage where it is judged as a whole, else by window. */
export interface LineState {
  /** Whether anything that it speaks of was ever reported. */
  readonly seen: boolean;
  readonly stages: readonly (readonly [stage: number, sums: AccumulatorState])[];
  readonly tracks: readonly (readonly [stage: number, phase: Phase, track: WindowTrackState])[];
}

export const NEW_LINE: LineState = { seen: false, stages: [], tracks: [] };

export interface Outcome {
  readonly tally: Tally;
  /** What was not measured though it was asked for, a sentence each. */
  readonly missing: readonly string[];
  /** Measurements that could not be put into their window. */
  readonly blurred: number;
  /** Windows or stages with fewer samples than `min_samples`. */
  readonly tooFew: number;
  /** The samples of the one that has fewest of them; null where none has too few. */
  readonly fewest: number | null;
}
