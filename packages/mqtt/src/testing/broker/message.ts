import type { PublishPacket, Qos } from '../../codec/packet.ts';
import type { Properties } from '../../codec/properties/properties.ts';

/** An application message, as the broker has it between publisher and subscribers. */
export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly retain: boolean;
  /** Without what is of one connection alone. */
  readonly properties: Properties;
}

export function messageOf(packet: PublishPacket, topic: string): Message {
  const { payload, qos, retain } = packet;
  const {
    topicAlias: _alias,
    subscriptionIdentifiers: _ids,
    ...properties
  } = packet.properties ?? {};
  return { topic, payload, qos, retain, properties };
}

/** What goes to one subscriber. */
export interface Outgoing extends Message {
  /** Whether no fault may befall it: it is itself the work of one. */
  readonly pastFaults: boolean;
}

export function lowerQos(a: Qos, b: Qos): Qos {
  return a < b ? a : b;
}
