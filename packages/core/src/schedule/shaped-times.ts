// Data path
import { type RateProfile, wholeIfNear } from './rate-profile.ts';
import { UnitArrivals } from './unit-arrivals.ts';

/**
 * How the ticks of a schedule lie in their places. `even`: tick i where i messages are due by the
 * rate. `poisson`: the arrivals of a Poisson process with that rate. `random`: each client at a random
 * place of its period, the same one in every period. The last two depend on the seed alone.
 */
export type Spacing =
  | { readonly kind: 'even' }
  | { readonly kind: 'poisson' | 'random'; readonly seed: number };

/**
 * Due times of a schedule that is more than one even rate: a profile says how many messages are due
 * by when, the spacing moves each tick off its even place. Time and tick are functions of one another,
 * so neither the number of agents nor the order of questions changes either.
 */
export class ShapedTimes {
  readonly #profile: RateProfile;
  readonly #clients: number;
  readonly #isPoisson: boolean;
  readonly #arrivals: UnitArrivals | null;
  /** The place that ends a period of random phases: one gap more than there are clients. */
  readonly #round: Float64Array = new Float64Array(1);

  constructor(profile: RateProfile, clients: number, spacing: Spacing) {
    this.#profile = profile;
    this.#clients = clients;
    this.#isPoisson = spacing.kind === 'poisson';
    this.#arrivals = spacing.kind === 'even' ? null : new UnitArrivals(spacing.seed);
    this.#arrivals?.locate(clients, this.#round);
  }

  /** Puts the due time of a tick, µs from the stage's clock, into `cell[0]`. */
  locate(tick: number, cell: Float64Array): void {
    const arrivals = this.#arrivals;
    if (arrivals === null) cell[0] = tick;
    else if (this.#isPoisson) arrivals.locate(tick, cell);
    else {
      const rank = tick % this.#clients;
      arrivals.locate(rank, cell);
      cell[0] = tick - rank + ((cell[0] ?? 0) / this.#roundLength) * this.#clients;
    }
    this.#profile.resolve(cell);
  }

  /** Ticks that are due before `us`. */
  ticksBefore(us: number): number {
    const count = this.#profile.countAt(us);
    const arrivals = this.#arrivals;
    if (arrivals === null) return Math.ceil(wholeIfNear(count));
    if (this.#isPoisson) return arrivals.countBefore(count);
    const rounds = Math.floor(wholeIfNear(count / this.#clients));
    const share = count / this.#clients - rounds;
    const inRound = arrivals.countBefore(share * this.#roundLength);
    return rounds * this.#clients + Math.min(inRound, this.#clients);
  }

  get #roundLength(): number {
    return this.#round[0] ?? 0;
  }
}
