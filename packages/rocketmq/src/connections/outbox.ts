// Data path: every byte to a broker passes here.
import type { Socket } from 'node:net';

/** Room for the frames of one turn of the event loop; grows for a larger frame. */
const SLAB_BYTES = 256 * 1024;

/**
 * The frames that go out with the next flush: one write for all of them. Memory that the kernel has
 * taken is used again; memory that a socket still has to send is never written to.
 */
export class Outbox {
  readonly #socket: Socket;
  /** Made when the first frame is written. */
  #slab = Buffer.alloc(0);
  /** What is written and not handed over: `#slab[#base]` up to `#slab[#end - 1]`. */
  #base = 0;
  #end = 0;
  #handedOver = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get slab(): Buffer {
    return this.#slab;
  }

  /** Bytes handed to the socket since the start. */
  get handedOver(): number {
    return this.#handedOver;
  }

  get isEmpty(): boolean {
    return this.#end === this.#base;
  }

  /** Where a frame of at most `size` bytes may be written in `slab`; `commit` says what it took. */
  reserve(size: number): number {
    if (this.#end + size > this.#slab.length) {
      this.flush();
      if (this.#base + size > this.#slab.length) {
        this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, size));
        this.#base = 0;
        this.#end = 0;
      }
    }
    return this.#end;
  }

  commit(end: number): void {
    this.#end = end;
  }

  flush(): void {
    if (this.#end === this.#base) return;
    this.#handedOver += this.#end - this.#base;
    const socket = this.#socket;
    socket.write(this.#slab.subarray(this.#base, this.#end));
    // With nothing left to send, all memory is free again, that of earlier writes, too.
    if (socket.writableLength === 0) {
      this.#base = 0;
      this.#end = 0;
    } else this.#base = this.#end;
  }
}
