/**
 * What happens to the clients of one worker. There is one handlers object for all of them: every
 * method gets the client's slot (0 … slots − 1). When it happened stands in `momentUs[0]` of the
 * clients (µs of CLOCK_MONOTONIC): one clock reading a socket read or timer. It is not an argument,
 * because a double that is passed on costs an allocation each time.
 *
 * Handlers run inside the read path. They may publish, subscribe, connect and disconnect (any
 * slot, the calling one included); they must not throw.
 */
export interface ClientHandlers {
  /** CONNACK 0x00 came. From here on the slot may publish and subscribe. */
  onConnected(slot: number, sessionPresent: boolean): void;
  /**
   * A `connect` ended without CONNACK 0x00. The slot is free again and may be connected at once or
   * later. Exactly one of `onConnected` and `onConnectFailed` follows each `connect`, unless
   * `disconnect` or `destroy` came in between: those make the slot silent.
   */
  onConnectFailed(slot: number, reason: string): void;
  /** A connected client lost its connection, for whatever reason but its own `disconnect`/`destroy`. */
  onClosed(slot: number, reason: string): void;
  /** Any PUBACK; whether the id is known is for the owner of the packet ids to say. */
  onPuback(slot: number, packetId: number): void;
  /** `suback` is one reused object: it is valid during the call only. */
  onSuback(slot: number, suback: InboundSuback): void;
  /**
   * A PUBLISH came. `publish` is one reused object over the shared read buffer: valid during the
   * call only. For QoS 1 the PUBACK is written by the clients themselves after the call, all those
   * of one socket read in one write.
   */
  onPublish(slot: number, publish: InboundPublish): void;
  /** Bytes that had waited in user space (`writableLength` > 0) have all reached the kernel. */
  onDrained(slot: number): void;
}

/** A received PUBLISH, in place: topic and payload are ranges of `bytes`. */
export interface InboundPublish {
  readonly bytes: Buffer;
  readonly topicAt: number;
  readonly topicLength: number;
  readonly payloadAt: number;
  readonly payloadLength: number;
  readonly qos: number;
  readonly dup: boolean;
  readonly retain: boolean;
  /** 0 at QoS 0. */
  readonly packetId: number;
}

/** A received SUBACK, in place: `codesLength` return codes from `bytes[codesAt]`, one a filter. */
export interface InboundSuback {
  readonly packetId: number;
  readonly bytes: Buffer;
  readonly codesAt: number;
  /** 0, 1, 2 = granted QoS, 0x80 = refused [MQTT-3.9.3-2]; see `subackFailure`. */
  readonly codesLength: number;
}
