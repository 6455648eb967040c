import type { ProtocolVersion } from '../codec/protocol-version.ts';
import type { PublishMessage } from '../codec/publish-message.ts';
import type { BrokerLimits } from './broker-limits.ts';
import type { ClientHandlers } from './client-handlers.ts';
import type { ConnectOptions, ScramCredentials } from './connect-options.ts';
import type { SubscribeRequest, UnsubscribeRequest } from './subscribe-request.ts';

/**
 * Many MQTT clients of one process, addressed by slot. They share one read buffer, one write
 * buffer and one timer; events go to the one `ClientHandlers` object given at the start. An object
 * of these is cheap (128 KiB), so there may be one for each group that is counted apart.
 *
 * A slot is idle → connecting → connected → idle. Calls that do not fit the slot's state (publish
 * while not connected, say) throw: the caller keeps the books.
 */
export interface MqttClients {
  /**
   * Starts a connection attempt on an idle slot. Throws if the slot is not idle, a RangeError for
   * options that fit in no CONNECT (see `encodePacket`) and for a port that is none, a TypeError
   * for a `localAddress` that is no address. After a throw the slot is still idle.
   */
  connect(slot: number, options: ConnectOptions): void;

  /**
   * Writes one PUBLISH. It goes out by the next `flush` at the latest: publishes to one slot in a
   * row become one write, so order calls by slot where there is a choice. Inside handlers no
   * `flush` is needed: each socket read ends with one. Nothing is refused for back-pressure: ask
   * `writableLength` before.
   */
  publish(slot: number, message: PublishMessage): void;

  /**
   * Why the slot's broker would not take this message, by the limits of its CONNACK; null where it
   * would. To be asked where `limits.isTight[slot]` is 1; `publish` itself sends what it is given.
   */
  publishRefusal(slot: number, message: PublishMessage): string | null;

  /** Writes PUBREL once more: for QoS 2 messages whose PUBREC came by an earlier connection. */
  release(slot: number, packetId: number): void;

  /**
   * Writes one SUBSCRIBE with all `filters` (1 or more) at one `qos` and gives null, or says why the
   * broker would not take it by the limits of its CONNACK: then nothing was written. The answer is
   * one `onSuback` with the same packet id; take ids from `SUBSCRIBE_PACKET_IDS`, which the in-flight
   * table never uses. Throws a RangeError for what fits in no SUBSCRIBE of the version.
   */
  subscribe(slot: number, request: SubscribeRequest): string | null;

  /** Writes one UNSUBSCRIBE; the answer is one `onUnsuback` with the same packet id. */
  unsubscribe(slot: number, request: UnsubscribeRequest): void;

  /**
   * Shows the broker once more who a connected client is [MQTT-4.12.1], MQTT 5 only. `done` is called
   * once it accepts; where it does not, the connection ends with a reason.
   */
  reauthenticate(slot: number, credentials: ScramCredentials, done: () => void): void;

  /**
   * The session of a client that connects once more goes on by another slot: what it knows of received
   * QoS 2 messages moves there. To be called in `onConnected` of that slot, where a session is present.
   */
  moveSession(from: number, to: number): void;

  /** The client id that the broker gave to a client without one, or null. It outlives connections. */
  assignedClientId(slot: number): string | null;

  /** What the brokers of connected clients do not do. */
  readonly limits: Pick<BrokerLimits, 'receiveMaximum' | 'isTight' | 'sessionExpiryS'>;

  /** Hands everything written so far to the sockets. Call it at the end of each tick. */
  flush(): void;

  /**
   * Graceful: writes DISCONNECT, closes our side, and waits up to a second for the broker to close
   * its own. The slot is idle and silent at once. On an idle slot it does nothing.
   */
  disconnect(slot: number): void;
  /** Hard: drops unsent bytes, closes. The slot is idle and silent at once, or was idle already. */
  destroy(slot: number): void;

  /** As `destroy`, and the broker sees a connection that was reset (over TLS: that just ends). */
  reset(slot: number): void;

  /** Whether CONNACK came and the connection is still there. */
  isConnected(slot: number): boolean;
  /** Whether `connect` may be called. */
  isIdle(slot: number): boolean;
  /** Bytes handed to the socket that the kernel did not take yet; 0 for idle slots. */
  writableLength(slot: number): number;

  /** `momentUs[0]`: when that happened which the handlers are being told of. */
  readonly momentUs: Float64Array;

  /** Bytes of all sockets since the start; written bytes count when they are handed to the socket. */
  readonly wireSent: number;
  readonly wireReceived: number;
  /** Clients after CONNACK. */
  readonly connectedCount: number;
  /** Sockets that `disconnect` still keeps to see their last bytes off. */
  readonly closingCount: number;

  /** Destroys every client and stops the timer. Nothing may be called after it. */
  close(): void;
}

export interface MqttClientsOptions {
  /** How many clients there are; slots are 0 … slots − 1. */
  readonly slots: number;
  readonly handlers: ClientHandlers;
  /** Default 3.1.1. */
  readonly version?: ProtocolVersion;
  /** A larger packet from the broker closes the connection; default 1 MiB. */
  readonly maxPacketBytes?: number;
  /** Where to note the moment, for several sets of clients that share one; default an own cell. */
  readonly momentUs?: Float64Array;
}
