// Data path: events of all sockets, publishes of all clients.
import { byteAt, element } from '../codec/bytes.ts';
import { PacketFramer } from '../codec/packet-framer.ts';
import type { PublishMessage } from '../codec/publish-message.ts';
import { encodeConnect } from '../codec/v311/connect-packet.ts';
import { DISCONNECT, PINGREQ } from '../codec/v311/empty-packets.ts';
import {
  PUBACK_BYTES,
  publishSize,
  writePuback,
  writePublish,
} from '../codec/v311/publish-packet.ts';
import { encodeSubscribe, type SubscribeRequest } from '../codec/v311/subscribe-packet.ts';
import { monotonicUs, readMonotonicUs } from '../monotonic.ts';
import { openTransport } from '../transport/open-transport.ts';
import type { Transport, TransportEvents } from '../transport/transport.ts';
import type { ClientHandlers } from './client-handlers.ts';
import { ClosingTransports } from './closing-transports.ts';
import type { ConnectOptions } from './connect-options.ts';
import { type ConnectionControl, InboundPackets } from './inbound-packets.ts';
import { deadlineReason, pingIsDue } from './keep-alive.ts';
import type { MqttClients, MqttClientsOptions } from './mqtt-clients.ts';
import { Outbox } from './outbox.ts';
import { connackReason, Reason, socketReason } from './reasons.ts';
import { Phase, SlotTable } from './slot-table.ts';

/** Reads of all sockets land here, one after the other. */
const READ_BUFFER_BYTES = 64 * 1024;
/** What a broker may send in one packet unless the caller allows more. */
const MAX_PACKET_BYTES = 1024 * 1024;
/**
 * A connection with more than this in user space is given up: a broker that sends and never reads
 * would have our acknowledgements fill the memory. Publishers stop far below, by `writableLength`.
 */
const UNSENT_BYTES_MAX = 128 * 1024 * 1024;
/** One shared timer looks after all time-outs and pings, this often. */
const SCAN_MS = 250;

/** Makes clients, all idle; see `MqttClients`. */
export function createMqttClients(options: MqttClientsOptions): MqttClients {
  return new ClientPool(options);
}

class ClientPool implements MqttClients, TransportEvents, ConnectionControl {
  readonly momentUs: Float64Array;
  readonly #handlers: ClientHandlers;
  readonly #table: SlotTable;
  readonly #framer: PacketFramer;
  readonly #outbox = new Outbox();
  readonly #closing = new ClosingTransports();
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly #scanTimer: NodeJS.Timeout;
  /** The transport whose bytes are being handled. */
  #reading: Transport | null = null;
  #wireReceived = 0;
  #connectedCount = 0;

  constructor(options: MqttClientsOptions) {
    this.momentUs = options.momentUs ?? new Float64Array(1);
    this.#handlers = options.handlers;
    this.#table = new SlotTable(options.slots);
    const inbound = new InboundPackets(this.#table, options.handlers, this);
    this.#framer = new PacketFramer(inbound, options.maxPacketBytes ?? MAX_PACKET_BYTES);
    readMonotonicUs(this.momentUs);
    // The sockets keep the process alive, the timer need not.
    this.#scanTimer = setInterval(() => this.#scan(), SCAN_MS).unref();
  }

  connect(slot: number, options: ConnectOptions): void {
    const table = this.#table;
    if (!this.isIdle(slot)) throw new Error(`connect on slot ${slot}, which is not idle`);
    const greeting = encodeConnect(options);
    const { host, port, localAddress, tls, ws } = options;
    const readBuffer = this.#readBuffer;
    // Throws for an impossible port or address, so the slot changes only afterwards.
    table.transport[slot] = openTransport(
      { slot, host, port, localAddress, tls, ws, readBuffer },
      this,
    );
    table.greeting.set(slot, greeting);
    table.phase[slot] = Phase.opening;
    table.cleanStart[slot] = options.cleanStart ? 1 : 0;
    table.keepAliveUs[slot] = options.keepAliveS * 1e6;
    table.pingSentUs[slot] = 0;
    table.connectDeadlineUs[slot] = monotonicUs() + options.timeoutUs;
  }

  publish(slot: number, message: PublishMessage): void {
    const at = this.#reserve(slot, publishSize(message));
    writePublish(this.#outbox.slab, at, message);
  }

  subscribe(slot: number, request: SubscribeRequest): void {
    this.#write(slot, encodeSubscribe(request));
  }

  flush(): void {
    this.#outbox.flush();
  }

  disconnect(slot: number): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    if (!this.isConnected(slot)) {
      this.destroy(slot);
      return;
    }
    this.#write(slot, DISCONNECT);
    this.#outbox.flush();
    this.#release(slot);
    transport.finish();
    this.#closing.add(transport, monotonicUs());
  }

  destroy(slot: number): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    this.#outbox.drop(transport);
    this.#release(slot);
    transport.abort();
  }

