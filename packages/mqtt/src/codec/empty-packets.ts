import { PacketType } from './packet-type.ts';

/** Packets without a body [MQTT-3.12, 3.14]. */
export const PINGREQ = Buffer.from([PacketType.pingreq << 4, 0]);
export const DISCONNECT = Buffer.from([PacketType.disconnect << 4, 0]);
