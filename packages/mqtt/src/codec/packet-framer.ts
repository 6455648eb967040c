// Data path: every received byte passes here.
import { byteAt } from './bytes.ts';

/**
 * One whole packet, in place. The framer reuses one object for all packets: valid during the call
 * only. The body (all that follows the fixed header) is `bytes[at]` up to `bytes[end - 1]`.
 */
export interface PacketView {
  bytes: Buffer;
  /** First byte: type and flags. */
  header: number;
  at: number;
  end: number;
}

export interface PacketSink {
  /** A whole packet. False: the rest of the chunk is of no interest (the connection was given up). */
  packet(slot: number, packet: PacketView): boolean;
  /**
   * The first byte of a packet that is not whole yet. False: such a packet is not waited for (the
   * connection was given up).
   */
  begins(slot: number, header: number): boolean;
  /** The stream cannot be read on; `why` comes from a fixed set. */
  malformed(slot: number, why: string): void;
}

export const LENGTH_TOO_LONG = 'remaining length of more than 4 bytes [MQTT-2.2.3]';
export const PACKET_TOO_LARGE = 'packet above the size limit';

/** A remaining length has at most 4 bytes [MQTT-2.2.3], so a fixed header at most 5. */
const FIXED_HEADER_BYTES_MAX = 5;
/** First buffer of a packet that comes in pieces; it doubles up to the packet's real size. */
const PARTIAL_BYTES_MIN = 64;

/** What came so far of a packet that is not whole yet. */
interface Partial {
  bytes: Buffer;
  used: number;
  /** Size of the whole packet; 0 while its fixed header is not complete. */
  total: number;
}

/**
 * Cuts the byte streams of many connections into packets, however they are chunked. Whole packets
 * are handed on where they lie in the chunk; only the rest at a chunk's end is copied, and memory
 * for it grows with what really came, not with what a header promises.
 */
export class PacketFramer {
  readonly #sink: PacketSink;
  readonly #maxPacketBytes: number;
  readonly #partials = new Map<number, Partial>();
  readonly #view: PacketView = { bytes: Buffer.alloc(0), header: 0, at: 0, end: 0 };
  #chunk: Buffer = this.#view.bytes;
  #chunkEnd = 0;
  /** Results of `#readHeader`. */
  #bodyAt = 0;
  #bodyLength = 0;

  constructor(sink: PacketSink, maxPacketBytes: number) {
    this.#sink = sink;
    this.#maxPacketBytes = maxPacketBytes;
  }

  /** Takes `length` bytes that `slot` received; `chunk` is free again afterwards. */
  feed(slot: number, chunk: Buffer, length: number): void {
    this.#chunk = chunk;
    this.#chunkEnd = length;
    let at = 0;
    if (this.#partials.size > 0) {
      const partial = this.#partials.get(slot);
      if (partial !== undefined) at = this.#resume(slot, partial);
    }
    while (at >= 0 && at < length) at = this.#next(slot, at);
  }

  /** Forgets what `slot` has received: its connection is over. */
  reset(slot: number): void {
    if (this.#partials.size > 0) this.#partials.delete(slot);
  }

  /** Connections with a packet that is not whole yet. */
  get partialCount(): number {
    return this.#partials.size;
  }

  /** Handles what starts at `at` of the chunk and gives where the next packet starts, or -1: stop. */
  #next(slot: number, at: number): number {
    const chunk = this.#chunk;
    const state = this.#readHeader(chunk, at, this.#chunkEnd);
    if (state === HEADER_BAD) return this.#fail(slot, LENGTH_TOO_LONG);
    if (state === HEADER_INCOMPLETE) {
      this.#keep(slot, at, 0);
      return -1;
    }
    const end = this.#bodyAt + this.#bodyLength;
    if (end - at > this.#maxPacketBytes) return this.#fail(slot, PACKET_TOO_LARGE);
    if (end > this.#chunkEnd) {
      this.#keep(slot, at, end - at);
      return -1;
    }
    return this.#deliver(slot, chunk, byteAt(chunk, at)) ? end : -1;
  }

  // The view's body was set by #readHeader.
  #deliver(slot: number, bytes: Buffer, header: number): boolean {
    const view = this.#view;
    view.bytes = bytes;
    view.header = header;
    view.at = this.#bodyAt;
    view.end = this.#bodyAt + this.#bodyLength;
    return this.#sink.packet(slot, view);
  }

  #readHeader(bytes: Buffer, at: number, end: number): number {
    if (at + 2 > end) return HEADER_INCOMPLETE;
    const first = byteAt(bytes, at + 1);
    if (first < 0x80) {
      this.#bodyAt = at + 2;
      this.#bodyLength = first;
      return HEADER_COMPLETE;
    }
    let length = first & 0x7f;
    for (let i = 2, shift = 7; i < FIXED_HEADER_BYTES_MAX; i += 1, shift += 7) {
      if (at + i >= end) return HEADER_INCOMPLETE;
      const byte = byteAt(bytes, at + i);
      length |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.#bodyAt = at + i + 1;
        this.#bodyLength = length;
        return HEADER_COMPLETE;
      }
    }
    return HEADER_BAD;
  }

  #keep(slot: number, at: number, total: number): void {
    if (!this.#sink.begins(slot, byteAt(this.#chunk, at))) return;
    const used = this.#chunkEnd - at;
    const bytes = Buffer.allocUnsafeSlow(Math.max(PARTIAL_BYTES_MIN, used));
    this.#chunk.copy(bytes, 0, at, this.#chunkEnd);
    this.#partials.set(slot, { bytes, used, total });
  }

  #fail(slot: number, why: string): number {
    this.#partials.delete(slot);
    this.#sink.malformed(slot, why);
    return -1;
  }

  /** Completes a kept packet from the chunk; gives where the chunk goes on, or -1. */
  #resume(slot: number, partial: Partial): number {
    let at = 0;
    while (partial.total === 0) {
      if (at === this.#chunkEnd) return -1;
      partial.bytes[partial.used] = byteAt(this.#chunk, at);
      partial.used += 1;
      at += 1;
      const state = this.#readHeader(partial.bytes, 0, partial.used);
      if (state === HEADER_BAD) return this.#fail(slot, LENGTH_TOO_LONG);
      if (state === HEADER_COMPLETE) partial.total = this.#bodyAt + this.#bodyLength;
    }
    if (partial.total > this.#maxPacketBytes) return this.#fail(slot, PACKET_TOO_LARGE);
    const more = Math.min(partial.total - partial.used, this.#chunkEnd - at);
    reserve(partial, more);
    this.#chunk.copy(partial.bytes, partial.used, at, at + more);
    partial.used += more;
    at += more;
    if (partial.used < partial.total) return -1;
    this.#partials.delete(slot);
    this.#readHeader(partial.bytes, 0, partial.used);
    return this.#deliver(slot, partial.bytes, byteAt(partial.bytes, 0)) ? at : -1;
  }
}

const HEADER_COMPLETE = 0;
const HEADER_INCOMPLETE = 1;
const HEADER_BAD = 2;

function reserve(partial: Partial, more: number): void {
  const needed = partial.used + more;
  if (needed <= partial.bytes.length) return;
  const size = Math.min(partial.total, Math.max(needed, partial.bytes.length * 2));
  const larger = Buffer.allocUnsafeSlow(size);
  partial.bytes.copy(larger, 0, 0, partial.used);
  partial.bytes = larger;
}
