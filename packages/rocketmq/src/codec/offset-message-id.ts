/** Commit-log position at the end of an offset message id: 16 hex digits, whatever the address. */
const OFFSET_DIGITS = 16;

/**
 * Where a message lies in its broker's commit log, out of the id that a send answer gives (store
 * address, then position; 32 hex digits, 56 with IPv6). Null where the text is no such id.
 */
export function commitLogOffset(messageId: string): number | null {
  if (!/^(?:[\dA-Fa-f]{32}|[\dA-Fa-f]{56})$/.test(messageId)) return null;
  const offset = Number.parseInt(messageId.slice(-OFFSET_DIGITS), 16);
  return Number.isSafeInteger(offset) ? offset : null;
}
