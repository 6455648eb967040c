import type { BalanceSpec } from '../plan/balance-spec.ts';
import { type Curve, withPoint } from '../probes/curve.ts';
import { type BalanceState, judgeBalance } from './judge-balance.ts';
import type { BalanceFacts } from './read-side.ts';

/** An equation when the run is over. */
export interface BalanceResult extends BalanceState {
  /** From the end of the load until it held, µs; null where it did not. */
  readonly settledAfterUs: number | null;
  /** Difference over the run's time. */
  readonly points: Curve;
}

export interface BalanceWatchState {
  readonly points: readonly Curve[];
  readonly settledUs: readonly (number | null)[];
}

/** The equations of a plan over the time of a run: when a difference opened, and when it closed. */
export class BalanceWatch {
  readonly #spec: BalanceSpec;
  readonly #facts: BalanceFacts;
  #points: readonly Curve[];
  /** On the run's timeline; null: it does not hold now. */
  #settledUs: readonly (number | null)[];

  constructor(spec: BalanceSpec, facts: BalanceFacts, state?: BalanceWatchState) {
    this.#spec = spec;
    this.#facts = facts;
    this.#points = state?.points ?? spec.equations.map(() => []);
    this.#settledUs = state?.settledUs ?? spec.equations.map(() => null);
  }

  toJSON(): BalanceWatchState {
    return { points: this.#points, settledUs: this.#settledUs };
  }

  /** Looks at all sides. Both times are on the run's timeline. `loadEndUs` null: the load goes on. */
  look(atUs: number, loadEndUs: number | null = null): readonly BalanceState[] {
    const states = judgeBalance(this.#spec, this.#facts, { loadEndUs });
    this.#points = states.map(({ difference }, index) =>
      withPoint(this.#points[index] ?? [], atUs, difference),
    );
    this.#settledUs = states.map(({ holds }, index) =>
      holds ? (this.#settledUs[index] ?? atUs) : null,
    );
    return states;
  }

  /** `loadEndUs`: on the run's timeline; null where the load never ended by itself. */
  results(loadEndUs: number | null): BalanceResult[] {
    return judgeBalance(this.#spec, this.#facts, { loadEndUs }).map((state, index) => {
      const settled = this.#settledUs[index] ?? null;
      const after =
        settled === null || loadEndUs === null ? null : Math.max(0, settled - loadEndUs);
      return {
        ...state,
        settledAfterUs: state.holds ? after : null,
        points: this.#points[index] ?? [],
      };
    });
  }
}
