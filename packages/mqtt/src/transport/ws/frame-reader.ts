// Data path: every byte that a WebSocket receives.
import { byteAt } from '../../codec/bytes.ts';
import { malformedFrame } from './ws-reasons.ts';

/** Operation codes of frames (RFC 6455, 5.2). */
export const Opcode = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

/** A control frame's payload (RFC 6455, 5.5). */
const CONTROL_BYTES_MAX = 125;
/** What a frame may announce. Frames are never gathered, so it bounds no memory, only nonsense. */
const FRAME_BYTES_MAX = 2 ** 40;
/** Below this, a loop moves bytes faster than a call into the engine does. */
const LOOP_BYTES = 48;

const EMPTY = Buffer.alloc(0);

/** Where in a frame the next byte belongs. */
const FIRST = 0;
const SECOND = 1;
const LENGTH = 2;
const PAYLOAD = 3;

/** Who hears of frames that are not data. The payload is valid during the call only. */
export interface ControlFrames {
  pinged(payload: Buffer): void;
}

/**
 * Takes the frames of one WebSocket off what they carry (RFC 6455, 5). MQTT sees a stream of bytes,
 * for which the borders of frames mean nothing [MQTT-6.0.0-2]; so nothing is gathered here but the
 * payload of control frames.
 */
export class FrameReader {
  /** Why the peer breaks the protocol; nothing is read any more. */
  fault: string | null = null;
  /** The code of the peer's Close, 0 where it has none; null before it. Nothing is read after it. */
  closeCode: number | null = null;
  readonly #control: ControlFrames;
  /** What is being read. */
  #bytes: Buffer = EMPTY;
  #place = FIRST;
  #opcode = 0;
  /** Bytes of the extended length that are still to come, and what they say so far. */
  #lengthBytes = 0;
  #lengthSize = 0;
  #remaining = 0;
  /** A message of several frames has begun. */
  #fragmented = false;
  /** Payload of a control frame so far. */
  #payload: Buffer | null = null;
  #payloadLength = 0;

  constructor(control: ControlFrames) {
    this.#control = control;
  }

  /**
   * Reads `length` bytes from the start of `bytes` and leaves what they carry at its start. Gives
   * how many bytes that is; then look at `fault` and `closeCode`.
   */
  read(bytes: Buffer, length: number): number {
    let at = 0;
    let data = 0;
    this.#bytes = bytes;
    while (at < length && this.fault === null && this.closeCode === null) {
      if (this.#place !== PAYLOAD) {
        this.#header(byteAt(bytes, at));
        at += 1;
        if (this.#place === PAYLOAD && this.#remaining === 0) this.#frameEnded();
        continue;
      }
      const size = Math.min(this.#remaining, length - at);
      if (this.#opcode >= Opcode.close) this.#gather(at, size);
      else {
        this.#moveDown(data, at, size);
        data += size;
      }
      at += size;
      this.#remaining -= size;
      if (this.#remaining === 0) this.#frameEnded();
    }
    return data;
  }

  #header(byte: number): void {
    switch (this.#place) {
      case FIRST:
        this.#first(byte);
        return;
      case SECOND:
        this.#second(byte);
        return;
      default:
        this.#remaining = this.#remaining * 256 + byte;
        this.#lengthBytes -= 1;
        if (this.#lengthBytes === 0) this.#lengthKnown();
    }
  }

  #first(byte: number): void {
    const opcode = byte & 0x0f;
    const final = (byte & 0x80) !== 0;
    this.#opcode = opcode;
    this.#place = SECOND;
    if ((byte & 0x70) !== 0) this.#fail('reserved bits are set [RFC 6455, 5.2]');
    else if (opcode >= Opcode.close) {
      if (opcode > Opcode.pong) this.#fail(`reserved opcode ${opcode} [RFC 6455, 5.2]`);
      else if (!final) this.#fail('control frame in fragments [RFC 6455, 5.5]');
    } else if (opcode === Opcode.continuation) {
      if (!this.#fragmented) this.#fail('continuation of nothing [RFC 6455, 5.4]');
      this.#fragmented = !final;
    } else if (opcode !== Opcode.binary) {
      this.#fail(
        opcode === Opcode.text
          ? 'text frame [MQTT-6.0.0-1]'
          : `reserved opcode ${opcode} [RFC 6455, 5.2]`,
      );
    } else {
      if (this.#fragmented) this.#fail('new message inside of a fragmented one [RFC 6455, 5.4]');
      this.#fragmented = !final;
    }
  }

  #second(byte: number): void {
    const length = byte & 0x7f;
    if ((byte & 0x80) !== 0) this.#fail('masked by the server [RFC 6455, 5.1]');
    else if (this.#opcode >= Opcode.close && length > CONTROL_BYTES_MAX) {
      this.#fail('control frame above 125 bytes [RFC 6455, 5.5]');
    }
    if (length < 126) {
      this.#remaining = length;
      this.#place = PAYLOAD;
      return;
    }
    this.#remaining = 0;
    this.#lengthSize = length === 126 ? 2 : 8;
    this.#lengthBytes = this.#lengthSize;
    this.#place = LENGTH;
  }

  #lengthKnown(): void {
    this.#place = PAYLOAD;
    if (this.#remaining > FRAME_BYTES_MAX) this.#fail('length above 1 TiB');
    else if (this.#remaining < (this.#lengthSize === 2 ? 126 : 65_536)) {
      this.#fail('length not in its shortest form [RFC 6455, 5.2]');
    }
  }

  #moveDown(to: number, from: number, size: number): void {
    const bytes = this.#bytes;
    if (to === from) return;
    if (size > LOOP_BYTES) {
      bytes.copyWithin(to, from, from + size);
      return;
    }
    for (let n = 0; n < size; n += 1) bytes[to + n] = byteAt(bytes, from + n);
  }

  #gather(at: number, size: number): void {
    const payload = this.#payload ?? Buffer.allocUnsafeSlow(CONTROL_BYTES_MAX);
    this.#payload = payload;
    this.#bytes.copy(payload, this.#payloadLength, at, at + size);
    this.#payloadLength += size;
  }

  #frameEnded(): void {
    this.#place = FIRST;
    if (this.#opcode < Opcode.close) return;
    const length = this.#payloadLength;
    const payload = this.#payload?.subarray(0, length) ?? EMPTY;
    this.#payload = null;
    this.#payloadLength = 0;
    if (this.#opcode === Opcode.ping) this.#control.pinged(payload);
    else if (this.#opcode === Opcode.close) this.#closed(payload);
  }

  #closed(payload: Buffer): void {
    if (payload.length === 0) {
      this.closeCode = 0;
      return;
    }
    const code = payload.length === 1 ? 0 : payload.readUInt16BE(0);
    if (!isCloseCode(code)) this.#fail(`Close with a code that is none [RFC 6455, 7.4]`);
    else this.closeCode = code;
  }

  #fail(why: string): void {
    this.fault ??= malformedFrame(why);
  }
}

/** What a Close may say (RFC 6455, 7.4): 1004 to 1006 and 1015 are never sent. */
function isCloseCode(code: number): boolean {
  if (code >= 3000) return code < 5000;
  return code >= 1000 && code <= 1014 && (code < 1004 || code > 1006);
}
