import type { Findings } from '../problem.ts';
import type { Scaler } from '../scale.ts';

/** What every step of the normaliser writes to. */
export interface NormalContext {
  readonly findings: Findings;
  readonly scaler: Scaler;
}
