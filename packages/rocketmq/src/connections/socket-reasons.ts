/** Why a connection failed or ended: a fixed catalogue, so that it can be counted by reason. */
const CLOSED_BY_BROKER = 'closed by broker';
export const CONNECT_TIMED_OUT = 'timed out';
export const NOT_READING = 'broker does not read: 128 MiB unsent';

const SOCKET_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ECONNABORTED: 'connection reset',
  ETIMEDOUT: CONNECT_TIMED_OUT,
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name lookup failed',
  EMFILE: 'out of file descriptors (EMFILE): raise the open-files limit (ulimit -n)',
  EADDRNOTAVAIL: 'no free local port (EADDRNOTAVAIL): widen net.ipv4.ip_local_port_range',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate not trusted: self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate not trusted: self-signed in its chain',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate not trusted: unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate not trusted: unknown authority',
  CERT_HAS_EXPIRED: 'certificate expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another host name',
};

/** The reason behind a socket's error, or "closed by broker" where there was none. */
export function socketReason(error: Error | null): string {
  if (error === null) return CLOSED_BY_BROKER;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return SOCKET_REASONS[code] ?? `socket error ${code}`;
}

export function malformedFrame(why: string): string {
  return `malformed frame: ${why}`;
}
