import { at } from '../element.ts';

/**
 * Clients that wait for their next attempt, the earliest first: a binary heap in typed arrays. A
 * client may be in it more than once after it was taken out of the game in between; its owner knows
 * by the time which entry counts.
 */
export class RetryQueue {
  #atUs = new Float64Array(64);
  #positions = new Uint32Array(64);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The earliest time, µs; Infinity where nobody waits. */
  firstUs(): number {
    return this.#size === 0 ? Number.POSITIVE_INFINITY : at(this.#atUs, 0);
  }

  firstPosition(): number {
    return at(this.#positions, 0);
  }

  push(position: number, atUs: number): void {
    this.#reserve();
    let hole = this.#size;
    this.#size += 1;
    while (hole > 0) {
      const parent = (hole - 1) >>> 1;
      if (at(this.#atUs, parent) <= atUs) break;
      this.#move(parent, hole);
      hole = parent;
    }
    this.#atUs[hole] = atUs;
    this.#positions[hole] = position;
  }

  pop(): void {
    this.#size -= 1;
    const lastUs = at(this.#atUs, this.#size);
    const last = at(this.#positions, this.#size);
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && at(this.#atUs, child + 1) < at(this.#atUs, child)) child += 1;
      if (at(this.#atUs, child) >= lastUs) break;
      this.#move(child, hole);
      hole = child;
    }
    this.#atUs[hole] = lastUs;
    this.#positions[hole] = last;
  }

  #move(from: number, to: number): void {
    this.#atUs[to] = at(this.#atUs, from);
    this.#positions[to] = at(this.#positions, from);
  }

  #reserve(): void {
    if (this.#size < this.#positions.length) return;
    const times = new Float64Array(this.#size * 2);
    const positions = new Uint32Array(this.#size * 2);
    times.set(this.#atUs);
    positions.set(this.#positions);
    this.#atUs = times;
    this.#positions = positions;
  }
}
