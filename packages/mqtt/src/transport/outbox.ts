// Data path: every byte to a broker passes here.
import type { Transport } from './transport.ts';

/** Room for the packets of one socket between two flushes; grows for a larger packet. */
const SLAB_BYTES = 64 * 1024;
/** Views of the slab are kept by their length modulo this, so that a usual write makes none. */
const VIEWS = 64;

/**
 * The one write buffer of all connections. Packets for one transport in a row become one write.
 * When the kernel takes a write at once, the memory is used again at the same place; when it does
 * not, the bytes stay where they are until the transport has sent them, and writing goes on behind
 * them. Memory that is still to be sent is never written to again.
 */
export class Outbox {
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  /** What is written and not handed over: `#slab[#base]` up to `#slab[#end - 1]`. */
  #base = 0;
  #end = 0;
  #transport: Transport | null = null;
  #views: (Buffer | null)[] = Array.from({ length: VIEWS }, () => null);
  #handedOver = 0;

  /**
   * Room for `size` more bytes to `transport`: gives where to write them in `slab`. They must be
   * written before the next call of any method.
   */
  reserve(transport: Transport, size: number): number {
    if (transport !== this.#transport || this.#end + size > this.#slab.length) {
      this.flush();
      this.#transport = transport;
      if (this.#base + size > this.#slab.length) this.#renew(size);
    }
    const at = this.#end;
    this.#end = at + size;
    return at;
  }

  get slab(): Buffer {
    return this.#slab;
  }

  /** Bytes handed to transports since the start. */
  get handedOver(): number {
    return this.#handedOver;
  }

  flush(): void {
    const transport = this.#transport;
    if (transport === null) return;
    this.#transport = null;
    const length = this.#end - this.#base;
    this.#handedOver += length;
    if (transport.send(this.#view(length))) {
      this.#end = this.#base;
      return;
    }
    this.#base = this.#end;
    this.#views.fill(null);
  }

  /** Forgets what is written to `transport` and not handed over. */
  drop(transport: Transport): void {
    if (transport !== this.#transport) return;
    this.#transport = null;
    this.#end = this.#base;
  }

  #view(length: number): Buffer {
    const index = length % VIEWS;
    const kept = this.#views[index];
    if (kept !== null && kept !== undefined && kept.length === length) return kept;
    const view = this.#slab.subarray(this.#base, this.#end);
    this.#views[index] = view;
    return view;
  }

  /** The old slab lives on as long as a transport still sends from it. */
  #renew(size: number): void {
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, size));
    this.#base = 0;
    this.#end = 0;
    this.#views.fill(null);
  }
}
