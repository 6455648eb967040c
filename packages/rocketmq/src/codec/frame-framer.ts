// Data path: every received byte passes here.
import { byteAt, int32At, uint24At } from './bytes.ts';

/**
 * One whole frame, in place: total length, type byte and header length, header, body. The framer
 * reuses one object for all frames: valid during the call only.
 */
export interface FrameView {
  bytes: Buffer;
  /** The type byte: how the header is written (`Serialization`). */
  serialization: number;
  headerAt: number;
  /** Where the header ends and the body begins. */
  bodyAt: number;
  end: number;
}

export interface FrameSink {
  /** A whole frame. False: the rest is of no interest (the connection was given up). */
  frame(view: FrameView): boolean;
  /** The stream cannot be read on; `why` comes from a fixed set. */
  malformed(why: string): void;
}

export const FRAME_TOO_SHORT = 'frame shorter than its own head';
export const FRAME_TOO_LARGE = 'frame above the size limit';
export const HEADER_BEYOND_FRAME = 'header longer than its frame';
export const UNKNOWN_SERIALIZATION = 'unknown header type';

/** The largest length that brokers announce and take: 16 MiB less the length field itself. */
export const FRAME_LENGTH_MAX = 16 * 1024 * 1024 - 4;

/** Total length, then type byte and header length. */
const HEAD_BYTES = 8;
/** First memory of a frame that comes in pieces; it doubles up to the frame's real size. */
const PARTIAL_BYTES_MIN = 4096;
/** Memory above this is given back once its frame is through. */
const PARTIAL_BYTES_KEPT = 1024 * 1024;

/**
 * Cuts one connection's bytes into frames, however they are chunked. Whole frames are handed on
 * where they lie in the chunk; only the rest at a chunk's end is copied, into memory that serves
 * again and grows with what really came, not with what a length promises.
 */
export class FrameFramer {
  readonly #sink: FrameSink;
  readonly #lengthMax: number;
  readonly #view: FrameView = {
    bytes: Buffer.alloc(0),
    serialization: 0,
    headerAt: 0,
    bodyAt: 0,
    end: 0,
  };
  #partial = Buffer.allocUnsafeSlow(PARTIAL_BYTES_MIN);
  #used = 0;
  /** Size of the frame in `#partial`; 0 while its head is not complete. */
  #total = 0;

  constructor(sink: FrameSink, lengthMax = FRAME_LENGTH_MAX) {
    this.#sink = sink;
    this.#lengthMax = lengthMax;
  }

  /** Takes `length` received bytes; `chunk` is free again afterwards. */
  feed(chunk: Buffer, length: number): void {
    let at = 0;
    if (this.#used > 0) at = this.#resume(chunk, length);
    while (at >= 0 && at < length) at = this.#next(chunk, at, length);
  }

  /** Handles what starts at `at`, and gives where the next frame starts, or -1: stop. */
  #next(chunk: Buffer, at: number, end: number): number {
    if (end - at < HEAD_BYTES) return this.#keep(chunk, at, end);
    const total = this.#totalOf(chunk, at);
    if (total < 0) return -1;
    if (total > end - at) {
      this.#total = total;
      return this.#keep(chunk, at, end);
    }
    return this.#deliver(chunk, at, total) ? at + total : -1;
  }

  /** Bytes of the frame whose head stands at `at`, or -1 where it is no head (and was told). */
  #totalOf(bytes: Buffer, at: number): number {
    const length = int32At(bytes, at);
    if (length < 4) return this.#fail(FRAME_TOO_SHORT);
    if (length > this.#lengthMax) return this.#fail(FRAME_TOO_LARGE);
    if (uint24At(bytes, at + 5) > length - 4) return this.#fail(HEADER_BEYOND_FRAME);
    if (byteAt(bytes, at + 4) > 1) return this.#fail(UNKNOWN_SERIALIZATION);
    return length + 4;
  }

  #deliver(bytes: Buffer, at: number, total: number): boolean {
    const view = this.#view;
    view.bytes = bytes;
    view.serialization = byteAt(bytes, at + 4);
    view.headerAt = at + HEAD_BYTES;
    view.bodyAt = view.headerAt + uint24At(bytes, at + 5);
    view.end = at + total;
    return this.#sink.frame(view);
  }

  #keep(chunk: Buffer, at: number, end: number): number {
    this.#reserve(end - at);
    chunk.copy(this.#partial, 0, at, end);
    this.#used = end - at;
    return -1;
  }

  /** Completes the kept frame from the chunk; gives where the chunk goes on, or -1. */
  #resume(chunk: Buffer, length: number): number {
    let at = 0;
    if (this.#total === 0) {
      at = this.#take(chunk, 0, Math.min(HEAD_BYTES - this.#used, length));
      if (this.#used < HEAD_BYTES) return -1;
      const total = this.#totalOf(this.#partial, 0);
      if (total < 0) return -1;
      this.#total = total;
    }
    const more = Math.min(this.#total - this.#used, length - at);
    at = this.#take(chunk, at, at + more);
    if (this.#used < this.#total) return -1;
    const total = this.#total;
    const bytes = this.#partial;
    this.#used = 0;
    this.#total = 0;
    const goesOn = this.#deliver(bytes, 0, total);
    if (bytes.length > PARTIAL_BYTES_KEPT) {
      this.#partial = Buffer.allocUnsafeSlow(PARTIAL_BYTES_MIN);
    }
    return goesOn ? at : -1;
  }

  #take(chunk: Buffer, from: number, to: number): number {
    this.#reserve(this.#used + to - from);
    chunk.copy(this.#partial, this.#used, from, to);
    this.#used += to - from;
    return to;
  }

  #reserve(needed: number): void {
    if (needed <= this.#partial.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#partial.length * 2));
    this.#partial.copy(larger, 0, 0, this.#used);
    this.#partial = larger;
  }

  #fail(why: string): number {
    this.#used = 0;
    this.#total = 0;
    this.#sink.malformed(why);
    return -1;
  }
}
