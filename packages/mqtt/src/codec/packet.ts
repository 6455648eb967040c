import type { Properties, WillProperties } from './properties/properties.ts';
import type { ProtocolVersion } from './protocol-version.ts';

export type Qos = 0 | 1 | 2;

/** `properties` are MQTT 5 only; read from a packet of version 5 they are there, even if empty. */
interface WithProperties {
  readonly properties?: Properties | undefined;
}

export interface Will {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties?: WillProperties | undefined;
}

export interface ConnectPacket extends WithProperties {
  readonly type: 'connect';
  readonly version: ProtocolVersion;
  readonly clientId: string;
  /** Clean session before MQTT 5. */
  readonly cleanStart: boolean;
  /** s, 0 = off. */
  readonly keepAliveS: number;
  readonly username?: string | undefined;
  readonly password?: Uint8Array | undefined;
  readonly will?: Will | undefined;
}

export interface ConnackPacket extends WithProperties {
  readonly type: 'connack';
  /** Always false in MQTT 3.1, which does not say it. */
  readonly sessionPresent: boolean;
  /** Return code (0–5) before MQTT 5, reason code in it. */
  readonly reasonCode: number;
}

export interface PublishPacket extends WithProperties {
  readonly type: 'publish';
  /** Empty with a topic alias that is known already. */
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly dup: boolean;
  readonly retain: boolean;
  /** 0 at QoS 0. */
  readonly packetId: number;
}

/** PUBACK, PUBREC, PUBREL, PUBCOMP. */
export interface AckPacket extends WithProperties {
  readonly type: 'puback' | 'pubrec' | 'pubrel' | 'pubcomp';
  readonly packetId: number;
  /** Always 0 before MQTT 5. */
  readonly reasonCode: number;
}

export interface Subscription {
  readonly filter: string;
  readonly qos: Qos;
  /** MQTT 5, like the two below. */
  readonly noLocal?: boolean | undefined;
  readonly retainAsPublished?: boolean | undefined;
  /** 0: retained messages at subscribing; 1: only at a new subscription; 2: none. */
  readonly retainHandling?: 0 | 1 | 2 | undefined;
}

export interface SubscribePacket extends WithProperties {
  readonly type: 'subscribe';
  readonly packetId: number;
  readonly subscriptions: readonly Subscription[];
}

export interface SubackPacket extends WithProperties {
  readonly type: 'suback';
  readonly packetId: number;
  /** One a filter: 0, 1, 2 = granted QoS; from 0x80 on refused. */
  readonly reasonCodes: readonly number[];
}

export interface UnsubscribePacket extends WithProperties {
  readonly type: 'unsubscribe';
  readonly packetId: number;
  readonly filters: readonly string[];
}

export interface UnsubackPacket extends WithProperties {
  readonly type: 'unsuback';
  readonly packetId: number;
  /** One a filter; none before MQTT 5. */
  readonly reasonCodes: readonly number[];
}

interface PingPacket {
  readonly type: 'pingreq' | 'pingresp';
}

export interface DisconnectPacket extends WithProperties {
  readonly type: 'disconnect';
  /** Always 0 before MQTT 5. */
  readonly reasonCode: number;
}

/** MQTT 5 only. */
export interface AuthPacket extends WithProperties {
  readonly type: 'auth';
  readonly reasonCode: number;
}

/** Any control packet of any version, as an object: for everything but the way of messages. */
export type Packet =
  | ConnectPacket
  | ConnackPacket
  | PublishPacket
  | AckPacket
  | SubscribePacket
  | SubackPacket
  | UnsubscribePacket
  | UnsubackPacket
  | PingPacket
  | DisconnectPacket
  | AuthPacket;
