// Data path: events of all sockets, publishes of all clients.
import {
  ACK_BYTES,
  ACK_WITH_REASON_BYTES,
  PUBREL,
  writeAck,
  writeAckWithReason,
} from '../codec/ack-packet.ts';
import { byteAt, element } from '../codec/bytes.ts';
import { DISCONNECT, PINGREQ } from '../codec/empty-packets.ts';
import { encodePacket } from '../codec/encode-packet.ts';
import { PacketFramer } from '../codec/packet-framer.ts';
import type { AuthPacket, ConnackPacket } from '../codec/packet.ts';
import type { PublishMessage } from '../codec/publish-message.ts';
import { monotonicUs, readMonotonicUs } from '../monotonic.ts';
import { openTransport } from '../transport/open-transport.ts';
import type { Transport, TransportEvents } from '../transport/transport.ts';
import { Authentication, UNPROVEN_BROKER } from './authentication/authentication.ts';
import { BrokerLimits } from './broker-limits.ts';
import type { ClientHandlers } from './client-handlers.ts';
import { ClosingTransports } from './closing-transports.ts';
import type { ConnectOptions, ScramCredentials } from './connect-options.ts';
import { encodeGreeting, encodeSubscribe, encodeUnsubscribe } from './greeting.ts';
import { type Answer, type ConnectionControl, InboundPackets } from './inbound-packets.ts';
import { deadlineReason, pingIsDue } from './keep-alive.ts';
import type { MqttClients, MqttClientsOptions } from './mqtt-clients.ts';
import { Outbox } from '../transport/outbox.ts';
import { connackReason, Reason, socketReason } from './reasons.ts';
import { Phase, SlotTable } from './slot-table.ts';
import type { SubscribeRequest, UnsubscribeRequest } from './subscribe-request.ts';
import { createWire } from './wire/create-wire.ts';
import type { Wire } from './wire/wire.ts';

/** Reads of all sockets land here, one after the other. */
const READ_BUFFER_BYTES = 64 * 1024;
/** What a broker may send in one packet unless the caller allows more. */
const MAX_PACKET_BYTES = 1024 * 1024;
/**
 * A connection with more than this in user space is given up: a broker that sends and never reads
 * would have our acknowledgements fill the memory. Publishers stop far below, by `writableLength`.
 */
const UNSENT_BYTES_MAX = 128 * 1024 * 1024;
/** What a client lets its broker have open where its CONNECT does not say [MQTT-3.1.2.11.3]. */
const RECEIVE_MAXIMUM = 65_535;
const NOT_AUTHORIZED = 0x87;
/** One shared timer looks after all time-outs and pings, this often. */
const SCAN_MS = 250;

/** Makes clients, all idle; see `MqttClients`. */
export function createMqttClients(options: MqttClientsOptions): MqttClients {
  return new ClientPool(options);
}

class ClientPool implements MqttClients, TransportEvents, ConnectionControl {
  readonly momentUs: Float64Array;
  readonly limits: BrokerLimits;
  readonly #wire: Wire;
  readonly #authentication: Authentication;
  readonly #handlers: ClientHandlers;
  readonly #table: SlotTable;
  readonly #inbound: InboundPackets;
  readonly #framer: PacketFramer;
  readonly #outbox = new Outbox();
  readonly #closing = new ClosingTransports();
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly #scanTimer: NodeJS.Timeout;
  /** Client ids that brokers gave to clients without one. */
  readonly #assignedIds = new Map<number, string>();
  readonly #pubrel: Answer = { header: PUBREL, packetId: 0, reasonCode: 0 };
  /** The transport whose bytes are being handled. */
  #reading: Transport | null = null;
  #wireReceived = 0;
  #connectedCount = 0;

