// Data path: one call a message.
import { BATCH_ENTRY_BYTES } from '../codec/batch-blob.ts';
import { writeInt16, writeInt32 } from '../codec/bytes.ts';
import { UNIQUE_KEY_LENGTH, type UniqueKeys } from '../codec/unique-keys.ts';
import type { ProducerMessage } from './producer-message.ts';

const BATCH_BYTES_MIN = 16 * 1024;
const VALUE_END = 2;

/** Messages that go out as one request: same topic, same queue, acknowledged all or none. */
export class MessageBatch {
  readonly #prefix: Buffer;
  readonly #keys: UniqueKeys | null;
  #bytes = Buffer.allocUnsafeSlow(BATCH_BYTES_MIN);
  #end = 0;
  #count = 0;

  /** Made by `Producer.newBatch`. */
  constructor(prefix: string, keys: UniqueKeys | null) {
    this.#prefix = Buffer.from(prefix);
    this.#keys = keys;
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes of the request's body so far. */
  get size(): number {
    return this.#end;
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  clear(): void {
    this.#end = 0;
    this.#count = 0;
  }

  /** Adds a message; its body is copied. */
  add(message: ProducerMessage): void {
    const { body, bodyAt, bodyEnd, properties } = message;
    const more = properties === '' ? 0 : Buffer.byteLength(properties);
    const keyBytes = this.#keys === null ? 0 : UNIQUE_KEY_LENGTH + 1;
    const propertyBytes = this.#prefix.length + keyBytes + more;
    const total = BATCH_ENTRY_BYTES + bodyEnd - bodyAt + propertyBytes;
    this.#reserve(total);
    const bytes = this.#bytes;
    let at = this.#end;
    writeInt32(bytes, at, total);
    // Magic and CRC are the broker's to fill in; the flag is the application's, which has none.
    bytes.fill(0, at + 4, at + 16);
    writeInt32(bytes, at + 16, bodyEnd - bodyAt);
    at += 20 + body.copy(bytes, at + 20, bodyAt, bodyEnd);
    writeInt16(bytes, at, propertyBytes);
    at += 2 + this.#prefix.copy(bytes, at + 2);
    if (this.#keys !== null) {
      this.#keys.writeNext(bytes, at);
      // 4.8.0 fuses properties of a batch whose last separator is missing.
      bytes[at + UNIQUE_KEY_LENGTH] = VALUE_END;
      at += UNIQUE_KEY_LENGTH + 1;
    }
    if (more > 0) bytes.write(properties, at);
    this.#end += total;
    this.#count += 1;
  }

  #reserve(more: number): void {
    const needed = this.#end + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#end);
    this.#bytes = larger;
  }
}