  isConnected(slot: number): boolean {
    return byteAt(this.#table.phase, slot) === Phase.connected;
  }

  isIdle(slot: number): boolean {
    return byteAt(this.#table.phase, slot) === Phase.idle;
  }

  writableLength(slot: number): number {
    return this.#table.transport[slot]?.unsentBytes ?? 0;
  }

  get wireSent(): number {
    return this.#outbox.handedOver;
  }

  get wireReceived(): number {
    return this.#wireReceived;
  }

  get connectedCount(): number {
    return this.#connectedCount;
  }

  get closingCount(): number {
    return this.#closing.count;
  }

  close(): void {
    clearInterval(this.#scanTimer);
    for (let slot = 0; slot < this.#table.slots; slot += 1) this.destroy(slot);
    this.#closing.abortAll();
  }

  // What transports tell.

  opened(slot: number): void {
    const table = this.#table;
    const greeting = table.greeting.get(slot);
    const transport = table.transport[slot];
    if (greeting === undefined || transport === null || transport === undefined) return;
    readMonotonicUs(this.momentUs);
    table.greeting.delete(slot);
    table.phase[slot] = Phase.awaitingConnack;
    table.lastSentUs[slot] = element(this.momentUs, 0);
    const at = this.#outbox.reserve(transport, greeting.length);
    this.#outbox.slab.set(greeting, at);
    this.#outbox.flush();
  }

  received(slot: number, length: number): void {
    this.#wireReceived += length;
    readMonotonicUs(this.momentUs);
    this.#reading = this.#table.transport[slot] ?? null;
    this.#framer.feed(slot, this.#readBuffer, length);
    this.#reading = null;
    this.#outbox.flush();
  }

  drained(slot: number): void {
    if (!this.isConnected(slot)) return;
    readMonotonicUs(this.momentUs);
    this.#handlers.onDrained(slot);
    this.#outbox.flush();
  }

  closed(slot: number, error: Error | null): void {
    readMonotonicUs(this.momentUs);
    this.giveUp(slot, socketReason(error));
    this.#outbox.flush();
  }

  gone(transport: Transport): void {
    this.#closing.remove(transport);
  }

  // What received packets ask for.

  accepted(slot: number, sessionPresent: boolean): void {
    this.#table.phase[slot] = Phase.connected;
    this.#connectedCount += 1;
    this.#handlers.onConnected(slot, sessionPresent);
  }

  refused(slot: number, code: number): void {
    this.giveUp(slot, connackReason(code));
  }

  acknowledge(slot: number, packetId: number): void {
    const at = this.#reserve(slot, PUBACK_BYTES);
    writePuback(this.#outbox.slab, at, packetId);
  }

  giveUp(slot: number, reason: string): void {
    const wasConnected = this.isConnected(slot);
    this.destroy(slot);
    if (wasConnected) this.#handlers.onClosed(slot, reason);
    else this.#handlers.onConnectFailed(slot, reason);
  }

  isReading(slot: number): boolean {
    return this.#table.transport[slot] === this.#reading;
  }

  #reserve(slot: number, size: number): number {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined || !this.isConnected(slot)) {
      throw new Error(`write on slot ${slot}, which is not connected`);
    }
    // At most one scan old, which makes a ping come early, never late.
    this.#table.lastSentUs[slot] = element(this.momentUs, 0);
    return this.#outbox.reserve(transport, size);
  }

  #write(slot: number, packet: Buffer): void {
    const at = this.#reserve(slot, packet.length);
    this.#outbox.slab.set(packet, at);
  }

  /** Makes the slot idle; what becomes of its transport is the caller's part. */
  #release(slot: number): void {
    const table = this.#table;
    if (this.isConnected(slot)) this.#connectedCount -= 1;
    table.phase[slot] = Phase.idle;
    table.transport[slot] = null;
    table.greeting.delete(slot);
    this.#framer.reset(slot);
  }

  #scan(): void {
    readMonotonicUs(this.momentUs);
    const nowUs = element(this.momentUs, 0);
    const table = this.#table;
    for (let slot = 0; slot < table.slots; slot += 1) {
      if (byteAt(table.phase, slot) === Phase.idle) continue;
      const reason =
        this.writableLength(slot) > UNSENT_BYTES_MAX
          ? Reason.notReading
          : deadlineReason(table, slot, nowUs);
      if (reason !== null) this.giveUp(slot, reason);
      else if (pingIsDue(table, slot, nowUs)) {
        this.#write(slot, PINGREQ);
        if (element(table.pingSentUs, slot) === 0) table.pingSentUs[slot] = nowUs;
      }
    }
    this.#outbox.flush();
    this.#closing.sweep(nowUs);
  }
}
