/**
 * Every metric there is: one catalogue for workers, thresholds, Prometheus and reports.
 * A name that is not here cannot be recorded, judged or asked for.
 */
export type MetricKind = 'counter' | 'gauge' | 'time';

export interface MetricInfo {
  readonly kind: MetricKind;
  readonly unit: 'count' | 'bytes' | 'us';
  readonly text: string;
  /** Counters that carry a reason. */
  readonly reasons?: true;
  /** Failure counters: the counter that `share` divides by. */
  readonly base?: string;
  /** Known only after settle (from the ledger). */
  readonly late?: true;
}

export const METRICS = {
  connect_attempts: counter('connects begun, retries and reconnects included'),
  connected: counter('CONNACKs that accepted'),
  connect_failed: failure('connect attempts that failed', 'connect_attempts'),
  disconnected: { ...counter('connections lost without being asked to'), reasons: true },
  protocol_errors: {
    ...counter('answers of brokers that fit nothing that was asked; the connection goes on'),
    reasons: true,
  },
  planned: counter('messages that the stage owns by its schedule'),
  scheduled: counter('messages picked up as due'),
  sent: counter('messages written with nothing left in user space, retransmissions not included'),
  acked: counter('QoS ≥ 1 messages acknowledged'),
  published: counter('acknowledged at QoS ≥ 1, sent at QoS 0'),
  retransmitted: counter('messages sent again with DUP'),
  dropped: failure(
    'due messages never sent: generator, window, not_connected, backpressure',
    'scheduled',
  ),
  publish_failed: failure('messages sent or tried whose outcome is a failure', 'sent'),
  /** Named differences of the books: due but not sent, sent but unresolved, when a run was cut off. */
  unfinished: {
    ...counter('messages waiting or in flight when the load was cut off'),
    reasons: true,
  },
  subscribed: counter('filters granted'),
  subscribe_failed: { ...counter('filters refused or not answered'), reasons: true },
  received: counter('messages received'),
  duplicated: late('received again'),
  reordered: late('received after a later one'),
  corrupted: late('received with a checksum that does not fit'),
  lost: { ...late('expected and not received'), base: 'expected' },
  expected: late('published × matching subscriptions'),
  bytes_sent: bytes('payload sent'),
  bytes_received: bytes('payload received'),
  wire_sent: bytes('written to sockets'),
  wire_received: bytes('read from sockets'),
  connections: gauge('clients connected now'),
  inflight: gauge('messages sent and not acknowledged now'),
  backlog: gauge('due messages waiting now'),
  connect_time: time('start of the connect attempt → CONNACK'),
  subscribe_time: time('SUBSCRIBE → SUBACK'),
  lateness: time('due → picked up by the worker: the generator’s own'),
  wait_time: time('picked up → handed to the socket'),
  service_time: time('handed to the socket → acknowledged'),
  publish_time: time('due → acknowledged: what “latency” means here'),
  delivery_time: time('due → received by a subscriber'),
} as const satisfies Record<string, MetricInfo>;

export type MetricName = keyof typeof METRICS;

export function metricInfo(name: MetricName): MetricInfo {
  return METRICS[name];
}

export function isMetricName(name: string): name is MetricName {
  return Object.hasOwn(METRICS, name);
}

function counter(text: string) {
  return { kind: 'counter', unit: 'count', text } as const;
}
function failure(text: string, base: string) {
  return { kind: 'counter', unit: 'count', text, reasons: true, base } as const;
}
function late(text: string) {
  return { kind: 'counter', unit: 'count', text, late: true } as const;
}
function bytes(text: string) {
  return { kind: 'counter', unit: 'bytes', text } as const;
}
function gauge(text: string) {
  return { kind: 'gauge', unit: 'count', text } as const;
}
function time(text: string) {
  return { kind: 'time', unit: 'us', text } as const;
}
