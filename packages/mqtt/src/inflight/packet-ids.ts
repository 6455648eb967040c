/**
 * How the 65,535 packet ids of a connection [MQTT-2.3.1-1] are shared out: the top ones are for
 * SUBSCRIBE, the rest for PUBLISH (the in-flight table), so the two never collide.
 */
export const PUBLISH_PACKET_ID_MAX = 65_519;

/** Packet ids for SUBSCRIBE: `first` … `last`, free for the caller to use as it likes. */
export const SUBSCRIBE_PACKET_IDS = { first: 65_520, last: 65_535 } as const;
