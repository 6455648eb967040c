import { isMetricName, METRICS, type RunAggregate } from '@squall/core/metrics';
import type { Condition } from '@squall/core/plan';

/** Whether the `until` of the stage holds for what is folded so far. */
export function conditionHolds(
  condition: Condition,
  aggregate: RunAggregate,
  stage: number,
): boolean {
  const value = conditionValue(condition, aggregate, stage);
  switch (condition.op) {
    case '<':
      return value < condition.value;
    case '<=':
      return value <= condition.value;
    case '>':
      return value > condition.value;
    case '>=':
      return value >= condition.value;
    case '==':
      return value === condition.value;
    case '!=':
      return value !== condition.value;
  }
}

/** What the condition compares, as far as it is folded. */
export function conditionValue(
  condition: Condition,
  aggregate: RunAggregate,
  stage: number,
): number {
  const { metric, subject, fromRun } = condition;
  // The plan's check lets no other name through.
  if (!isMetricName(metric)) return Number.NaN;
  if (METRICS[metric].kind === 'gauge') return aggregate.gauge(metric, subject);
  return aggregate.counter({ metric, subject, ...(fromRun ? {} : { stage }) });
}
