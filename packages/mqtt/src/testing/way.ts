import type { PacketName } from '../codec/packet-type.ts';

/**
 * What a packet is to whoever looks at the traffic between clients and a broker: the same PUBLISH is a
 * message on its way to the broker or to a subscriber, and each step of its handshake goes back.
 */
export type Way =
  | 'connect'
  | 'connack'
  | 'toBroker'
  | 'toSubscriber'
  | 'ackToPublisher'
  | 'ackToBroker'
  | 'recToPublisher'
  | 'recToBroker'
  | 'relToBroker'
  | 'relToSubscriber'
  | 'compToPublisher'
  | 'compToBroker'
  | 'subscribe'
  | 'suback'
  | 'unsubscribe'
  | 'unsuback'
  | 'pingreq'
  | 'pingresp'
  | 'disconnectToBroker'
  | 'disconnectToClient'
  | 'authToBroker'
  | 'authToClient';

export type Direction = 'toBroker' | 'toClient';

const WAYS: Readonly<Record<Direction, Partial<Record<PacketName, Way>>>> = {
  toBroker: {
    connect: 'connect',
    publish: 'toBroker',
    puback: 'ackToBroker',
    pubrec: 'recToBroker',
    pubrel: 'relToBroker',
    pubcomp: 'compToBroker',
    subscribe: 'subscribe',
    unsubscribe: 'unsubscribe',
    pingreq: 'pingreq',
    disconnect: 'disconnectToBroker',
    auth: 'authToBroker',
  },
  toClient: {
    connack: 'connack',
    publish: 'toSubscriber',
    puback: 'ackToPublisher',
    pubrec: 'recToPublisher',
    pubrel: 'relToSubscriber',
    pubcomp: 'compToPublisher',
    suback: 'suback',
    unsuback: 'unsuback',
    pingresp: 'pingresp',
    disconnect: 'disconnectToClient',
    auth: 'authToClient',
  },
};

/** Null for a packet that nobody sends in this direction. */
export function wayOf(direction: Direction, name: PacketName): Way | null {
  return WAYS[direction][name] ?? null;
}
