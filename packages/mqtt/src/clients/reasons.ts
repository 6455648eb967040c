import type { ProtocolVersion } from '../codec/protocol-version.ts';
import { FIRST_FAILURE_CODE, reasonCodeName } from '../codec/reason-code.ts';
import { TransportFault } from '../transport/transport.ts';

/**
 * Why a connection, an attempt or a subscription failed: a fixed catalogue of texts, so that they
 * can be counted by reason and compared over agents. Where the operator can do something about it,
 * the text says what.
 */
export const Reason = {
  timedOut: 'timed out',
  closedByBroker: 'closed by broker',
  keepAlive: 'keep-alive timeout: no PINGRESP',
  notReading: 'broker does not read: 128 MiB unsent',
} as const;

export const CONNACK_REASONS: readonly string[] = [
  'accepted (0x00)',
  'unacceptable protocol version (0x01)',
  'client id rejected (0x02)',
  'server unavailable (0x03)',
  'bad user name or password (0x04)',
  'not authorized (0x05)',
];

/** Why a CONNACK refuses: its return code [MQTT-3.2.2.3], in MQTT 5 its reason code. */
export function connackReason(code: number, version: ProtocolVersion): string {
  if (version === '5') return reasonCodeName(code);
  return CONNACK_REASONS[code] ?? `CONNACK code 0x${code.toString(16).padStart(2, '0')}`;
}

/** Why a broker ended the connection by DISCONNECT, which only MQTT 5 lets it say. */
export function brokerDisconnect(code: number): string {
  return code === 0 ? BROKER_LEFT : `${BY_BROKER}${reasonCodeName(code)}`;
}

const BY_BROKER = 'disconnected by broker: ';
const BROKER_LEFT = `${BY_BROKER}normal disconnection (0x00)`;

/** Why a filter was refused, or null where a SUBACK code grants it [MQTT-3.9.3]. */
export function subackFailure(code: number, version: ProtocolVersion): string | null {
  if (code < FIRST_FAILURE_CODE) return null;
  return version === '5' ? reasonCodeName(code) : 'subscription refused (0x80)';
}

export function malformedPacket(why: string): string {
  return `malformed packet: ${why}`;
}

export function protocolError(why: string): string {
  return `protocol error: ${why}`;
}

export const SOCKET_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ECONNABORTED: 'connection reset',
  ETIMEDOUT: Reason.timedOut,
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name lookup failed',
  EMFILE:
    'out of file descriptors (EMFILE): raise the open-files limit (ulimit -n) or use more workers',
  ENFILE: 'out of file descriptors on the host (ENFILE): raise fs.file-max',
  EADDRNOTAVAIL:
    'no free local port (EADDRNOTAVAIL): widen net.ipv4.ip_local_port_range or add source addresses',
  EADDRINUSE: 'local address in use (EADDRINUSE): add source addresses',
  EINVAL: 'invalid address (EINVAL): check host and source address',
  EACCES: 'not permitted (EACCES)',
  EPERM: 'not permitted (EPERM): a firewall on this host refuses the connection',
  ENOBUFS: 'out of socket buffers (ENOBUFS): raise net.core limits',
  ENOMEM: 'out of memory for sockets (ENOMEM)',
};

/** The reason behind a socket's error, or "closed by broker" where there was none. */
export function socketReason(error: Error | null): string {
  if (error === null) return Reason.closedByBroker;
  if (error instanceof TransportFault) return error.reason;
  const code = errorCode(error);
  return SOCKET_REASONS[code] ?? `socket error ${code}`;
}

function errorCode(error: Error): string {
  // With several addresses a name stands for, the last attempt's error says most.
  if (error instanceof AggregateError) {
    const last: unknown = error.errors.at(-1);
    if (last instanceof Error) return errorCode(last);
  }
  return 'code' in error && typeof error.code === 'string' ? error.code : 'without a code';
}
