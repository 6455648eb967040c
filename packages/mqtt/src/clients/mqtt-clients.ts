import type { ClientHandlers } from './client-handlers.ts';
import type { ConnectOptions } from './connect-options.ts';
import type { PublishMessage } from './publish-message.ts';

/**
 * All MQTT clients of one worker process, addressed by slot. They share one read buffer, one write
 * buffer and one timer; events go to the one `ClientHandlers` object given at the start.
 *
 * A slot is idle → connecting → connected → idle. Calls that do not fit the slot's state (publish
 * while not connected, say) throw: the caller keeps the books.
 */
export interface MqttClients {
  /** Starts a connection attempt on an idle slot. Throws if the slot is not idle. */
  connect(slot: number, options: ConnectOptions): void;

  /**
   * Writes one PUBLISH. It goes out by the next `flush` at the latest: publishes to one slot in a
   * row become one write, so order calls by slot where there is a choice. Inside handlers no
   * `flush` is needed: each socket read ends with one. `nowUs` is the caller's clock reading (for
   * keep-alive). Nothing is refused for back-pressure: ask `writableLength` before.
   */
  publish(slot: number, message: PublishMessage, nowUs: number): void;

  /**
   * Writes one SUBSCRIBE with all `filters` (1 or more) at one `qos`. The answer is one `onSuback`
   * with the same packet id; take ids from `SUBSCRIBE_PACKET_IDS`, which the in-flight table
   * never uses.
   */
  subscribe(slot: number, request: SubscribeRequest): void;

  /** Hands everything written so far to the sockets. Call it at the end of each tick. */
  flush(): void;

  /** Graceful: flushes, writes DISCONNECT, closes. The slot is idle and silent at once. */
  disconnect(slot: number): void;
  /** Hard: drops unsent bytes, closes. The slot is idle and silent at once. */
  destroy(slot: number): void;

  /** Whether CONNACK came and the connection is still there. */
  isConnected(slot: number): boolean;
  /** Whether `connect` may be called. */
  isIdle(slot: number): boolean;
  /** Bytes in user space that the kernel did not take yet; 0 for idle slots. */
  writableLength(slot: number): number;

  /** Bytes of all sockets since the start; written bytes count when they are handed to the socket. */
  readonly wireSent: number;
  readonly wireReceived: number;
  /** Clients after CONNACK. */
  readonly connectedCount: number;

  /** Destroys every client, stops the timer, frees the buffers. Nothing may be called after it. */
  close(): void;
}

export interface SubscribeRequest {
  readonly packetId: number;
  readonly filters: readonly string[];
  readonly qos: 0 | 1;
}

/** What `createMqttClients(options): MqttClients` takes. */
export interface MqttClientsOptions {
  /** How many clients the worker has; slots are 0 … slots − 1. */
  readonly slots: number;
  readonly handlers: ClientHandlers;
  /** A larger packet from the broker closes the connection; default 1 MiB. */
  readonly maxPacketBytes?: number;
}
