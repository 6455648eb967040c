import type { TlsRequest } from './tls/tls-request.ts';
import type { WsRequest } from './ws/upgrade.ts';

/** One connection's way to the broker: bytes in order, nothing of MQTT. */
export interface Transport {
  /**
   * Hands `bytes` over. True: the caller may use the memory again. False: the transport reads from
   * that memory later; it belongs to it from now on. The transport may change what stands in it.
   * Where not everything has reached the kernel (`unsentBytes`), `drained` is called once it has.
   */
  send(bytes: Buffer): boolean;
  /** Bytes handed over that the kernel has not taken. */
  readonly unsentBytes: number;
  /** Sends what is there, closes our side and reads on, unheard, until the peer closes its own. */
  finish(): void;
  /** Drops everything at once. */
  abort(): void;
  /** Drops everything, and has the peer see a connection that was reset, where TCP is all there is. */
  reset(): void;
}

/**
 * Who hears of a transport's events; one object for all connections. After `finish` or `abort`
 * nothing but `gone` is called any more.
 */
export interface TransportEvents {
  opened(slot: number): void;
  /** `length` bytes lie at the start of the shared read buffer; they are overwritten afterwards. */
  received(slot: number, length: number): void;
  drained(slot: number): void;
  /** The connection is over (null: closed by the peer) or never came to be. */
  closed(slot: number, error: Error | null): void;
  /** A transport that was finished has closed. */
  gone(transport: Transport): void;
}

/** Where a connection goes, and by what. */
export interface Route {
  readonly host: string;
  readonly port: number;
  /** Source address; chosen by the kernel where left out. */
  readonly localAddress?: string | undefined;
  /** TLS of the connection; plain where left out. */
  readonly tls?: TlsRequest | undefined;
  /** A WebSocket carries the bytes; none where left out. */
  readonly ws?: WsRequest | undefined;
}

export interface TransportOptions extends Route {
  readonly slot: number;
  /** All connections read into this one buffer: reads are handled one after the other. */
  readonly readBuffer: Buffer;
}

/** Why a transport came to its end, as a text to be counted by; one of the catalogue. */
export class TransportFault extends Error {
  readonly reason: string;

  constructor(reason: string, options?: { readonly cause: unknown }) {
    super(reason, options);
    this.reason = reason;
  }
}
