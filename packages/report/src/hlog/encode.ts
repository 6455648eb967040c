import { deflateSync } from 'node:zlib';

/**
 * A histogram in the compressed V2 form of HdrHistogram, base64. It begins with a cookie, which tells
 * the version and that counts are variable-length words, then the length of what is deflated.
 */
const V2_COOKIE = 0x1c84_9303;
const V2_COMPRESSED_COOKIE = 0x1c84_9304;
/** Counts come as ZigZag words of LEB128. */
const WORD_SIZE_OF_V2 = 0x10;
const DIGITS = 3;
const HEADER_BYTES = 40;
const HEADER_AFTER_COOKIE_BYTES = 8;
/** Counts above are more than any histogram of ours holds. */
const MAX_WORD_BYTES = 9;

export interface HdrCounts {
  /** Bucket of the layout of HdrHistogram (unit 1, three digits) and count, by rising bucket. */
  readonly buckets: readonly (readonly [index: number, count: number])[];
  readonly highestTrackable: number;
}

/** @returns the payload column of a line of a histogram log. */
export function encodeHdr({ buckets, highestTrackable }: HdrCounts): string {
  const counts = encodeCounts(buckets);
  const body = Buffer.alloc(HEADER_BYTES);
  body.writeUInt32BE(V2_COOKIE | WORD_SIZE_OF_V2, 0);
  body.writeUInt32BE(counts.length, 4);
  body.writeUInt32BE(0, 8); // normalizing index offset
  body.writeUInt32BE(DIGITS, 12);
  body.writeBigUInt64BE(1n, 16); // lowest value that is told apart
  body.writeBigUInt64BE(BigInt(highestTrackable), 24);
  body.writeDoubleBE(1, 32); // integer to double conversion ratio
  const deflated = deflateSync(Buffer.concat([body, counts]));
  const head = Buffer.alloc(HEADER_AFTER_COOKIE_BYTES);
  head.writeUInt32BE(V2_COMPRESSED_COOKIE | WORD_SIZE_OF_V2, 0);
  head.writeUInt32BE(deflated.length, 4);
  return Buffer.concat([head, deflated]).toString('base64');
}

/** Each count as it is; a row of empty buckets as its length, negative. */
function encodeCounts(buckets: HdrCounts['buckets']): Buffer {
  const bytes: number[] = [];
  let next = 0;
  for (const [index, count] of buckets) {
    const empty = index - next;
    if (empty > 0) pushZigZag(bytes, -empty);
    pushZigZag(bytes, count);
    next = index + 1;
  }
  return Buffer.from(bytes);
}

/** Seven bits a byte, the lowest first; the ninth byte, if there is one, holds eight. */
function pushZigZag(bytes: number[], value: number): void {
  let word = BigInt(value) < 0n ? BigInt(-value) * 2n - 1n : BigInt(value) * 2n;
  for (let at = 1; at < MAX_WORD_BYTES && word > 0x7fn; at++) {
    bytes.push(Number((word & 0x7fn) | 0x80n));
    word >>= 7n;
  }
  bytes.push(Number(word));
}
