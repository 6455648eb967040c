import { PacketType, type PacketName } from './packet-type.ts';
import {
  REMAINING_LENGTH_MAX,
  remainingLengthSize,
  writeRemainingLength,
} from './remaining-length.ts';

/** Text and binary fields have two bytes of length [MQTT-1.5.4, 1.5.6]. */
const FIELD_BYTES_MAX = 65_535;
const FIRST_BYTES = 128;

/**
 * Collects the fields of one packet. Methods throw a RangeError, naming the field, for what cannot
 * travel: numbers out of range, text that is too long, has NUL or is no Unicode [MQTT-1.5.4-1, -2].
 */
export class ByteWriter {
  #bytes = Buffer.alloc(FIRST_BYTES);
  #used = 0;

  uint8(name: string, value: number): void {
    checkWhole(name, value, 0xff);
    const at = this.#reserve(1);
    this.#bytes.writeUInt8(value, at);
  }

  uint16(name: string, value: number): void {
    checkWhole(name, value, 0xffff);
    const at = this.#reserve(2);
    this.#bytes.writeUInt16BE(value, at);
  }

  uint32(name: string, value: number): void {
    checkWhole(name, value, 0xffff_ffff);
    const at = this.#reserve(4);
    this.#bytes.writeUInt32BE(value, at);
  }

  varint(name: string, value: number): void {
    checkWhole(name, value, REMAINING_LENGTH_MAX);
    const at = this.#reserve(remainingLengthSize(value));
    writeRemainingLength(this.#bytes, at, value);
  }

  text(name: string, text: string): void {
    if (text.includes('\0')) throw new RangeError(`a ${name} holds no NUL [MQTT-1.5.4-2]`);
    if (/\p{Surrogate}/u.test(text)) {
      throw new RangeError(`a ${name} holds no half of a surrogate pair [MQTT-1.5.4-1]`);
    }
    this.binary(name, Buffer.from(text));
  }

  binary(name: string, bytes: Uint8Array): void {
    if (bytes.length > FIELD_BYTES_MAX) {
      throw new RangeError(`a ${name} has at most 65,535 bytes, this one ${bytes.length}`);
    }
    this.uint16(name, bytes.length);
    this.raw(bytes);
  }

  raw(bytes: Uint8Array): void {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
  }

  /** What was written so far, in place. */
  get written(): Buffer {
    return this.#bytes.subarray(0, this.#used);
  }

  /** The whole packet: a fixed header with these flags before all that was written. */
  packet(name: PacketName, flags: number): Buffer {
    const body = this.written;
    if (body.length > REMAINING_LENGTH_MAX) {
      throw new RangeError(
        `a packet has at most ${REMAINING_LENGTH_MAX} bytes, not ${body.length}`,
      );
    }
    const bytes = Buffer.allocUnsafe(1 + remainingLengthSize(body.length) + body.length);
    bytes[0] = (PacketType[name] << 4) | flags;
    bytes.set(body, writeRemainingLength(bytes, 1, body.length));
    return bytes;
  }

  #reserve(more: number): number {
    const at = this.#used;
    this.#used = at + more;
    if (this.#used > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#used));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }
}

function checkWhole(name: string, value: number, max: number): void {
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new RangeError(`${name} is a whole number of 0 to ${max}, not ${value}`);
  }
}
