/** How late after T the workers began: told once, by the worst of those that are still there. */
export class StartSkew {
  readonly #skewUs = new Map<number, number>();
  readonly #tell: (skewUs: number) => void;
  #told = false;

  constructor(tell: (skewUs: number) => void) {
    this.#tell = tell;
  }

  started(worker: number, skewUs: number, live: readonly number[]): void {
    this.#skewUs.set(worker, skewUs);
    this.review(live);
  }

  /** Call it when a worker is gone: nobody waits for it any more. */
  review(live: readonly number[]): void {
    if (this.#told || this.#skewUs.size === 0) return;
    if (!live.every((worker) => this.#skewUs.has(worker))) return;
    this.#told = true;
    this.#tell(Math.max(...this.#skewUs.values()));
  }
}
