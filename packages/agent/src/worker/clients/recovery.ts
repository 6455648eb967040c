import { at } from '../element.ts';

/** Which clients were lost, or dropped to come back, and since when. */
export class Recovery {
  /** µs of CLOCK_MONOTONIC. */
  readonly lostUs: Float64Array;
  /** Stage in which it went, and 1; 0 where the client is not missing. */
  readonly #stages: Uint16Array;

  constructor(clients: number) {
    this.lostUs = new Float64Array(clients);
    this.#stages = new Uint16Array(clients);
  }

  lose(position: number, nowUs: number, stage: number): void {
    this.lostUs[position] = nowUs;
    this.#stages[position] = stage + 1;
  }

  /** Stage in which the client went; -1 where it is not missing. */
  stageOf(position: number): number {
    return at(this.#stages, position) - 1;
  }

  forget(position: number): void {
    this.#stages[position] = 0;
  }
}
