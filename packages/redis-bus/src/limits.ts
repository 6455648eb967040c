/** Every wait and bound of the Redis bus. Tests shorten the waits, nothing else does. */
export const REDIS_LIMITS = {
  /** From the first packet to the end of the handshake, password included. */
  connectMs: 3_000,
  /** A command without an answer for so long has lost its connection. */
  answerMs: 5_000,
  /** How long one read waits on the server for new frames; it is over at once when some are there. */
  blockMs: 1_000,
  /** Between two attempts to reach a server that is away; doubled from the first to the second. */
  retryMinMs: 100,
  retryMaxMs: 1_000,
  /** Rhythm in which what the checkpoint covers is trimmed and gaps are looked at again. */
  tendMs: 1_000,
  /** Rhythm in which the server itself is looked at: memory, policy, length of the streams. */
  checkMs: 5_000,
  /** From the end of a run: how long its keys are tried to be deleted. The TTL takes what is left. */
  deleteMs: 2_000,
  /**
   * Rhythm in which a sender looks whether what it sent, and no checkpoint has, is there still. A
   * frame that nothing follows would else be missed by nobody.
   */
  verifyMs: 2_000,
  /** Frames of one agent in one read. */
  readFrames: 16,
  /**
   * A key that nobody writes to is gone after this: an agent renews it each second. It outlives any
   * restart of a controller, whose agents give up long before.
   */
  ttlMs: 24 * 60 * 60 * 1000,
  /**
   * Entries of one stream that raise the alarm: an outbox holds 120 frames that no checkpoint has, so
   * twice that means that nothing is trimmed.
   */
  alarmEntries: 240,
  /** Share of `maxmemory` in use that raises the alarm. */
  alarmMemoryShare: 0.9,
  /** How long the last frames of a run are awaited: longer than a restart of Redis takes. */
  patienceUs: 45_000_000,
} as const;

export type RedisLimits = { readonly [K in keyof typeof REDIS_LIMITS]: number };
