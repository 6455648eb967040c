/** Bounds of what the REST API takes. */

/** Longest body, bytes. A plan has at most four million characters of three bytes each. */
export const BODY_LIMIT_BYTES = 16 * 1024 * 1024;
/** Of a run that is asked for: with the files of its plan, a third larger in base64. */
export const RUN_BODY_LIMIT_BYTES = 64 * 1024 * 1024;
export const MAX_FILE_NAME_LENGTH = 4_096;

/** Streams of events that are open at a time. */
export const MAX_STREAMS = 500;

/** Bytes that wait for a reader of events; one that is slower than this is cut off, and may resume. */
export const MAX_STREAM_BACKLOG_BYTES = 1024 * 1024;

/** A comment goes over a silent stream this often, so that nothing between takes it for dead. */
export const STREAM_COMMENT_MS = 15_000;

/** Longest wait for a run to change. */
export const MAX_WAIT_US = 300_000_000;

export const MAX_LABELS = 64;
export const MAX_LABEL_LENGTH = 256;
export const MAX_NOTES_LENGTH = 20_000;
export const MAX_KEY_LENGTH = 255;

/** When to come back to a controller that is busy, s. */
export const RETRY_AFTER_S = 5;
