import { RocketmqError } from './rocketmq-error.ts';
import { int32At, uint16At, writeInt16, writeInt32 } from './bytes.ts';

/** Total length, magic, CRC, flag, body length, properties length. */
export const BATCH_ENTRY_BYTES = 22;

export interface BatchEntry {
  readonly body: Uint8Array;
  /** Property text in UTF-8, each property with its last separator. */
  readonly properties: Uint8Array;
}

/** Appends one message to a batch's body; gives where the next one goes. */
export function writeBatchEntry(target: Buffer, at: number, entry: BatchEntry): number {
  const { body, properties } = entry;
  const total = BATCH_ENTRY_BYTES + body.length + properties.length;
  writeInt32(target, at, total);
  // Magic and CRC are the broker's to fill in; the flag is the application's, which has none.
  target.fill(0, at + 4, at + 16);
  writeInt32(target, at + 16, body.length);
  target.set(body, at + 20);
  const propertiesAt = at + 20 + body.length;
  writeInt16(target, propertiesAt, properties.length);
  target.set(properties, propertiesAt + 2);
  return at + total;
}

/**
 * The messages of a batch's body.
 *
 * @throws RocketmqError RECORD
 */
export function decodeBatch(blob: Buffer): BatchEntry[] {
  const entries: BatchEntry[] = [];
  for (let at = 0; at < blob.length; ) {
    const total = blob.length - at >= BATCH_ENTRY_BYTES ? int32At(blob, at) : -1;
    const bodyLength = total < 0 ? -1 : int32At(blob, at + 16);
    const propertiesAt = at + 22 + bodyLength;
    const end = at + total;
    if (bodyLength < 0 || end > blob.length || propertiesAt > end) throw notABatch(at);
    if (propertiesAt + uint16At(blob, propertiesAt - 2) !== end) throw notABatch(at);
    entries.push({
      body: blob.subarray(at + 20, at + 20 + bodyLength),
      properties: blob.subarray(propertiesAt, end),
    });
    at = end;
  }
  return entries;
}

function notABatch(at: number): RocketmqError {
  return new RocketmqError('RECORD', `no batch entry at byte ${at}`);
}
