/**
 * The named limits of a worker process. Everything that waits, grows or loops stands here with its
 * bound; what goes beyond is counted under a reason.
 */

/** One tick of the load, ms: the finest step of Node's timers. */
export const TICK_MS = 1;

/** Nothing due for longer than this, µs: the worker sleeps instead of ticking. */
export const SLEEP_FROM_US = 4_000;

/** Ticks before it is asked again whether there is anything to stay awake for. */
export const TICKS_A_LOOK = 8;

/** The longest sleep, ms: a bound against a lost wake-up, not a rhythm. */
export const SLEEP_MAX_MS = 1_000;

/** How often time-outs (acknowledgements, SUBACKs) are looked for, µs. */
export const SCAN_US = 250_000;

/** A socket with more unsent payload than this, bytes, counts as a full window. */
export const UNSENT_LIMIT_BYTES = 64 * 1024;

/** Connection attempts of one group that may be open at the same time in one worker. */
export const MAX_CONNECTING = 1_000;

/** Messages that closed loops hand over in one tick before sockets are read again. */
export const CLOSED_LOOP_BURST = 2_000;

/** Remembered ticks of a stream, for the time at which a waiting message was picked up. */
export const PICK_HISTORY = 16_384;

/** A boundary met this late, µs, is a stall: what follows it is not booked before it. */
export const STALL_US = 10_000;

/** Distinct reasons a series may have in one slice; further ones are booked as `OTHER_REASONS`. */
export const MAX_REASONS = 64;

/** Descriptors that a worker keeps for itself: IPC, standard streams, timers, files. */
export const RESERVED_DESCRIPTORS = 64;

/** Stages a plan may have: a stage's index is one byte in the stamp. */
export const MAX_STAGES = 255;

/**
 * TLS contexts that are kept, one a pair of certificate and key: more clients with pairs of their
 * own read theirs again for each connection.
 */
export const TLS_CONTEXTS_MAX = 10_000;

/** Topics that are rendered before the load where a stream has several; beyond it, as they are sent. */
export const TOPICS_HELD_MAX = 1_000_000;

/** Requests of one stream and stage that wait for an answer in one worker. */
export const MAX_OPEN_REQUESTS = 4_194_304;

/** Answers of one entry that are thought about at the same time in one worker. */
export const MAX_WAITING_ANSWERS = 100_000;

/** Unacknowledged answers a client (QoS 1 and 2); what goes beyond is dropped. */
export const ANSWERS_IN_FLIGHT = 32;

/** How long closing connections may take after `finish`, ms. */
export const FINISH_LINGER_MS = 300;

/** How long a batch that is not full waits for further messages of its client, µs. */
export const BATCH_LINGER_US = 10_000;

/** Senders ask again after this time where a broker took no request, µs. */
export const REFUSED_PAUSE_US = 10_000;

/** What is asked of RocketMQ brokers at the end of the load takes at most this long, ms. */
export const LAST_DUTIES_MS = 4_000;

/** How long the offsets of brokers may lag behind their acknowledgements, ms. */
export const OFFSETS_LAG_MS = 1_000;
