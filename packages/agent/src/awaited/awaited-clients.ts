import { setTimeout as delay } from 'node:timers/promises';
import {
  type ClientHandlers,
  type ConnectOptions,
  createMqttClients,
  FIRST_FAILURE_CODE,
  type InboundPublish,
  type InboundSuback,
  type MqttClients,
  type ProtocolVersion,
  type PublishMessage,
  reasonCodeName,
  subackFailure,
  type SubscribeRequest,
} from '@squall/mqtt';

/** What came of one step: what it gave, or why it failed. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** A message as it came in, copied. */
export interface Arrival {
  readonly slot: number;
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: number;
  readonly retain: boolean;
}

export interface AwaitedClientsOptions {
  readonly slots: number;
  readonly version: ProtocolVersion;
  /** For each answer but that to CONNECT, whose time-out stands in its options. */
  readonly answerMs: number;
  /** Once aborted, no step waits any more: each fails, those under way and those to come. */
  readonly signal?: AbortSignal | undefined;
  onMessage(arrival: Arrival): void;
}

/** For the broker to see DISCONNECT and close its side. */
const LINGER_MS = 500;
const POLL_MS = 10;

interface Pending {
  readonly resolve: (outcome: Outcome<number[]>) => void;
  readonly timer: NodeJS.Timeout;
}

/** Why a step failed that the broker did not answer. */
export const TIMED_OUT = 'no answer within the time-out';
const CUT_OFF = { ok: false, reason: 'cut off' } as const;

/**
 * The clients of the load, for a few of them: each step can be awaited, and none throws. One step of
 * a kind at a time for each slot.
 */
export class AwaitedClients implements ClientHandlers {
  readonly #options: AwaitedClientsOptions;
  readonly #clients: MqttClients;
  readonly #connecting = new Map<number, (outcome: Outcome<boolean>) => void>();
  /** By slot and packet id. */
  readonly #pending = new Map<string, Pending>();
  readonly #packetIds: Uint16Array;
  /** Why a connection ended that nobody ended here, by slot. */
  readonly #lost = new Map<number, string>();

  constructor(options: AwaitedClientsOptions) {
    const { slots, version } = options;
    this.#options = options;
    this.#packetIds = new Uint16Array(slots);
    this.#clients = createMqttClients({ slots, version, handlers: this });
    options.signal?.addEventListener('abort', this.#giveUp, { once: true });
  }

  /** Gives whether the broker had a session of the client. */
  connect(slot: number, options: ConnectOptions): Promise<Outcome<boolean>> {
    this.#lost.delete(slot);
    if (this.#isCutOff) return Promise.resolve(CUT_OFF);
    return new Promise((resolve) => {
      this.#connecting.set(slot, resolve);
      try {
        this.#clients.connect(slot, options);
      } catch (error) {
        this.#connecting.delete(slot);
        resolve({ ok: false, reason: error instanceof Error ? error.message : String(error) });
      }
    });
  }

  /** Gives the granted QoS of each filter; fails with the first refusal. */
  async subscribe(
    slot: number,
    request: Omit<SubscribeRequest, 'packetId'>,
  ): Promise<Outcome<number[]>> {
    const packetId = this.#nextId(slot);
    const answer = await this.#answer(slot, packetId, () =>
      this.#clients.subscribe(slot, { ...request, packetId }),
    );
    if (!answer.ok) return answer;
    const at = answer.value.findIndex((code) => code >= FIRST_FAILURE_CODE);
    if (at < 0) return answer;
    const why = subackFailure(answer.value[at] ?? 0, this.#options.version) ?? '';
    return { ok: false, reason: `${request.filters[at] ?? ''}: ${why}` };
  }

  /** Resolves with the broker's acknowledgement; at QoS 0 when it was handed over. */
  async publish(slot: number, message: PublishMessage): Promise<Outcome<null>> {
    const packetId = message.qos === 0 ? 0 : this.#nextId(slot);
    const send = () => {
      const refusal = this.#clients.publishRefusal(slot, message);
      if (refusal === null) this.#clients.publish(slot, Object.assign(message, { packetId }));
      return refusal;
    };
    if (message.qos === 0) return this.#handOver(slot, send);
    const answer = await this.#answer(slot, packetId, send);
    if (!answer.ok) return answer;
    const [code = 0] = answer.value;
    if (code < FIRST_FAILURE_CODE) return { ok: true, value: null };
    return { ok: false, reason: reasonCodeName(code) };
  }

  disconnect(slot: number): void {
    this.#clients.disconnect(slot);
  }

  isConnected(slot: number): boolean {
    return this.#clients.isConnected(slot);
  }

  /** Why the connection is gone, or null while it is there. */
  lostBy(slot: number): string | null {
    return this.#lost.get(slot) ?? null;
  }

  /** Disconnects every client, sees their last bytes off for a moment, and closes. */
  async end(): Promise<void> {
    for (let slot = 0; slot < this.#options.slots; slot++) this.#clients.disconnect(slot);
    const deadlineMs = performance.now() + LINGER_MS;
    const isClosing = () => this.#clients.closingCount > 0 && !this.#isCutOff;
    while (isClosing() && performance.now() < deadlineMs) await delay(POLL_MS);
    this.#options.signal?.removeEventListener('abort', this.#giveUp);
    this.#clients.close();
    for (const { resolve, timer } of this.#pending.values()) {
      clearTimeout(timer);
      resolve({ ok: false, reason: 'closed' });
    }
  }

  /** Client id that the broker gave to a client without one. */
  assignedClientId(slot: number): string | null {
    return this.#clients.assignedClientId(slot);
  }

  // What the clients tell.

  onConnected(slot: number, sessionPresent: boolean): void {
    this.#connected(slot, { ok: true, value: sessionPresent });
  }

  onConnectFailed(slot: number, reason: string): void {
    this.#connected(slot, { ok: false, reason });
  }

  onClosed(slot: number, reason: string): void {
    this.#lost.set(slot, reason);
    for (const [key, { resolve, timer }] of this.#pending) {
      if (!key.startsWith(`${slot}/`)) continue;
      clearTimeout(timer);
      this.#pending.delete(key);
      resolve({ ok: false, reason: `connection lost: ${reason}` });
    }
  }

  onPuback(slot: number, packetId: number, reasonCode: number): void {
    this.#settle(slot, packetId, [reasonCode]);
  }

  onPubrec(slot: number, packetId: number, reasonCode: number): boolean {
    if (reasonCode >= FIRST_FAILURE_CODE) this.#settle(slot, packetId, [reasonCode]);
    return true;
  }

  onPubcomp(slot: number, packetId: number): void {
    this.#settle(slot, packetId, [0]);
  }

  onSuback(slot: number, { packetId, bytes, codesAt, codesLength }: InboundSuback): void {
    this.#settle(slot, packetId, [...bytes.subarray(codesAt, codesAt + codesLength)]);
  }

  onUnsuback(): void {
    // Nobody unsubscribes here.
  }

  onPublish(slot: number, publish: InboundPublish): void {
    const { bytes, topicBytes, topicAt, topicLength, payloadAt, payloadLength } = publish;
    this.#options.onMessage({
      slot,
      topic: topicBytes.toString('utf8', topicAt, topicAt + topicLength),
      payload: Buffer.from(bytes.subarray(payloadAt, payloadAt + payloadLength)),
      qos: publish.qos,
      retain: publish.retain,
    });
  }

  onDrained(): void {
    // Few messages: nobody waits for room.
  }

  get #isCutOff(): boolean {
    return this.#options.signal?.aborted === true;
  }

