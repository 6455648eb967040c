import { inflateSync } from 'node:zlib';
import { bodyCrc } from './crc32.ts';
import { decodeProperties } from './message-properties.ts';
import { MessageFlag, RecordReader } from './record-reader.ts';
import { RocketmqError } from './rocketmq-error.ts';

/** The largest body that is inflated: brokers take 4 MiB, packed or not. */
const INFLATED_BYTES_MAX = 64 * 1024 * 1024;
/** Value of the compression bits; 0 stands for zlib, which alone old clients know. */
const ZLIB_BITS = 0x300;

/** One message out of a broker with all its texts: for tests, tools and whatever is no hot path. */
export interface StoredMessage {
  readonly topic: string;
  readonly body: Buffer;
  readonly properties: Readonly<Record<string, string>>;
  readonly queueId: number;
  readonly queueOffset: number;
  readonly commitLogOffset: number;
  readonly bornAtMs: number;
  readonly storedAtMs: number;
  readonly reconsumeTimes: number;
  readonly sysFlag: number;
}

/**
 * All records of a pull answer's body.
 *
 * @throws RocketmqError RECORD
 */
export function decodeRecords(bytes: Buffer): StoredMessage[] {
  const reader = new RecordReader();
  const messages: StoredMessage[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = reader.read(bytes, at, bytes.length);
    if (next < 0) throw new RocketmqError('RECORD', `no stored message at byte ${at} of an answer`);
    messages.push(storedMessage(reader));
    at = next;
  }
  return messages;
}

/** @throws RocketmqError RECORD where the body is packed in a way that cannot be unpacked */
export function storedMessage(reader: RecordReader): StoredMessage {
  const { queueId, queueOffset, commitLogOffset, bornAtMs, storedAtMs, reconsumeTimes } = reader;
  const { sysFlag } = reader;
  return {
    topic: reader.bytes.toString('utf8', reader.topicAt, reader.topicEnd),
    body: plainBody(reader),
    properties: recordProperties(reader),
    queueId,
    queueOffset,
    commitLogOffset,
    bornAtMs,
    storedAtMs,
    reconsumeTimes,
    sysFlag,
  };
}

export function recordProperties(reader: RecordReader): Record<string, string> {
  return decodeProperties(reader.bytes.toString('utf8', reader.propertiesAt, reader.propertiesEnd));
}

/** Whether the stored bytes are those whose CRC the broker wrote down. */
export function crcMatches(reader: RecordReader): boolean {
  return bodyCrc(reader.bytes.subarray(reader.bodyAt, reader.bodyEnd)) === reader.bodyCrc;
}

/**
 * A copy of the body as its producer gave it: unpacked where it was compressed.
 *
 * @throws RocketmqError RECORD
 */
export function plainBody(reader: RecordReader): Buffer {
  const stored = reader.bytes.subarray(reader.bodyAt, reader.bodyEnd);
  if ((reader.sysFlag & MessageFlag.compressed) === 0) return Buffer.from(stored);
  const algorithm = reader.sysFlag & MessageFlag.compressionMask;
  if (algorithm !== 0 && algorithm !== ZLIB_BITS) {
    throw new RocketmqError('RECORD', 'a body compressed by LZ4 or ZSTD: only ZLIB is read');
  }
  try {
    return inflateSync(stored, { maxOutputLength: INFLATED_BYTES_MAX });
  } catch (cause) {
    throw new RocketmqError('RECORD', 'a compressed body that cannot be unpacked', { cause });
  }
}
