/** A wait that can be ended from outside, for a loop that must not outlive its owner. */
export class Pause {
  #ended = false;
  #wake: (() => void) | null = null;

  /** Resolves after the time, or at once when it is ended. */
  for(ms: number): Promise<void> {
    if (this.#ended) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }
}
