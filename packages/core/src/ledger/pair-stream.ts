// Data path: of what a pair's `stream` is made.
/**
 * Where each subscribe entry of a client is a receiver of its own, the entry's number in the group
 * stands above the 16 bits of the stream, from 1 on; elsewhere there is 0.
 */
const STREAM_BITS = 16;
const STREAM_MASK = 0xffff;

export function entryStream(stream: number, entry: number): number {
  return stream | ((entry + 1) << STREAM_BITS);
}

export function streamIn(pairStream: number): number {
  return pairStream & STREAM_MASK;
}

/** The entry in its group; -1 where the pair is of all of them. */
export function entryIn(pairStream: number): number {
  return (pairStream >>> STREAM_BITS) - 1;
}
