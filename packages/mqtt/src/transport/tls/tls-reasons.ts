import { TransportFault } from '../transport.ts';

/** How every reason of TLS begins. */
const TLS = 'TLS: ';

/**
 * Reasons of OpenSSL and Node by their code: of ours for the broker's certificate, of the broker's
 * (alerts, RFC 8446, 6.2) for ours. Under TLS 1.3 the latter come after the handshake.
 */
export const TLS_REASONS: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN:
    'TLS: self-signed certificate in chain: name the file of its authority in tls.ca',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'TLS: self-signed certificate: name its file in tls.ca, or switch tls.verify off',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
  UNABLE_TO_GET_ISSUER_CERT:
    'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'TLS: certificate of an unknown authority: name the file of its authority in tls.ca',
  CERT_SIGNATURE_FAILURE: 'TLS: certificate not signed by the authority that it names',
  CERT_HAS_EXPIRED: 'TLS: certificate has expired',
  CERT_NOT_YET_VALID: 'TLS: certificate is not valid yet',
  CERT_REVOKED: 'TLS: certificate is revoked',
  INVALID_CA: 'TLS: certificate signed by one that is no authority',
  INVALID_PURPOSE: 'TLS: certificate is not for servers',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'TLS: certificate is for another host: set tls.servername to a name that it bears',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'TLS: broker requires a client certificate',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA:
    'TLS: broker does not know the authority of the client certificate',
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: 'TLS: broker refuses the client certificate',
  ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    'TLS: broker refuses the client certificate: unsupported kind',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    'TLS: broker refuses the client certificate: not accepted',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: 'TLS: broker refuses the client certificate: expired',
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED: 'TLS: broker refuses the client certificate: revoked',
  ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR:
    'TLS: broker refuses the client certificate: its signature does not fit',
  ERR_SSL_TLSV1_ALERT_ACCESS_DENIED: 'TLS: broker denies access',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE:
    'TLS: broker refuses the handshake: no common cipher, or it wants a client certificate',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'TLS: no common version of TLS',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'TLS: no common version of TLS',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL:
    'TLS: broker speaks none of the protocols of tls.alpn',
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'TLS: broker does not know the name in tls.servername',
  ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR: 'TLS: internal error of the broker',
  ERR_SSL_WRONG_VERSION_NUMBER: 'TLS: the port does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'TLS: the port does not speak TLS',
};

/** The peer closed or reset the connection before the handshake was over, without a word. */
export const CLOSED_IN_HANDSHAKE =
  'TLS: closed by the peer during the handshake: does the port speak TLS?';

/** A fault of TLS under its own reason; any other error as it is. */
export function tlsFault(error: Error, secured: boolean): Error {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const reason = TLS_REASONS[code];
  if (reason !== undefined) return new TransportFault(reason, { cause: error });
  if (!secured && (code === 'ECONNRESET' || code === 'EPIPE')) {
    return new TransportFault(CLOSED_IN_HANDSHAKE, { cause: error });
  }
  if (!isOfTls(code)) return error;
  const words = 'reason' in error && typeof error.reason === 'string' ? error.reason : code;
  return new TransportFault(`${TLS}${words}`, { cause: error });
}

/** Codes without `E…` of the system: `ERR_SSL_…`, `ERR_TLS_…`, and those of certificates. */
function isOfTls(code: string): boolean {
  return code === 'EPROTO' || code.startsWith('ERR_') || /^[A-DF-Z][A-Z_]+$/.test(code);
}
