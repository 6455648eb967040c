export {
  type AgentExample,
  compareMoments,
  type FoldOutcome,
  GaugeSteps,
  isSubjectOf,
  MAX_REASONS,
  MAX_STEPS,
  type MissingFrames,
  type Moment,
  momentOf,
  OPEN_STEPS,
  RunAggregate,
  type RunAggregateState,
  type SeriesFilter,
  type SeriesTotal,
  type SliceListener,
  spreadOverSteps,
  type StepFigures,
  type StepShare,
  type StepTimes,
  Timeline,
  type TimelineSeries,
  type TimelineStat,
  WATERMARK_US,
} from './aggregate/index.ts';
export { BUCKET_COUNT, bucketOf, HIGHEST_US, highestUsOf, lowestUsOf } from './bucket-layout.ts';
export {
  isMetricName,
  METRICS,
  type MetricInfo,
  metricInfo,
  type MetricKind,
  type MetricName,
} from './catalogue.ts';
export {
  decodeFrame,
  encodeFrame,
  MAX_COVERED,
  MAX_FRAME_BYTES,
  MAX_SERIES,
  MAX_SLICE_EXAMPLES,
  MAX_SLICES,
} from './frame-codec.ts';
export { MAX_STAGES, MAX_TEXT } from './frame-fields.ts';
export {
  type FailureExample,
  type Frame,
  MAX_EXAMPLES,
  type Phase,
  type SeriesDelta,
  type SeriesKey,
  type Slice,
  type SparseHistogram,
} from './frame.ts';
export { Histogram } from './histogram.ts';
export { coarsenFrames, mergeExamples, mergeSlices } from './merge.ts';
export { bareKey, seriesKeyOf } from './series-key.ts';
export { mergeSparse, sparseCount } from './sparse.ts';
export {
  isReasonOf,
  type KnownReasons,
  MAY_HAVE_ARRIVED,
  NOT_SENT,
  OTHER_REASONS,
  REASONS,
} from './reasons.ts';
