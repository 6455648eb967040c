/** Control packet types, the upper four bits of a packet's first byte [MQTT-2.2.1]. */
export const PacketType = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  suback: 9,
  unsubscribe: 10,
  unsuback: 11,
  pingreq: 12,
  pingresp: 13,
  disconnect: 14,
  /** MQTT 5 only. */
  auth: 15,
} as const;

export type PacketName = keyof typeof PacketType;
