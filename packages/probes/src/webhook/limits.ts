/** Bytes of one request's body, where nobody says otherwise. */
export const BODY_LIMIT = 1024 * 1024;
/** Runs whose messages are told apart; those of further ones are foreign. */
export const MAX_RUNS = 16;
/** How deep arrays and `payload` members may lie in each other. */
export const MAX_DEPTH = 4;
/** How long requests under way may take once the receiver is told to end, ms. */
export const GOODBYE_MS = 2_000;
/** A request that takes longer to come in is cut off, ms. */
export const REQUEST_MS = 60_000;
/** Connections that wait to be taken. */
export const BACKLOG = 4_096;
