import type { Findings } from '../problem.ts';
import type { Scaler } from '../scale.ts';

/** What every step of the normaliser writes to. */
export interface NormalContext {
  readonly findings: Findings;
  readonly scaler: Scaler;
  /**
   * Groups that the schema has found wrong: they stand here by name only, so nothing is said about
   * what they do. Null where the file is well formed.
   */
  readonly unsound: ReadonlySet<string> | null;
}
