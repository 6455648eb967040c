export { checkLedger } from './check-ledger.ts';
export { checkReach } from './check-reach.ts';
export { checkThreshold, type ThresholdContext } from './check.ts';
export { Judge, type JudgeOptions, type JudgeState } from './judge.ts';
export { type ReadThreshold, readThreshold } from './long-form.ts';
export { MAX_THRESHOLD_LENGTH, parseThreshold } from './parse.ts';
export type { AbortDecision } from './result-parts.ts';
export type { ThresholdResult, ThresholdState, ThresholdUnit, WorstWindow } from './result.ts';
export { type ScaledThreshold, scaleThreshold } from './scale.ts';
export type {
  AggregateKind,
  Comparison,
  Literal,
  LiteralKind,
  ParsedThreshold,
  TagFilter,
  TagOperator,
  Term,
} from './threshold.ts';
