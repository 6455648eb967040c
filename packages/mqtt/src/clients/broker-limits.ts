// Data path: one look at `isTight` a message of MQTT 5.
import { element } from '../codec/bytes.ts';
import type { Properties } from '../codec/properties/properties.ts';
import { reasonCodeName } from '../codec/reason-code.ts';
import type { SubscribeRequest } from './subscribe-request.ts';

/** Messages in flight where a broker names no receive maximum [MQTT-3.2.2.3.3]. */
const RECEIVE_MAXIMUM = 65_535;

/** `sessionExpiryS`: the broker does not say another one [MQTT-3.2.2.3.2]. */
export const AS_ASKED = -1;

const NO_RETAIN = 1;
const NO_WILDCARD = 2;
const NO_IDENTIFIER = 4;
const NO_SHARED = 8;

/**
 * What each client's broker said in CONNACK that it does not do [MQTT-3.2.2.3]: until then, and
 * before MQTT 5, everything goes. Texts are of the catalogue of reasons.
 */
export class BrokerLimits {
  /** Messages of QoS 1 and 2 that a client may have in flight, 1–65,535. */
  readonly receiveMaximum: Uint16Array;
  /** Session Expiry Interval that the broker keeps to, s; `AS_ASKED`: what CONNECT says. */
  readonly sessionExpiryS: Float64Array;
  /** 1 where `publishRefusal` may refuse something. */
  readonly isTight: Uint8Array;
  /** Bytes of a packet; 0 = any. */
  readonly #packetBytes: Uint32Array;
  readonly #maximumQos: Uint8Array;
  /** The bits above. */
  readonly #lacks: Uint8Array;

  constructor(slots: number) {
    this.receiveMaximum = new Uint16Array(slots).fill(RECEIVE_MAXIMUM);
    this.sessionExpiryS = new Float64Array(slots).fill(AS_ASKED);
    this.isTight = new Uint8Array(slots);
    this.#packetBytes = new Uint32Array(slots);
    this.#maximumQos = new Uint8Array(slots).fill(2);
    this.#lacks = new Uint8Array(slots);
  }

  /** Takes what a CONNACK says; what it leaves out is as the specification has it. */
  take(slot: number, connack: Properties): void {
    const { maximumQos = 2, maximumPacketSize = 0, receiveMaximum = RECEIVE_MAXIMUM } = connack;
    const lacks =
      (connack.retainAvailable === false ? NO_RETAIN : 0) |
      (connack.wildcardSubscriptionAvailable === false ? NO_WILDCARD : 0) |
      (connack.subscriptionIdentifierAvailable === false ? NO_IDENTIFIER : 0) |
      (connack.sharedSubscriptionAvailable === false ? NO_SHARED : 0);
    this.receiveMaximum[slot] = receiveMaximum;
    this.sessionExpiryS[slot] = connack.sessionExpiryInterval ?? AS_ASKED;
    this.#maximumQos[slot] = maximumQos;
    this.#packetBytes[slot] = maximumPacketSize;
    this.#lacks[slot] = lacks;
    const isTight = maximumQos < 2 || maximumPacketSize > 0 || (lacks & NO_RETAIN) !== 0;
    this.isTight[slot] = isTight ? 1 : 0;
  }

  /** Why the broker would not take such a message, or null. */
  publishRefusal(slot: number, message: { qos: number; retain: boolean }, size: number) {
    const packetBytes = element(this.#packetBytes, slot);
    if (message.qos > element(this.#maximumQos, slot)) return QOS_NOT_SUPPORTED;
    if (message.retain && this.#lack(slot, NO_RETAIN)) return RETAIN_NOT_SUPPORTED;
    return packetBytes !== 0 && size > packetBytes ? PACKET_TOO_LARGE_FOR_BROKER : null;
  }

  /** Why the broker would not take such a SUBSCRIBE of `size` bytes, or null. */
  subscribeRefusal(slot: number, request: SubscribeRequest, size: number): string | null {
    const packetBytes = element(this.#packetBytes, slot);
    if (packetBytes !== 0 && size > packetBytes) return PACKET_TOO_LARGE_FOR_BROKER;
    if (this.#lack(slot, NO_IDENTIFIER) && request.identifier !== undefined) return NO_IDENTIFIERS;
    if (this.#lack(slot, NO_SHARED) && request.filters.some((each) => each.startsWith('$share/'))) {
      return NO_SHARED_SUBSCRIPTIONS;
    }
    const isWild = request.filters.some((each) => /[#+]/.test(each));
    return isWild && this.#lack(slot, NO_WILDCARD) ? NO_WILDCARDS : null;
  }

  #lack(slot: number, bit: number): boolean {
    return (element(this.#lacks, slot) & bit) !== 0;
  }
}

/** Texts say "the broker’s limit", since the client keeps to it without asking. */
const BY_LIMIT = 'by the limits in CONNACK: ';
const QOS_NOT_SUPPORTED = `${BY_LIMIT}${reasonCodeName(0x9b)}`;
const RETAIN_NOT_SUPPORTED = `${BY_LIMIT}${reasonCodeName(0x9a)}`;
const PACKET_TOO_LARGE_FOR_BROKER = `${BY_LIMIT}${reasonCodeName(0x95)}`;
const NO_IDENTIFIERS = `${BY_LIMIT}${reasonCodeName(0xa1)}`;
const NO_SHARED_SUBSCRIPTIONS = `${BY_LIMIT}${reasonCodeName(0x9e)}`;
const NO_WILDCARDS = `${BY_LIMIT}${reasonCodeName(0xa2)}`;

export const PUBLISH_LIMITS: readonly string[] = [
  QOS_NOT_SUPPORTED,
  RETAIN_NOT_SUPPORTED,
  PACKET_TOO_LARGE_FOR_BROKER,
];
export const SUBSCRIBE_LIMITS: readonly string[] = [
  PACKET_TOO_LARGE_FOR_BROKER,
  NO_IDENTIFIERS,
  NO_SHARED_SUBSCRIPTIONS,
  NO_WILDCARDS,
];
