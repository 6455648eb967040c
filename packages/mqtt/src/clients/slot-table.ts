// Data path: state of every client, in typed arrays.
import type { Transport } from '../transport/transport.ts';

/** What a slot is doing. */
export const Phase = {
  idle: 0,
  /** Transport not open yet. */
  opening: 1,
  /** CONNECT sent. */
  awaitingConnack: 2,
  connected: 3,
} as const;

/** The clients of a pool, column by column. Moments are µs of CLOCK_MONOTONIC. */
export class SlotTable {
  readonly slots: number;
  readonly transport: (Transport | null)[];
  readonly phase: Uint8Array;
  /** Until when CONNACK must have come. */
  readonly connectDeadlineUs: Float64Array;
  /** 0 = no keep-alive. */
  readonly keepAliveUs: Float64Array;
  readonly lastSentUs: Float64Array;
  /** When the PINGREQ without answer was sent; 0 = none. */
  readonly pingSentUs: Float64Array;
  /** Whether the CONNECT asked for a clean session. */
  readonly cleanStart: Uint8Array;
  /** QoS 2 messages that the client lets its broker leave open [MQTT-3.1.2.11.3]. */
  readonly receiveMaximum: Uint16Array;
  /** CONNECT packets of slots whose transport is not open yet. */
  readonly greeting = new Map<number, Buffer>();

  constructor(slots: number) {
    this.slots = slots;
    this.transport = Array.from({ length: slots }, () => null);
    this.phase = new Uint8Array(slots);
    this.connectDeadlineUs = new Float64Array(slots);
    this.keepAliveUs = new Float64Array(slots);
    this.lastSentUs = new Float64Array(slots);
    this.pingSentUs = new Float64Array(slots);
    this.cleanStart = new Uint8Array(slots);
    this.receiveMaximum = new Uint16Array(slots);
  }
}
