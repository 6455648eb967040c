import { METRICS, type MetricKind, type MetricName } from '@squall/core/metrics';

/**
 * How metrics of runs are called in Prometheus [prometheus.io/docs/practices/naming]: base units at the
 * end, `_total` behind what only grows.
 */
export interface PrometheusName {
  readonly metric: MetricName;
  readonly kind: MetricKind;
  readonly name: string;
  readonly help: string;
}

/** Bytes stand at the end of a name there. */
const BYTES: Partial<Record<MetricName, string>> = {
  bytes_sent: 'payload_sent_bytes',
  bytes_received: 'payload_received_bytes',
  wire_sent: 'wire_sent_bytes',
  wire_received: 'wire_received_bytes',
};

const SUFFIX: Readonly<Record<MetricKind, string>> = {
  counter: '_total',
  gauge: '',
  time: '_seconds',
};

export const RUN_METRICS: readonly PrometheusName[] = metricNames().map((metric) => {
  const { kind, text } = METRICS[metric];
  const name = `squall_run_${BYTES[metric] ?? metric}${SUFFIX[kind]}`;
  return { metric, kind, name, help: `Of a run: ${text}.` };
});

function metricNames(): MetricName[] {
  return Object.keys(METRICS).filter((name): name is MetricName => Object.hasOwn(METRICS, name));
}
