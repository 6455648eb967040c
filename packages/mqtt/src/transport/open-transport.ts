import { TcpTransport } from './tcp-transport.ts';
import { TlsTransport } from './tls/tls-transport.ts';
import type { Transport, TransportEvents, TransportOptions } from './transport.ts';

/**
 * Begins a connection by the way that its options name. Throws a RangeError for a port that is none
 * and a TypeError for a source address that is none.
 */
export function openTransport(options: TransportOptions, events: TransportEvents): Transport {
  const { tls } = options;
  return tls === undefined
    ? new TcpTransport(options, events)
    : new TlsTransport(options, tls, events);
}
