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
