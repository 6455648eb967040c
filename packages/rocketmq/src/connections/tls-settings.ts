/** TLS as a connection needs it: texts in PEM. Brokers take the same port for plain and TLS. */
export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name that the certificate must be for; the host by default. */
  readonly servername?: string;
  /** False takes any certificate. */
  readonly rejectUnauthorized?: boolean;
  readonly minVersion?: 'TLSv1.2' | 'TLSv1.3';
}
