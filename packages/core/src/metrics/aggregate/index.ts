export type { FoldOutcome, MissingFrames } from './frame-book.ts';
export { GaugeSteps } from './gauge-steps.ts';
export { compareMoments, type Moment, momentOf } from './moments.ts';
export {
  type AgentExample,
  isSubjectOf,
  RunAggregate,
  type RunAggregateState,
  type SeriesFilter,
  type SliceListener,
  WATERMARK_US,
} from './run-aggregate.ts';
export { MAX_REASONS, type SeriesTotal } from './series-store.ts';
export { spreadOverSteps, type StepShare } from './step-spread.ts';
export type { StepTimes } from './time-column.ts';
export {
  MAX_STEPS,
  OPEN_STEPS,
  type StepFigures,
  Timeline,
  type TimelineSeries,
  type TimelineStat,
} from './timeline.ts';
