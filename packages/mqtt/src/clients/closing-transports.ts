import type { Transport } from '../transport/transport.ts';

/** How long a finished transport may wait for the broker to close its side, µs. */
const LINGER_US = 1e6;

/**
 * Transports that said DISCONNECT and wait for the peer to close. Closing at once would reset the
 * connection where the broker has sent something that was not read yet, and a reset may overtake
 * our last packets.
 */
export class ClosingTransports {
  /** With the moment at which each is cut off; in the order of these moments. */
  readonly #deadlines = new Map<Transport, number>();

  add(transport: Transport, nowUs: number): void {
    this.#deadlines.set(transport, nowUs + LINGER_US);
  }

  remove(transport: Transport): void {
    this.#deadlines.delete(transport);
  }

  /** Cuts off those that have waited too long. */
  sweep(nowUs: number): void {
    for (const [transport, deadlineUs] of this.#deadlines) {
      if (deadlineUs > nowUs) return;
      this.#deadlines.delete(transport);
      transport.abort();
    }
  }

  abortAll(): void {
    for (const transport of this.#deadlines.keys()) transport.abort();
    this.#deadlines.clear();
  }

  get count(): number {
    return this.#deadlines.size;
  }
}
