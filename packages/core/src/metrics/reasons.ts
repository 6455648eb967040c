import type { MetricName } from './catalogue.ts';
import { TLS_FAILURES, TRANSPORT_BEGINNINGS, UPGRADE_FAILURES } from './transport-reasons.ts';

/**
 * Reasons of `publish_failed` that begin like this belong to messages that never became `sent`: the
 * books read `scheduled = sent + dropped + publish_failed{not sent: …} + waiting`, and every other
 * failure stands between `sent` and `acked`.
 */
export const NOT_SENT = 'not sent: ';

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
    ],
    beginnings: [...CONNECTION_BEGINNINGS, 'CONNACK code 0x', 'no CONNECT: '],
  },
  disconnected: {
    fixed: [
      ...CONNECTION,
      'keep-alive timeout: no PINGRESP',
      'broker does not read: 128 MiB unsent',
    ],
    beginnings: CONNECTION_BEGINNINGS,
  },
  protocol_errors: {
    fixed: [
      'PUBACK for a message that is not in flight [MQTT-2.3.1-6]',
      'SUBACK for a subscription that was not asked for [MQTT-2.3.1-7]',
    ],
    beginnings: [],
  },
  dropped: { fixed: ['generator', 'window', 'not_connected', 'backpressure'], beginnings: [] },
  publish_failed: {
    fixed: [
      'connection lost',
      'no acknowledgement within the time-out',
      'no acknowledgement by the end of the drain',
      `${NOT_SENT}connection lost`,
      `${NOT_SENT}no room in the socket within the time-out`,
      `${NOT_SENT}no room in the socket by the end of the drain`,
    ],
    beginnings: [NOT_SENT],
  },
  subscribe_failed: {
    fixed: [
      'subscription refused (0x80)',
      'no SUBACK within the time-out',
      'connection lost before the SUBACK',
    ],
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
