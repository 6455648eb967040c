import type { Plan } from '@squall/core/plan';
import type { ThresholdResult } from '@squall/core/thresholds';

/** All results in the plan's order; `ofProbes` by their place in it. */
export function inPlanOrder(
  plan: Plan,
  ofLoad: readonly ThresholdResult[],
  ofProbes: ReadonlyMap<number, ThresholdResult>,
): ThresholdResult[] {
  let next = 0;
  return plan.thresholds.flatMap((_, index) => {
    const result = ofProbes.get(index) ?? ofLoad[next++];
    return result === undefined ? [] : [result];
  });
}
