import { ProbeError } from './probe.ts';

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection lost',
  EPIPE: 'connection lost',
  UND_ERR_SOCKET: 'connection lost',
  PROTOCOL_CONNECTION_LOST: 'connection lost',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'host unreachable',
  ETIMEDOUT: 'timed out',
  UND_ERR_CONNECT_TIMEOUT: 'timed out',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate not trusted',
  CERT_HAS_EXPIRED: 'certificate expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate of another name',
};

/** Names of the errors of whatever was called off by its signal. */
const CALLED_OFF: ReadonlySet<string> = new Set(['AbortError', 'TimeoutError']);

/** What any failure of a library is counted as. */
export function probeErrorOf(error: unknown): ProbeError {
  if (error instanceof ProbeError) return error;
  if (error instanceof Error && CALLED_OFF.has(error.name)) {
    return new ProbeError('timed out', undefined, error);
  }
  const code = codeOf(error);
  const reason = code === null ? null : SYSTEM_REASONS[code];
  return new ProbeError(reason ?? code ?? 'failed', messageOf(error), error);
}

const MAX_DETAIL = 300;

/** Of what lies under the wrapping. */
function messageOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const inner = depth > 3 ? undefined : messageOf(error.cause, depth + 1);
  return inner ?? error.message.slice(0, MAX_DETAIL);
}

/** The libraries wrap what the system says, fetch twice. */
function codeOf(error: unknown, depth = 0): string | null {
  if (typeof error !== 'object' || error === null || depth > 3) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0], depth + 1);
  return 'cause' in error ? codeOf(error.cause, depth + 1) : null;
}
