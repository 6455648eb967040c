/** Bounds of a plan as a text and as a tree: far above any real plan, far below what could hurt. */
export const MAX_PLAN_CHARACTERS = 4 * 1024 * 1024;
/** Maps and lists inside each other. Real plans have about seven. */
export const MAX_PLAN_DEPTH = 64;
/** Values after aliases are followed: what a few lines of aliases can grow to is bounded. */
export const MAX_PLAN_NODES = 200_000;
/** Problems told at once: nobody reads more. */
export const MAX_PROBLEMS = 100;
/** The stamp has one byte for the stage. */
export const MAX_STAGES = 255;
/** Groups, and streams and subscriptions of all groups: the stamp has two bytes for a stream. */
export const MAX_GROUPS = 1_000;
export const MAX_ENTRIES = 65_535;
/** Client ids that are rendered to look for duplicates; larger groups are judged by their template. */
export const MAX_RENDERED_IDS = 100_000;
/** Longest text in a packet, bytes [MQTT-1.5.3]. */
export const MAX_TEXT_BYTES = 65_535;
/** Longest remaining length of a packet, bytes [MQTT-2.2.3]. */
export const MAX_REMAINING_LENGTH = 268_435_455;
/** Packet ids of one client: more messages cannot be in flight [MQTT-2.3.1]. */
export const MAX_IN_FLIGHT = 65_535;
/** A run longer than this is taken for a typing error: 366 days, µs. */
export const MAX_DURATION_US = 366 * 24 * 3_600_000_000;
/** What a connecting stage may take beyond its ramp, µs. */
export const CONNECT_MARGIN_US = 60_000_000;
/** Default of `limits.maxDuration`, µs; a plan with longer stages gets their length and an hour. */
export const DEFAULT_MAX_DURATION_US = 24 * 3_600_000_000;
export const MAX_DURATION_MARGIN_US = 3_600_000_000;
/** Factors of `--scale` beyond this are typing errors. */
export const MAX_SCALE = 1_000;
/** Steps of one pace: far more than anybody writes by hand. */
export const MAX_STEPS = 1_000;
/** Addresses of one target. */
export const MAX_URLS = 256;
/** Protocols that ALPN offers. */
export const MAX_ALPN = 16;
/** Local addresses of one group. */
export const MAX_SOURCE_ADDRESSES = 1_000;
/** Topics of one stream. */
export const MAX_TOPICS = 10_000;
export const MAX_TOPIC_WEIGHT = 10_000;
/** Messages until the topics of a stream come again in the same order: the sum of their weights. */
export const MAX_TOPIC_ROUND = 100_000;
/** Longest interval in a property, µs: four bytes of seconds [MQTT-3.1.2.11.2]. */
export const MAX_INTERVAL_US = 4_294_967_295_000_000;
/** Session Expiry Interval that never ends, s [MQTT-3.1.2.11.2]. */
export const NEVER_S = 4_294_967_295;
/** All files that a plan names together, bytes, and their number. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024;
export const MAX_FILES = 10_000;

/** Messages in one request to RocketMQ. */
export const MAX_BATCH = 1_024;

/** Messages that one pull may ask a RocketMQ broker for. */
export const MAX_PULL = 1_024;

/** The largest body that RocketMQ brokers take unless told otherwise, bytes. */
export const MAX_ROCKETMQ_BODY = 4_194_304;
