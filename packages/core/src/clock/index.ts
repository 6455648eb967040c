export {
  type ClockEstimate,
  ClockEstimator,
  type ClockSample,
  MAX_DRIFT,
  MAX_SAMPLES,
  SAMPLE_AGE_LIMIT_US,
} from './clock-estimator.ts';
export {
  type ClockReport,
  type DomainClock,
  DomainClocks,
  type PeerClock,
  peersOf,
  type PeerView,
} from './domain-clocks.ts';
export { ClockMapping } from './clock-mapping.ts';
