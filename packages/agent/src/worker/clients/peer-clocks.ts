// Data path
import { MAX_DRIFT, type PeerView } from '@squall/core/clock';
import { at } from '../element.ts';
import { type Moment, momentOf } from '../clock.ts';

/** Longest bound that is stated, µs: it stays a whole number that needs no box. */
const MAX_BOUND_US = 1_073_741_823;

/**
 * The clocks of other hosts as this worker sees them, so that what comes from there can be timed. The
 * view is renewed all the time; between two of them, and for as long as a message was under way, the
 * clocks may drift apart, and the bound grows by that.
 */
export class PeerClocks {
  readonly #moment: Moment;
  readonly #places = new Map<number, number>();
  #deltasUs = new Float64Array(0);
  #boundsUs = new Float64Array(0);
  readonly #viewUs = new Float64Array(1);
  /** The moment that was converted last, µs of this host's clock, and how far off it may be. */
  readonly convertedUs = new Float64Array(1);
  boundUs = 0;

  constructor(moment: Moment) {
    this.#moment = moment;
  }

  /** The newest view takes the place of the one before. */
  see({ atUs, peers }: PeerView): void {
    this.#places.clear();
    this.#deltasUs = new Float64Array(peers.length);
    this.#boundsUs = new Float64Array(peers.length);
    for (const [place, { domain, deltaUs, boundUs }] of peers.entries()) {
      this.#places.set(domain, place);
      this.#deltasUs[place] = deltaUs;
      this.#boundsUs[place] = boundUs;
    }
    this.#viewUs[0] = atUs;
  }

  /**
   * Puts what `fromUs[index]` of another domain's clock is on ours into `convertedUs`, and its error
   * into `boundUs`. False where nothing is known of that clock.
   */
  convert(domain: number, fromUs: Float64Array, index: number): boolean {
    const place = this.#places.get(domain);
    if (place === undefined) return false;
    const nowUs = momentOf(this.#moment);
    const us = at(fromUs, index) + at(this.#deltasUs, place);
    this.convertedUs[0] = us;
    const driftUs = MAX_DRIFT * (Math.abs(nowUs - at(this.#viewUs, 0)) + Math.abs(nowUs - us));
    const boundUs = at(this.#boundsUs, place) + driftUs + 1;
    this.boundUs = boundUs < MAX_BOUND_US ? boundUs | 0 : MAX_BOUND_US;
    return true;
  }
}
