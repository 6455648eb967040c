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
/** Address and port. */
const HOST_BYTES = 8;
const IPV6_HOST_BYTES = 20;
/** Store time, deliveries, prepared offset, body length. */
const TAIL_BYTES = 24;

/**
 * One stored message, read in place: the body of a pull answer is a row of them. `read` looks only for
 * where things are; numbers are read when they are asked for. Valid until the next `read`, and as long
 * as the answer's memory.
 */
export class RecordReader {
  bytes: Buffer = Buffer.alloc(0);
  sysFlag = 0;
  bodyAt = 0;
  bodyEnd = 0;
  topicAt = 0;
  topicEnd = 0;
  propertiesAt = 0;
  propertiesEnd = 0;
  /** Where the record begins. */
  #at = 0;
  /** Where the store time stands. */
  #storedAt = 0;

  /** Reads the record at `at`, and gives where the next one starts, or -1: this is none. */
  read(bytes: Buffer, at: number, end: number): number {
    if (end - at < HEAD_BYTES) return -1;
    const recordEnd = at + int32At(bytes, at);
    if (recordEnd > end || recordEnd < at + HEAD_BYTES) return -1;
    const magic = int32At(bytes, at + 4);
    if (magic !== MAGIC && magic !== MAGIC_LONG_TOPIC) return -1;
    const sysFlag = int32At(bytes, at + 36);
    this.bytes = bytes;
    this.#at = at;
    this.sysFlag = sysFlag;
    let place = at + HEAD_BYTES;
    place += (sysFlag & MessageFlag.bornHostIpv6) === 0 ? HOST_BYTES : IPV6_HOST_BYTES;
    this.#storedAt = place;
    place += (sysFlag & MessageFlag.storeHostIpv6) === 0 ? HOST_BYTES : IPV6_HOST_BYTES;
    // The body's length is the last of the tail, behind the store host.
    const bodyAt = place + TAIL_BYTES;
    if (bodyAt + 1 > recordEnd) return -1;
    const bodyLength = int32At(bytes, bodyAt - 4);
    if (bodyLength < 0 || bodyAt + bodyLength + 1 > recordEnd) return -1;
    this.bodyAt = bodyAt;
    this.bodyEnd = bodyAt + bodyLength;
    return this.#readTexts(recordEnd, magic === MAGIC_LONG_TOPIC) ? recordEnd : -1;
  }

  /** Of the whole record. */
  get size(): number {
    return int32At(this.bytes, this.#at);
  }

  get bodyCrc(): number {
    return int32At(this.bytes, this.#at + 8);
  }

  get queueId(): number {
    return int32At(this.bytes, this.#at + 12);
  }

  /** The sender's own number, untouched by brokers. */
  get flag(): number {
    return int32At(this.bytes, this.#at + 16);
  }

  get queueOffset(): number {
    return int64At(this.bytes, this.#at + 20);
  }

  get commitLogOffset(): number {
    return int64At(this.bytes, this.#at + 28);
  }

  /** By the sender's wall clock. */
  get bornAtMs(): number {
    return int64At(this.bytes, this.#at + 40);
  }

  /** By the broker's wall clock. */
  get storedAtMs(): number {
    return int64At(this.bytes, this.#storedAt);
  }

  /** How often it came before and failed. */
  get reconsumeTimes(): number {
    return int32At(this.bytes, this.bodyAt - 16);
  }

  get preparedOffset(): number {
    return int64At(this.bytes, this.bodyAt - 12);
  }

  #readTexts(end: number, long: boolean): boolean {
    const bytes = this.bytes;
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
