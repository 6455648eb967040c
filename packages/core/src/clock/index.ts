export {
  type ClockEstimate,
  ClockEstimator,
  type ClockSample,
  MAX_DRIFT,
  MAX_SAMPLES,
  SAMPLE_AGE_LIMIT_US,
} from './clock-estimator.ts';
export { ClockMapping } from './clock-mapping.ts';
