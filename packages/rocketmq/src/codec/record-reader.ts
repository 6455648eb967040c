// Data path: every consumed message passes here.
import { byteAt, int32At, int64At, uint16At } from './bytes.ts';

/** Magic of a stored message, and of one whose topic's length has two bytes (5.x, long topics). */
const MAGIC = 0xdaa320a7 | 0;
const MAGIC_LONG_TOPIC = 0xdaa320ab | 0;

/** Bits of a message's `sysFlag`. */
export const MessageFlag = {
  compressed: 0x1,
  multipleTags: 0x2,
  prepared: 0x4,
  commit: 0x8,
  rollback: 0xc,
  bornHostIpv6: 0x10,
  storeHostIpv6: 0x20,
  compressionMask: 0x700,
} as const;

/** Up to the born host. */
const HEAD_BYTES = 48;

/**
 * One stored message, read in place: the body of a pull answer is a row of them. The fields are valid
 * until the next `read`; what takes memory (texts, properties) is made only when asked for.
 */
export class RecordReader {
  bytes: Buffer = Buffer.alloc(0);
  /** Of the whole record. */
  size = 0;
  bodyCrc = 0;
  queueId = 0;
  /** The sender's own number, untouched by brokers. */
  flag = 0;
  queueOffset = 0;
  commitLogOffset = 0;
  sysFlag = 0;
  /** By the sender's wall clock. */
  bornAtMs = 0;
  /** By the broker's wall clock. */
  storedAtMs = 0;
  storeHostAt = 0;
  reconsumeTimes = 0;
  preparedOffset = 0;
  bodyAt = 0;
  bodyEnd = 0;
  topicAt = 0;
  topicEnd = 0;
  propertiesAt = 0;
  propertiesEnd = 0;

  /** Reads the record at `at`, and gives where the next one starts, or -1: this is none. */
  read(bytes: Buffer, at: number, end: number): number {
    if (end - at < HEAD_BYTES) return -1;
    const size = int32At(bytes, at);
    const magic = int32At(bytes, at + 4);
    const recordEnd = at + size;
    if (size < HEAD_BYTES || recordEnd > end) return -1;
    if (magic !== MAGIC && magic !== MAGIC_LONG_TOPIC) return -1;
    this.bytes = bytes;
    this.size = size;
    this.bodyCrc = int32At(bytes, at + 8);
    this.queueId = int32At(bytes, at + 12);
    this.flag = int32At(bytes, at + 16);
    this.queueOffset = int64At(bytes, at + 20);
    this.commitLogOffset = int64At(bytes, at + 28);
    this.sysFlag = int32At(bytes, at + 36);
    this.bornAtMs = int64At(bytes, at + 40);
    return this.#readTail(at + HEAD_BYTES, recordEnd, magic) ? recordEnd : -1;
  }

  #readTail(start: number, end: number, magic: number): boolean {
    const bytes = this.bytes;
    let at = start + ((this.sysFlag & MessageFlag.bornHostIpv6) === 0 ? 8 : 20);
    const storeHostBytes = (this.sysFlag & MessageFlag.storeHostIpv6) === 0 ? 8 : 20;
    if (at + 8 + storeHostBytes + 16 > end) return false;
    this.storedAtMs = int64At(bytes, at);
    this.storeHostAt = at + 8;
    at += 8 + storeHostBytes;
    this.reconsumeTimes = int32At(bytes, at);
    this.preparedOffset = int64At(bytes, at + 4);
    this.bodyAt = at + 16;
    const bodyLength = int32At(bytes, at + 12);
    this.bodyEnd = this.bodyAt + bodyLength;
    if (bodyLength < 0 || this.bodyEnd + 1 > end) return false;
    const long = magic === MAGIC_LONG_TOPIC;
    this.topicAt = this.bodyEnd + (long ? 2 : 1);
    if (this.topicAt > end) return false;
    const topicLength = long ? uint16At(bytes, this.bodyEnd) : byteAt(bytes, this.bodyEnd);
    this.topicEnd = this.topicAt + topicLength;
    this.propertiesAt = this.topicEnd + 2;
    if (this.propertiesAt > end) return false;
    this.propertiesEnd = this.propertiesAt + uint16At(bytes, this.topicEnd);
    return this.propertiesEnd <= end;
  }
}
