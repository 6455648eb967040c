import { X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsSessions } from './tls-sessions.ts';

/** How one connection does TLS. Made once for many connections where they do not differ. */
export interface TlsRequest {
  /** What it trusts and who it is; see `createTlsContext`. */
  readonly context: SecureContext;
  /** Name sent as SNI and looked for in the certificate; null: the host that is connected to. */
  readonly servername: string | null;
  /** Whether the broker's certificate is checked. */
  readonly verify: boolean;
  /** Protocols offered by ALPN (RFC 7301); none where empty. */
  readonly alpn: readonly string[];
  /** Where sessions are kept for the next connection of a slot; null: none is resumed. */
  readonly sessions: TlsSessions | null;
}

/** Certificates and keys, each the text of a PEM file. */
export interface TlsMaterial {
  /** Certificates to trust; null: those that Node.js trusts. */
  readonly ca: string | null;
  /** Client certificate, with its chain if it has one; null: none. */
  readonly cert: string | null;
  readonly key: string | null;
  /** Null: what Node.js takes. */
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | null;
}

/** Node takes a text without any certificate as "trust nobody", in silence. */
const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/;

/**
 * Reads certificates and key, once for all connections that use them: a context costs more than a
 * handshake.
 * @throws Error that says which of them cannot be used and why.
 */
export function createTlsContext(material: TlsMaterial): SecureContext {
  const { ca, cert, key, minVersion } = material;
  if (ca !== null) checkCertificate(ca, 'the certificates to trust (ca)');
  if (cert !== null) checkCertificate(cert, 'the client certificate (cert)');
  if ((cert === null) !== (key === null)) {
    throw new Error(
      `TLS: a client certificate needs both cert and key; ${cert === null ? 'cert' : 'key'} is missing`,
    );
  }
  if (key?.includes('ENCRYPTED') === true) {
    throw new Error(
      'TLS: the key of the client certificate is encrypted: write it without its passphrase',
    );
  }
  const options: SecureContextOptions = {};
  if (ca !== null) options.ca = ca;
  if (cert !== null) options.cert = cert;
  if (key !== null) options.key = key;
  if (minVersion !== null) options.minVersion = minVersion;
  try {
    return createSecureContext(options);
  } catch (error) {
    throw new Error(`TLS: the client certificate or its key cannot be used: ${why(error)}`, {
      cause: error,
    });
  }
}

/** Looks at the first certificate of a file: what follows it, Node takes or leaves. */
function checkCertificate(pem: string, what: string): void {
  if (!CERTIFICATE.test(pem)) throw new Error(`TLS: there is no PEM certificate in ${what}`);
  try {
    void new X509Certificate(pem);
  } catch (error) {
    throw new Error(`TLS: ${what} cannot be read: ${why(error)}`, { cause: error });
  }
}

/** OpenSSL's words without its numbers: `error:0B080074:x509 certificate routines::key values mismatch`. */
function why(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('::').at(-1) ?? text;
}
