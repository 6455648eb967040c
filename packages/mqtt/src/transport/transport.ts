/**
 * One connection's way to the broker: bytes in order, nothing of MQTT. TCP today; TLS and
 * WebSocket are further implementations.
 */
export interface Transport {
  /**
   * Hands `bytes` over. True: the kernel has them all, and the caller may use the memory again.
   * False: the transport reads from that memory later; it belongs to it from now on. Once all is
   * gone, `drained` is called.
   */
  send(bytes: Buffer): boolean;
  /** Bytes handed over that the kernel has not taken. */
  readonly unsentBytes: number;
  /** Sends what is there, closes our side and reads on, unheard, until the peer closes its own. */
  finish(): void;
  /** Drops everything at once. */
  abort(): void;
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

export interface TransportOptions {
  readonly slot: number;
  readonly host: string;
  readonly port: number;
  readonly localAddress: string | undefined;
  /** All connections read into this one buffer: reads are handled one after the other. */
  readonly readBuffer: Buffer;
}
