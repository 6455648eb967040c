import type { RocketmqPublish } from '@squall/core/plan';
import type { TransactionState } from '@squall/rocketmq';

/** Spreads rolled back and open half messages evenly over all: the same in every run. */
export class TransactionShares {
  readonly #rollback: number;
  readonly #unknown: number;
  #rolledBack = 0;
  #leftOpen = 0;
  #all = 0;

  constructor({ rollback, unknown }: NonNullable<RocketmqPublish['transaction']>) {
    this.#rollback = rollback;
    this.#unknown = unknown;
  }

  next(): TransactionState {
    this.#all += 1;
    if (this.#rolledBack + 1 <= this.#all * this.#rollback) {
      this.#rolledBack += 1;
      return 'rollback';
    }
    if (this.#leftOpen + 1 <= this.#all * this.#unknown) {
      this.#leftOpen += 1;
      return 'unknown';
    }
    return 'commit';
  }
}
