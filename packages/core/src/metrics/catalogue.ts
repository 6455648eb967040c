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
  failovers: counter('failed attempts after which the client turned to the next address'),
  tls_resumed: counter('TLS handshakes that resumed a session'),
  session_present: counter('CONNACKs with a session that the broker had kept'),
  disconnected: { ...counter('connections lost without being asked to'), reasons: true },
  disconnects: counter('connections ended by the plan'),
  connect_missed: counter('turns to connect of clients whose connection before was still there'),
  takeovers: counter('connections made by the id of a client that was connected'),
  taken_over: {
    ...counter('connections that the broker ended since their client id connected again'),
    reasons: true,
  },
  takeover_failed: failure(
    'takeovers that left the old connection, or came to no new one',
    'takeovers',
  ),
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
  unsubscribed: counter('filters given up'),
  unsubscribe_failed: { ...counter('filters not given up, or not answered'), reasons: true },
  responses: counter('requests answered in time'),
  request_failed: failure('requests without an answer in time', 'sent'),
  late_responses: counter('answers that came after their time-out'),
  stray_responses: counter(
    'answers that fit no open request: second ones, or of nobody knows what',
  ),
  answer_failed: { ...counter('requests received that could not be answered'), reasons: true },
  received: counter('messages received'),
  arrived: counter('messages that came for the first time to a subscriber that the ledger follows'),
  consume_failed: {
    ...counter('what went wrong while consuming, and was tried again'),
    reasons: true,
  },
  offset_faults: {
    ...counter(
      'offsets of a queue that were missing or came again, and messages out of order in it',
    ),
    reasons: true,
  },
  unconfirmed: {
    ...counter('messages stored and acknowledged that the disk or a slave did not confirm in time'),
    reasons: true,
  },
  transactions: { ...counter('half messages, by what became of them'), reasons: true },
  made: { ...counter('topics and groups that the run made, by their names'), reasons: true },
  unread: counter('messages that were stored and that a group had not read when the load ended'),
  stored: counter('messages that came to the topics of a stream, by the offsets of the brokers'),
  duplicated: late('received again'),
  reordered: late('received after a later one'),
  corrupted: late('received with a checksum that does not fit'),
  lost: { ...late('expected and not received'), base: 'expected' },
  expected: late('published × matching subscriptions'),
  bytes_sent: bytes('payload sent'),
  bytes_received: bytes('payload received'),
  wire_sent: bytes('MQTT’s own, written to sockets; what TLS and WebSocket add is not counted'),
  wire_received: bytes('MQTT’s own, read from sockets'),
  connections: gauge('clients connected now'),
  inflight: gauge('messages sent and not acknowledged now'),
  backlog: gauge('due messages waiting now'),
  lag: gauge('messages that are stored and not read by the group, by the offsets of the brokers'),
  connect_time: time('start of the connect attempt → CONNACK'),
  recovery_time: time('connection lost, or dropped to come back → connected and subscribed again'),
  subscribe_time: time('SUBSCRIBE → SUBACK'),
  unsubscribe_time: time('UNSUBSCRIBE → UNSUBACK'),
  lateness: time('due → picked up by the worker: the generator’s own'),
  wait_time: time('picked up → handed to the socket'),
  service_time: time('handed to the socket → acknowledged'),
  publish_time: time('due → acknowledged: what “latency” means here'),
  delivery_time: time('due → received by a subscriber'),
  born_time: time(
    'born → received, ms: the wall clock of the producer against that of the consumer',
  ),
  stored_time: time(
    'stored → received, ms: the wall clock of the broker against that of the consumer',
  ),
  drain_time: time('a group reads again → nothing is left to read, to the second'),
  response_time: time('request due → its answer received'),
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
