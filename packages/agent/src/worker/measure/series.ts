import type { MetricName } from '@squall/core/metrics';

/**
 * What a worker can record, as small numbers: places in the typed arrays of a `Meter`. Counters that
 * carry a reason are not here, they go through `Meter.fail`.
 */
export const COUNTER_NAMES = [
  'connect_attempts',
  'connected',
  'planned',
  'scheduled',
  'sent',
  'acked',
  'published',
  'retransmitted',
  'subscribed',
  'received',
  'corrupted',
  'bytes_sent',
  'bytes_received',
  'wire_sent',
  'wire_received',
  'session_present',
  'disconnects',
  'connect_missed',
  'takeovers',
  'unsubscribed',
  'responses',
  'late_responses',
  'stray_responses',
  'arrived',
  'failovers',
  'tls_resumed',
  'stored',
  'unread',
] as const satisfies readonly MetricName[];

export const CONNECT_ATTEMPTS = 0;
export const CONNECTED = 1;
export const PLANNED = 2;
export const SCHEDULED = 3;
export const SENT = 4;
export const ACKED = 5;
export const PUBLISHED = 6;
export const RETRANSMITTED = 7;
export const SUBSCRIBED = 8;
export const RECEIVED = 9;
export const CORRUPTED = 10;
export const BYTES_SENT = 11;
export const BYTES_RECEIVED = 12;
export const WIRE_SENT = 13;
export const WIRE_RECEIVED = 14;
export const SESSION_PRESENT = 15;
export const DISCONNECTS = 16;
export const CONNECT_MISSED = 17;
export const TAKEOVERS = 18;
export const UNSUBSCRIBED = 19;
export const RESPONSES = 20;
export const LATE_RESPONSES = 21;
export const STRAY_RESPONSES = 22;
export const ARRIVED = 23;
export const FAILOVERS = 24;
export const TLS_RESUMED = 25;
export const STORED = 26;
export const UNREAD = 27;

export const TIME_NAMES = [
  'connect_time',
  'subscribe_time',
  'lateness',
  'wait_time',
  'service_time',
  'publish_time',
  'delivery_time',
  'recovery_time',
  'unsubscribe_time',
  'response_time',
  'born_time',
  'stored_time',
  'drain_time',
] as const satisfies readonly MetricName[];

export const CONNECT_TIME = 0;
export const SUBSCRIBE_TIME = 1;
export const LATENESS = 2;
export const WAIT_TIME = 3;
export const SERVICE_TIME = 4;
export const PUBLISH_TIME = 5;
export const DELIVERY_TIME = 6;
export const RECOVERY_TIME = 7;
export const UNSUBSCRIBE_TIME = 8;
export const RESPONSE_TIME = 9;
export const BORN_TIME = 10;
export const STORED_TIME = 11;
export const DRAIN_TIME = 12;

export const GAUGE_NAMES = [
  'connections',
  'inflight',
  'backlog',
  'lag',
] as const satisfies readonly MetricName[];

export const CONNECTIONS = 0;
export const INFLIGHT = 1;
export const BACKLOG = 2;
export const LAG = 3;

/** Metrics with a reason. */
export type FailureMetric =
  | 'answer_failed'
  | 'connect_failed'
  | 'consume_failed'
  | 'disconnected'
  | 'dropped'
  | 'made'
  | 'offset_faults'
  | 'protocol_errors'
  | 'publish_failed'
  | 'request_failed'
  | 'subscribe_failed'
  | 'taken_over'
  | 'takeover_failed'
  | 'transactions'
  | 'unconfirmed'
  | 'unfinished'
  | 'unsubscribe_failed';

/**
 * The series that a meter of each kind shows from its first slice on, at 0 if need be: a counter
 * that stayed 0 in a stage that ran is data.
 */
export const SHOWN_FROM_START = {
  connections: [CONNECT_ATTEMPTS, CONNECTED],
  publish: [PLANNED, SCHEDULED, SENT, ACKED, PUBLISHED],
  subscribe: [SUBSCRIBED],
  receive: [RECEIVED],
} as const;

export type MeterKind = keyof typeof SHOWN_FROM_START;
