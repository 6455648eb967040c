// Data path: of groups whose clients are taken over, every call and event passes here.
import {
  AS_ASKED,
  type ClientHandlers,
  type ConnectOptions,
  type InboundPublish,
  type InboundSuback,
  type MqttClients,
  type MqttClientsOptions,
  type PublishMessage,
  type ScramCredentials,
  type SubscribeRequest,
  type UnsubscribeRequest,
} from '@squall/mqtt';
import { at } from '../element.ts';

/** What becomes of takeovers, beside what happens to connections anyway. */
export interface TakeoverListener {
  /**
   * The connection that a takeover is replacing is over: ended by the broker, or (reason null) still
   * there though the new one is accepted; then `onOldClosed` follows.
   */
  onSuperseded(position: number, reason: string | null): void;
  /** The new connection is the client's connection from here on. */
  onTakenOver(position: number, sessionPresent: boolean): void;
  /** The new connection came to nothing; the old one may be gone, too. */
  onTakeoverFailed(position: number, reason: string): void;
  /** The broker ended the old connection after it had accepted the new one. */
  onOldClosed(position: number, reason: string): void;
  /** It did not within the time-out, so it was closed from here. */
  onOldStays(position: number): void;
}

type Create = (options: MqttClientsOptions) => MqttClients;

/**
 * Clients that can connect by their id while they are connected. Each has two slots of the clients
 * below, of which one is its connection; a takeover uses the other one. To the outside they are
 * ordinary clients, addressed by position.
 */
export class TakeoverClients implements MqttClients, ClientHandlers {
  readonly limits: MqttClients['limits'];
  readonly #base: MqttClients;
  readonly #count: number;
  readonly #handlers: ClientHandlers;
  readonly #listener: TakeoverListener;
  /** Added to a position it gives the slot of the client's connection: 0 or `#count`. */
  readonly #offset: Uint32Array;
  /** 1 while a takeover is under way. */
  readonly #pending: Uint8Array;
  /** When the old connection should have been ended, µs; 0 where none is waited for. */
  readonly #lingerUs: Float64Array;
  #lingering = 0;

  constructor(options: MqttClientsOptions, create: Create, listener: TakeoverListener) {
    const count = options.slots;
    this.#count = count;
    this.#handlers = options.handlers;
    this.#listener = listener;
    this.#offset = new Uint32Array(count);
    this.#pending = new Uint8Array(count);
    this.#lingerUs = new Float64Array(count);
    this.limits = {
      isTight: new Uint8Array(count),
      receiveMaximum: new Uint16Array(count).fill(0xffff),
      sessionExpiryS: new Float64Array(count).fill(AS_ASKED),
    };
    this.#base = create({ ...options, slots: count * 2, handlers: this });
  }

  /** Connects a connected client once more. Throws as `connect` does. */
  takeOver(position: number, options: ConnectOptions): void {
    const other = this.#other(position);
    // What lingers of an earlier takeover has had its time.
    this.#forgetOld(position);
    this.#base.connect(other, options);
    this.#pending[position] = 1;
  }

