import type { MetricName } from './catalogue.ts';
import { TLS_FAILURES, TRANSPORT_BEGINNINGS, UPGRADE_FAILURES } from './transport-reasons.ts';

/**
 * Reasons of `publish_failed` that begin like this belong to messages that never became `sent`: the
 * books read `scheduled = sent + dropped + publish_failed{not sent: …} + waiting`, and every other
 * failure stands between `sent` and `acked`.
 */
export const NOT_SENT = 'not sent: ';

/** Reasons of `publish_failed` that leave open whether the message arrived. */
export const MAY_HAVE_ARRIVED: readonly string[] = [
  'connection lost',
  'session lost',
  'no acknowledgement within the time-out',
  'no acknowledgement by the end of the drain',
];

/** Stands for all reasons of a series beyond those that are told apart. */
export const OTHER_REASONS = 'other reasons';

/** The reasons that a failure may be counted by. */
export interface KnownReasons {
  /** Whole texts. */
  readonly fixed: readonly string[];
  /** Beginnings of texts that go on with what was found, such as a code. Empty: there is no other. */
  readonly beginnings: readonly string[];
}

/** What may end a connection, and an attempt to make one. */
const CONNECTION: readonly string[] = [
  'timed out',
  'closed by broker',
  'connection refused',
  'connection reset',
  'host unreachable',
  'network unreachable',
  'host name not found',
  'host name lookup failed',
  'out of file descriptors (EMFILE): raise the open-files limit (ulimit -n) or use more workers',
  'out of file descriptors on the host (ENFILE): raise fs.file-max',
  'no free local port (EADDRNOTAVAIL): widen net.ipv4.ip_local_port_range or add source addresses',
  'local address in use (EADDRINUSE): add source addresses',
  'invalid address (EINVAL): check host and source address',
  'not permitted (EACCES)',
  'not permitted (EPERM): a firewall on this host refuses the connection',
  'out of socket buffers (ENOBUFS): raise net.core limits',
  'out of memory for sockets (ENOMEM)',
];
const CONNECTION_BEGINNINGS: readonly string[] = [
  'malformed packet: ',
  'protocol error: ',
  'socket error ',
  ...TRANSPORT_BEGINNINGS,
];

/** Reason codes of MQTT 5 that are failures, by which brokers say why they refuse something. */
const REASON_CODES: readonly string[] = [
  'unspecified error (0x80)',
  'malformed packet (0x81)',
  'protocol error (0x82)',
  'implementation specific error (0x83)',
  'unsupported protocol version (0x84)',
  'client identifier not valid (0x85)',
  'bad user name or password (0x86)',
  'not authorized (0x87)',
  'server unavailable (0x88)',
  'server busy (0x89)',
  'banned (0x8a)',
  'server shutting down (0x8b)',
  'bad authentication method (0x8c)',
  'keep alive timeout (0x8d)',
  'session taken over (0x8e)',
  'topic filter invalid (0x8f)',
  'topic name invalid (0x90)',
  'packet identifier in use (0x91)',
  'packet identifier not found (0x92)',
  'receive maximum exceeded (0x93)',
  'topic alias invalid (0x94)',
  'packet too large (0x95)',
  'message rate too high (0x96)',
  'quota exceeded (0x97)',
  'administrative action (0x98)',
  'payload format invalid (0x99)',
  'retain not supported (0x9a)',
  'QoS not supported (0x9b)',
  'use another server (0x9c)',
  'server moved (0x9d)',
  'shared subscriptions not supported (0x9e)',
  'connection rate exceeded (0x9f)',
  'maximum connect time (0xa0)',
  'subscription identifiers not supported (0xa1)',
  'wildcard subscriptions not supported (0xa2)',
];
/** What a client does not even send, since its broker has said in CONNACK that it is not to be had. */
const BY_LIMITS = `${NOT_SENT}by the limits in CONNACK: `;

