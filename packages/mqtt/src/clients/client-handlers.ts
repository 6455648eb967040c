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
  /**
   * Any PUBACK; whether the id is known is for the owner of the packet ids to say. `reasonCode` is
   * 0 before MQTT 5; from 0x80 on the broker did not take the message (`reasonCodeName`).
   */
  onPuback(slot: number, packetId: number, reasonCode: number): void;
  /**
   * Any PUBREC. With a code below 0x80 the clients answer PUBREL themselves after the call; what is
   * given back says whether the id is known, which MQTT 5 tells the broker [MQTT-3.6.2.1]. From 0x80
   * on the message's way ends here.
   */
  onPubrec(slot: number, packetId: number, reasonCode: number): boolean;
  /** Any PUBCOMP: the end of a QoS 2 message's way. */
  onPubcomp(slot: number, packetId: number, reasonCode: number): void;
  /** `suback` is one reused object: it is valid during the call only. */
  onSuback(slot: number, suback: InboundSuback): void;
  /** The same of UNSUBACK, which has no codes before MQTT 5. */
  onUnsuback(slot: number, unsuback: InboundSuback): void;
  /**
   * A PUBLISH came. `publish` is one reused object over the shared read buffer: valid during the
   * call only. The clients acknowledge by themselves after the call, all those of one socket read
   * in one write. A QoS 2 message that its broker sends again is told once [MQTT-4.3.3-10].
   */
  onPublish(slot: number, publish: InboundPublish): void;
  /** Bytes that had waited in user space (`writableLength` > 0) have all reached the kernel. */
  onDrained(slot: number): void;
}

/** A received PUBLISH, in place: topic and payload are ranges of bytes. */
export interface InboundPublish {
  readonly bytes: Buffer;
  /** What `topicAt` and `topicLength` point into: `bytes`, or the memory of a topic alias. */
  readonly topicBytes: Buffer;
  readonly topicAt: number;
  readonly topicLength: number;
  readonly payloadAt: number;
  readonly payloadLength: number;
  readonly qos: number;
  readonly dup: boolean;
  readonly retain: boolean;
  /** 0 at QoS 0. */
  readonly packetId: number;

  // Properties of MQTT 5; before it as if there were none.

  /** Message Expiry Interval, s; -1: none. */
  readonly expiryS: number;
  /** Position of the Response Topic in `bytes`; -1: none. */
  readonly responseTopicAt: number;
  readonly responseTopicLength: number;
  /** Position of the Correlation Data in `bytes`; -1: none. */
  readonly correlationAt: number;
  readonly correlationLength: number;
  /** Subscription Identifiers: the first `identifierCount` of these. */
  readonly identifiers: Uint32Array;
  readonly identifierCount: number;
}

/** A received SUBACK or UNSUBACK, in place: `codesLength` codes from `bytes[codesAt]`, one a filter. */
export interface InboundSuback {
  readonly packetId: number;
  readonly bytes: Buffer;
  readonly codesAt: number;
  /** 0, 1, 2 = granted QoS; from 0x80 on refused [MQTT-3.9.3]: see `subackFailure`. */
  readonly codesLength: number;
}
