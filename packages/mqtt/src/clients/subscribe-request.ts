import type { Qos } from '../codec/packet.ts';
import type { Properties } from '../codec/properties/properties.ts';

/** One SUBSCRIBE: all filters with the same QoS and options. */
export interface SubscribeRequest {
  /** 1–65,535; of `SUBSCRIBE_PACKET_IDS` where the client publishes at QoS 1 or 2, too. */
  readonly packetId: number;
  readonly filters: readonly string[];
  readonly qos: Qos;
  /** MQTT 5 only, as are all below; false where left out. */
  readonly noLocal?: boolean | undefined;
  readonly retainAsPublished?: boolean | undefined;
  /** 0 where left out: retained messages come at each SUBSCRIBE. */
  readonly retainHandling?: 0 | 1 | 2 | undefined;
  /** 1–268,435,455. */
  readonly identifier?: number | undefined;
  readonly userProperties?: Properties['userProperties'];
}

/** One UNSUBSCRIBE. */
export interface UnsubscribeRequest {
  /** As of `SubscribeRequest`. */
  readonly packetId: number;
  readonly filters: readonly string[];
}