/** Why an established connection ends. */
const DISCONNECTED: KnownReasons = {
  fixed: [...CONNECTION, 'keep-alive timeout: no PINGRESP', 'broker does not read: 128 MiB unsent'],
  beginnings: [...CONNECTION_BEGINNINGS, 'disconnected by broker: '],
};

/**
 * Every reason by its metric. Who fails gives the texts (`@squall/mqtt`, the worker); a test holds
 * them against this list, which thresholds and the reference are made from.
 */
export const REASONS: Readonly<Partial<Record<MetricName, KnownReasons>>> = {
  connect_failed: {
    fixed: [
      ...CONNECTION,
      ...TLS_FAILURES,
      ...UPGRADE_FAILURES,
      'unacceptable protocol version (0x01)',
      'client id rejected (0x02)',
      'server unavailable (0x03)',
      'bad user name or password (0x04)',
      'not authorized (0x05)',
      ...REASON_CODES,
    ],
    beginnings: [...CONNECTION_BEGINNINGS, 'CONNACK code 0x', 'no CONNECT: '],
  },
  disconnected: DISCONNECTED,
  taken_over: DISCONNECTED,
  takeover_failed: {
    fixed: ['the old connection stays open', 'the new connection failed'],
    beginnings: [],
  },
  protocol_errors: {
    fixed: [
      'PUBACK for a message that is not in flight [MQTT-2.3.1-6]',
      'SUBACK for a subscription that was not asked for [MQTT-2.3.1-7]',
      'PUBREC for a message that is not in flight at QoS 2 [MQTT-2.3.1-6]',
      'PUBCOMP for a message that was not released [MQTT-4.3.3-1]',
      'UNSUBACK for a subscription that was not ended [MQTT-2.3.1-7]',
    ],
    beginnings: [],
  },
  dropped: { fixed: ['generator', 'window', 'not_connected', 'backpressure'], beginnings: [] },
  publish_failed: {
    fixed: [
      ...MAY_HAVE_ARRIVED,
      `${NOT_SENT}connection lost`,
      `${NOT_SENT}no room in the socket within the time-out`,
      `${NOT_SENT}no room in the socket by the end of the drain`,
      `${BY_LIMITS}QoS not supported (0x9b)`,
      `${BY_LIMITS}retain not supported (0x9a)`,
      `${BY_LIMITS}packet too large (0x95)`,
      ...REASON_CODES,
    ],
    beginnings: [NOT_SENT],
  },
  subscribe_failed: {
    fixed: [
      'subscription refused (0x80)',
      'no SUBACK within the time-out',
      'connection lost before the SUBACK',
      `${BY_LIMITS}packet too large (0x95)`,
      `${BY_LIMITS}subscription identifiers not supported (0xa1)`,
      `${BY_LIMITS}shared subscriptions not supported (0x9e)`,
      `${BY_LIMITS}wildcard subscriptions not supported (0xa2)`,
      ...REASON_CODES,
    ],
    beginnings: [NOT_SENT],
  },
  unsubscribe_failed: {
    fixed: [
      'no UNSUBACK within the time-out',
      'connection lost before the UNSUBACK',
      ...REASON_CODES,
    ],
    beginnings: [],
  },
  request_failed: {
    fixed: [
      'no answer within the time-out',
      'no answer by the end of the drain',
      'too many requests without an answer',
    ],
    beginnings: [],
  },
  answer_failed: {
    fixed: ['the request names no response topic', 'too many answers wait'],
    beginnings: [],
  },
  unfinished: { fixed: ['waiting', 'in_flight'], beginnings: [] },
};

/** Whether a failure of the metric can be counted by this reason. */
export function isReasonOf(metric: MetricName, reason: string): boolean {
  const known = REASONS[metric];
  if (known === undefined) return false;
  return (
    reason === OTHER_REASONS ||
    known.fixed.includes(reason) ||
    known.beginnings.some((beginning) => reason.startsWith(beginning))
  );
}