  constructor(options: MqttClientsOptions) {
    this.momentUs = options.momentUs ?? new Float64Array(1);
    this.#handlers = options.handlers;
    this.#table = new SlotTable(options.slots);
    this.limits = new BrokerLimits(options.slots);
    this.#wire = createWire(options.version ?? '3.1.1', options.slots);
    this.#authentication = new Authentication(this);
    const { handlers } = options;
    const parts = { table: this.#table, handlers, control: this, wire: this.#wire };
    this.#inbound = new InboundPackets(parts);
    this.#framer = new PacketFramer(this.#inbound, options.maxPacketBytes ?? MAX_PACKET_BYTES);
    readMonotonicUs(this.momentUs);
    // The sockets keep the process alive, the timer need not.
    this.#scanTimer = setInterval(() => this.#scan(), SCAN_MS).unref();
  }

  connect(slot: number, options: ConnectOptions): void {
    const table = this.#table;
    if (!this.isIdle(slot)) throw new Error(`connect on slot ${slot}, which is not idle`);
    const greeting = this.#greet(slot, options);
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
    const { receiveMaximum = RECEIVE_MAXIMUM, topicAliasMaximum = 0 } = options.properties ?? {};
    table.receiveMaximum[slot] = receiveMaximum;
    this.#wire.begin(slot, topicAliasMaximum);
    // A client that comes back by the id it was given keeps it.
    if (options.clientId !== this.#assignedIds.get(slot)) this.#assignedIds.delete(slot);
  }

  publish(slot: number, message: PublishMessage): void {
    const at = this.#reserve(slot, this.#wire.publishSize(slot, message));
    this.#wire.writePublish(this.#outbox.slab, at, message);
  }

  publishRefusal(slot: number, message: PublishMessage): string | null {
    return this.limits.publishRefusal(slot, message, this.#wire.publishSize(slot, message));
  }

  release(slot: number, packetId: number): void {
    this.#pubrel.packetId = packetId;
    this.answer(slot, this.#pubrel);
  }

  subscribe(slot: number, request: SubscribeRequest): string | null {
    const packet = encodeSubscribe(request, this.#wire.version);
    const refusal = this.limits.subscribeRefusal(slot, request, packet.length);
    if (refusal === null) this.#write(slot, packet);
    return refusal;
  }

  unsubscribe(slot: number, request: UnsubscribeRequest): void {
    this.#write(slot, encodeUnsubscribe(request, this.#wire.version));
  }

  reauthenticate(slot: number, credentials: ScramCredentials, done: () => void): void {
    if (!this.isConnected(slot)) throw new Error(`AUTH on slot ${slot}, which is not connected`);
    this.#authentication.again(slot, credentials, done);
  }

  moveSession(from: number, to: number): void {
    this.#inbound.moveSession(from, to);
  }

  assignedClientId(slot: number): string | null {
    return this.#assignedIds.get(slot) ?? null;
  }

  flush(): void {
    this.#outbox.flush();
  }

  disconnect(slot: number): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    if (this.isConnected(slot)) this.#finish(slot, DISCONNECT);
    else this.destroy(slot);
  }

  destroy(slot: number): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    this.#outbox.drop(transport);
    this.#release(slot);
    transport.abort();
  }

  reset(slot: number): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    this.#outbox.drop(transport);
    this.#release(slot);
    transport.reset();
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

  accepted(slot: number, connack: ConnackPacket): void {
    const { sessionPresent, properties = {} } = connack;
    if (!this.#authentication.accepts(slot, properties)) {
      this.giveUp(slot, UNPROVEN_BROKER, NOT_AUTHORIZED);
      return;
    }
    const { serverKeepAlive, assignedClientIdentifier, topicAliasMaximum = 0 } = properties;
    // The server's word counts [MQTT-3.2.2-21].
    if (serverKeepAlive !== undefined) this.#table.keepAliveUs[slot] = serverKeepAlive * 1e6;
    if (assignedClientIdentifier !== undefined) {
      this.#assignedIds.set(slot, assignedClientIdentifier);
    }
    this.limits.take(slot, properties);
    this.#wire.allowAliases(slot, topicAliasMaximum);
    this.#table.phase[slot] = Phase.connected;
    this.#connectedCount += 1;
    this.#handlers.onConnected(slot, sessionPresent);
  }

  refused(slot: number, connack: ConnackPacket): void {
    this.giveUp(slot, connackReason(connack.reasonCode, this.#wire.version));
  }

  authenticate(slot: number, auth: AuthPacket): void {
    this.#authentication.onAuth(slot, auth);
  }

  sendAuth(slot: number, packet: AuthPacket): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    const bytes = encodePacket(packet, this.#wire.version);
    const at = this.#outbox.reserve(transport, bytes.length);
    this.#outbox.slab.set(bytes, at);
    this.#outbox.flush();
  }

  answer(slot: number, ack: Answer): void {
    if (ack.reasonCode === 0) {
      const at = this.#reserve(slot, ACK_BYTES);
      writeAck(this.#outbox.slab, at, ack);
      return;
    }
    const at = this.#reserve(slot, ACK_WITH_REASON_BYTES);
    writeAckWithReason(this.#outbox.slab, at, ack);
  }

  giveUp(slot: number, reason: string, code = 0): void {
    const wasConnected = this.isConnected(slot);
    if (wasConnected && code !== 0 && this.#wire.version === '5') this.#leave(slot, code);
    else this.destroy(slot);
    if (wasConnected) this.#handlers.onClosed(slot, reason);
    else this.#handlers.onConnectFailed(slot, reason);
  }

  isReading(slot: number): boolean {
    return this.#table.transport[slot] === this.#reading;
  }

  #greet(slot: number, options: ConnectOptions): Buffer {
    this.#authentication.end(slot);
    const { auth } = options;
    const opening = auth === undefined ? {} : this.#authentication.begin(slot, auth);
    return encodeGreeting(options, this.#wire.version, opening);
  }

  /** Tells a broker that breaks the protocol so, as MQTT 5 wants it [MQTT-4.13.1-1]. */
  #leave(slot: number, reasonCode: number): void {
    this.#finish(slot, encodePacket({ type: 'disconnect', reasonCode }, this.#wire.version));
  }

  #finish(slot: number, farewell: Buffer): void {
    const transport = this.#table.transport[slot];
    if (transport === null || transport === undefined) return;
    this.#write(slot, farewell);
    this.#outbox.flush();
    this.#release(slot);
    transport.finish();
    this.#closing.add(transport, monotonicUs());
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
    this.#authentication.end(slot);
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