  /** Gives up waiting for brokers to end old connections. */
  scan(nowUs: number, timeoutUs: number): void {
    if (this.#lingering === 0) return;
    for (let position = 0; position < this.#count; position++) {
      const sinceUs = at(this.#lingerUs, position);
      if (sinceUs === 0 || nowUs - sinceUs < timeoutUs) continue;
      this.#forgetOld(position);
      this.#listener.onOldStays(position);
    }
  }

  /** Old connections that the broker is to end. */
  get lingering(): number {
    return this.#lingering;
  }

  connect(position: number, options: ConnectOptions): void {
    this.#base.connect(this.#slot(position), options);
  }

  publish(position: number, message: PublishMessage): void {
    this.#base.publish(this.#slot(position), message);
  }

  publishRefusal(position: number, message: PublishMessage): string | null {
    return this.#base.publishRefusal(this.#slot(position), message);
  }

  release(position: number, packetId: number): void {
    this.#base.release(this.#slot(position), packetId);
  }

  subscribe(position: number, request: SubscribeRequest): string | null {
    return this.#base.subscribe(this.#slot(position), request);
  }

  unsubscribe(position: number, request: UnsubscribeRequest): void {
    this.#base.unsubscribe(this.#slot(position), request);
  }

  reauthenticate(position: number, credentials: ScramCredentials, done: () => void): void {
    this.#base.reauthenticate(this.#slot(position), credentials, done);
  }

  moveSession(from: number, to: number): void {
    this.#base.moveSession(this.#slot(from), this.#slot(to));
  }

  assignedClientId(position: number): string | null {
    return this.#base.assignedClientId(this.#slot(position));
  }

  flush(): void {
    this.#base.flush();
  }

  disconnect(position: number): void {
    this.#abandon(position);
    this.#base.disconnect(this.#slot(position));
  }

  destroy(position: number): void {
    this.#abandon(position);
    this.#base.destroy(this.#slot(position));
  }

  reset(position: number): void {
    this.#abandon(position);
    this.#base.reset(this.#slot(position));
  }

  isConnected(position: number): boolean {
    return this.#base.isConnected(this.#slot(position));
  }

  isIdle(position: number): boolean {
    return this.#base.isIdle(this.#slot(position));
  }

  writableLength(position: number): number {
    return this.#base.writableLength(this.#slot(position));
  }

  get momentUs(): Float64Array {
    return this.#base.momentUs;
  }

  get wireSent(): number {
    return this.#base.wireSent;
  }

  get wireReceived(): number {
    return this.#base.wireReceived;
  }

  get connectedCount(): number {
    return this.#base.connectedCount;
  }

  get closingCount(): number {
    return this.#base.closingCount;
  }

  close(): void {
    this.#base.close();
  }

  // What happens to the slots below.

  onConnected(slot: number, sessionPresent: boolean): void {
    const position = slot % this.#count;
    this.limits.isTight[position] = at(this.#base.limits.isTight, slot);
    this.limits.receiveMaximum[position] = at(this.#base.limits.receiveMaximum, slot);
    this.limits.sessionExpiryS[position] = at(this.#base.limits.sessionExpiryS, slot);
    if (slot === this.#slot(position)) {
      this.#handlers.onConnected(position, sessionPresent);
      return;
    }
    const oldStays = this.#base.isConnected(this.#slot(position));
    if (oldStays) this.#listener.onSuperseded(position, null);
    this.#pending[position] = 0;
    if (sessionPresent) this.#base.moveSession(this.#slot(position), slot);
    this.#offset[position] = slot - position;
    if (oldStays) {
      this.#lingerUs[position] = at(this.momentUs, 0);
      this.#lingering += 1;
    }
    this.#listener.onTakenOver(position, sessionPresent);
  }

  onConnectFailed(slot: number, reason: string): void {
    const position = slot % this.#count;
    if (slot === this.#slot(position)) {
      this.#handlers.onConnectFailed(position, reason);
      return;
    }
    this.#pending[position] = 0;
    this.#listener.onTakeoverFailed(position, reason);
  }

  onClosed(slot: number, reason: string): void {
    const position = slot % this.#count;
    if (slot !== this.#slot(position)) {
      this.#forgetOld(position);
      this.#listener.onOldClosed(position, reason);
    } else if (at(this.#pending, position) === 1) {
      this.#listener.onSuperseded(position, reason);
    } else {
      this.#handlers.onClosed(position, reason);
    }
  }

  onPuback(slot: number, packetId: number, reasonCode: number): void {
    if (this.#isCurrent(slot)) this.#handlers.onPuback(slot % this.#count, packetId, reasonCode);
  }

  onPubrec(slot: number, packetId: number, reasonCode: number): boolean {
    if (!this.#isCurrent(slot)) return true;
    return this.#handlers.onPubrec(slot % this.#count, packetId, reasonCode);
  }

  onPubcomp(slot: number, packetId: number, reasonCode: number): void {
    if (this.#isCurrent(slot)) this.#handlers.onPubcomp(slot % this.#count, packetId, reasonCode);
  }

  onSuback(slot: number, suback: InboundSuback): void {
    if (this.#isCurrent(slot)) this.#handlers.onSuback(slot % this.#count, suback);
  }

  onUnsuback(slot: number, unsuback: InboundSuback): void {
    if (this.#isCurrent(slot)) this.#handlers.onUnsuback(slot % this.#count, unsuback);
  }

  /** What the broker delivered is delivered, by whichever connection it came. */
  onPublish(slot: number, publish: InboundPublish): void {
    this.#handlers.onPublish(slot % this.#count, publish);
  }

  onDrained(slot: number): void {
    if (this.#isCurrent(slot)) this.#handlers.onDrained(slot % this.#count);
  }

  #slot(position: number): number {
    return position + at(this.#offset, position);
  }

  #other(position: number): number {
    return position + this.#count - at(this.#offset, position);
  }

  #isCurrent(slot: number): boolean {
    return slot === this.#slot(slot % this.#count);
  }

  /** The client goes: what is under way beside its connection goes first. */
  #abandon(position: number): void {
    this.#pending[position] = 0;
    this.#forgetOld(position);
  }

  #forgetOld(position: number): void {
    this.#base.destroy(this.#other(position));
    if (at(this.#lingerUs, position) === 0) return;
    this.#lingerUs[position] = 0;
    this.#lingering -= 1;
  }
}
