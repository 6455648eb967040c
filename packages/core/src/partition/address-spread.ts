import type { Spread } from '../plan/plan.ts';
import { apportion } from './partition.ts';

/**
 * Spreads the clients of a group over the addresses of its target: one after the other (`round-robin`),
 * in contiguous blocks as equal as can be (`blocks`), or all to the first one (`first`).
 */
export class AddressSpread {
  readonly #spread: Spread;
  readonly #urls: number;
  /** Index of each block's first client, with blocks. */
  readonly #starts: readonly number[];

  /** @param urls addresses of the target, ≥ 1. @param clients of the whole group. */
  constructor(spread: Spread, urls: number, clients: number) {
    this.#spread = spread;
    this.#urls = urls;
    let next = 0;
    this.#starts =
      spread === 'blocks'
        ? apportion(clients, Array<number>(urls).fill(1)).map((size) => {
            const start = next;
            next += size;
            return start;
          })
        : [];
  }

  /** Address of the client with index `n` in its group, from 0. */
  urlOf(n: number): number {
    switch (this.#spread) {
      case 'round-robin':
        return n % this.#urls;
      case 'first':
        return 0;
      case 'blocks':
        return this.#blockOf(n);
    }
  }

  /** `{{block.n}}` of that client, from 0. */
  blockNOf(n: number): number {
    switch (this.#spread) {
      case 'round-robin':
        return Math.floor(n / this.#urls);
      case 'first':
        return n;
      case 'blocks':
        return n - (this.#starts[this.#blockOf(n)] ?? 0);
    }
  }

  /** The last block that begins at or before `n`; empty ones at the end have no client. */
  #blockOf(n: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#starts[middle] ?? 0) <= n) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
