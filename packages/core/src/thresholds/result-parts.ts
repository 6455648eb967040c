import type { ThresholdSpec } from '../plan/plan.ts';
import type { ThresholdResult, ThresholdState, WorstWindow } from './result.ts';
import type { Tally } from './tally.ts';

/** A threshold with `abort` is broken: the run has to end. */
export interface AbortDecision {
  readonly threshold: string;
  /** One sentence. */
  readonly reason: string;
}

/** `observed`: in words. */
export function abortDecision(threshold: string, observed: string): AbortDecision {
  return {
    threshold,
    reason: `threshold "${threshold}" was broken and ended the run: ${observed}`,
  };
}

export function worstOf({ worst }: Tally): WorstWindow | null {
  if (worst === null) return null;
  const { stage, fromUs, toUs, finding } = worst;
  return { stage, fromUs, toUs, value: finding.value };
}

/** What a state does to the verdict. `mild`: a breach is a warning only. */
export function leadsTo(
  state: ThresholdState,
  { noData, mild }: { readonly noData: ThresholdSpec['noData']; readonly mild: boolean },
): ThresholdResult['leadsTo'] {
  switch (state) {
    case 'no_data':
      return mild && noData === 'fail' ? 'warn' : noData;
    case 'inconclusive':
      return mild ? 'warn' : 'inconclusive';
    case 'fail':
    case 'warn':
    case 'pass':
      return state;
  }
}