  readonly #giveUp = (): void => {
    for (const resolve of this.#connecting.values()) resolve(CUT_OFF);
    this.#connecting.clear();
    for (const { resolve, timer } of this.#pending.values()) {
      clearTimeout(timer);
      resolve(CUT_OFF);
    }
    this.#pending.clear();
  };

  #connected(slot: number, outcome: Outcome<boolean>): void {
    this.#connecting.get(slot)?.(outcome);
    this.#connecting.delete(slot);
  }

  #handOver(slot: number, send: () => string | null): Outcome<null> {
    if (!this.#clients.isConnected(slot)) return this.#absent(slot);
    const refusal = send();
    this.#clients.flush();
    return refusal === null ? { ok: true, value: null } : { ok: false, reason: refusal };
  }

  /** Sends, and waits for what answers with this packet id. */
  #answer(slot: number, packetId: number, send: () => string | null): Promise<Outcome<number[]>> {
    if (this.#isCutOff) return Promise.resolve(CUT_OFF);
    if (!this.#clients.isConnected(slot)) return Promise.resolve(this.#absent(slot));
    return new Promise((resolve) => {
      const key = `${slot}/${packetId}`;
      const timer = setTimeout(() => {
        this.#pending.delete(key);
        resolve({ ok: false, reason: TIMED_OUT });
      }, this.#options.answerMs);
      this.#pending.set(key, { resolve, timer });
      const refusal = send();
      if (refusal !== null) {
        clearTimeout(timer);
        this.#pending.delete(key);
        resolve({ ok: false, reason: refusal });
        return;
      }
      this.#clients.flush();
    });
  }

  #absent(slot: number): { ok: false; reason: string } {
    return { ok: false, reason: `connection lost: ${this.#lost.get(slot) ?? 'never made'}` };
  }

  #settle(slot: number, packetId: number, codes: number[]): void {
    const key = `${slot}/${packetId}`;
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    clearTimeout(pending.timer);
    this.#pending.delete(key);
    pending.resolve({ ok: true, value: codes });
  }

  #nextId(slot: number): number {
    const id = ((this.#packetIds[slot] ?? 0) % 0xff_ff) + 1;
    this.#packetIds[slot] = id;
    return id;
  }
}
