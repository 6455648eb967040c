import { TcpTransport } from './tcp-transport.ts';
import { TlsTransport } from './tls/tls-transport.ts';
import type { Transport, TransportEvents, TransportOptions } from './transport.ts';
import { WsTransport } from './ws/ws-transport.ts';

/**
 * Begins a connection by the way that its options name. Throws a RangeError for a port that is none
 * and for a path or header that fits in no request, a TypeError for a source address that is none.
 */
export function openTransport(options: TransportOptions, events: TransportEvents): Transport {
  const { ws } = options;
  if (ws === undefined) return openStream(options, events);
  return new WsTransport({ ...options, ws }, events, (own) => openStream(options, own));
}

function openStream(options: TransportOptions, events: TransportEvents): Transport {
  const { tls } = options;
  return tls === undefined
    ? new TcpTransport(options, events)
    : new TlsTransport(options, tls, events);
}
