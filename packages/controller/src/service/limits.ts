/** Bounds of what the service keeps and lets others ask of it. */

/** Runs that wait for agents; another is refused. */
export const MAX_WAITING_RUNS = 100;

/** Events of a run that can be read again; older ones are given up. */
export const MAX_EVENTS = 2_000;

/** Runs that are over whose events stay readable, the newest. */
export const MAX_ENDED_LOGS = 20;

/** Reads of plans at a time, and those that wait for their turn. */
export const MAX_READERS = 2;
export const MAX_WAITING_READS = 32;

/** A plan that takes longer to read was made to do harm, even on a busy machine: 32 MiB of CSV take 2 s. */
export const READ_TIMEOUT_MS = 30_000;

/** Heap of one read, MB. */
export const READ_MEMORY_MB = 512;

/** Requests that wait for a run to change, over all runs. */
export const MAX_WAITS = 1_000;

/** From one attempt to write the end of a run to the next, µs. */
export const RETRY_US = 10_000_000;

/** Ended runs that wait for a store that does not take them; then the oldest is given up. */
export const MAX_UNSAVED_RUNS = 100;

/** From one purge of the store to the next, µs. */
export const PURGE_EVERY_US = 3_600_000_000;

/** How long an idempotency key is remembered, ms. */
export const KEY_LIFE_MS = 24 * 3_600_000;

/** Points that one answer about a time line may have, over all its curves. */
export const MAX_POINTS = 2_000_000;

/** Entries of one page. */
export const MAX_PAGE = 500;
export const DEFAULT_PAGE = 50;
