import { byteAt, uint16At } from './bytes.ts';
import { malformed } from './packet-error.ts';

/** Four bytes at most, seven bits each [MQTT-1.5.5-1]. */
const VARINT_BYTES_MAX = 4;

/**
 * Reads the fields of one packet from front to back. Everything that is given out is a copy.
 * Every method throws a `PacketError` where the packet ends before the field does.
 */
export class ByteReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  uint8(): number {
    return byteAt(this.#bytes, this.#take(1));
  }

  uint16(): number {
    return uint16At(this.#bytes, this.#take(2));
  }

  uint32(): number {
    return this.#bytes.readUInt32BE(this.#take(4));
  }

  /** A variable byte integer [MQTT-1.5.5]. */
  varint(): number {
    let value = 0;
    for (let i = 0; i < VARINT_BYTES_MAX; i += 1) {
      const byte = this.uint8();
      value += (byte & 0x7f) * 128 ** i;
      if (byte < 0x80) return value;
    }
    throw malformed('variable byte integer of more than 4 bytes [MQTT-1.5.5]');
  }

  /** UTF-8 with its length before it: no NUL, no surrogates, no overlong forms [MQTT-1.5.4-1, -2]. */
  text(): string {
    const length = this.uint16();
    const at = this.#take(length);
    return strictText(this.#bytes.subarray(at, at + length));
  }

  /** Bytes with their length before them. */
  binary(): Uint8Array {
    return this.raw(this.uint16());
  }

  raw(length: number): Uint8Array {
    const at = this.#take(length);
    return new Uint8Array(this.#bytes.subarray(at, at + length));
  }

  /** A reader of the next `length` bytes; this one goes on behind them. */
  part(length: number): ByteReader {
    const at = this.#take(length);
    return new ByteReader(this.#bytes, at, at + length);
  }

  rest(): Uint8Array {
    return this.raw(this.left);
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#end) throw malformed('packet shorter than its fields');
    this.#at = at + length;
    return at;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function strictText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw malformed('text that is not UTF-8 [MQTT-1.5.4-1]');
  }
  if (text.includes('\0')) throw malformed('text with NUL [MQTT-1.5.4-2]');
  return text;
}
