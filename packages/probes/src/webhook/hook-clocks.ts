import { MAX_DRIFT } from '@squall/core/clock';
import { clockDomainHash } from '@squall/core/stamp';

/** A clock as seen from this host: µs here = µs of the domain + offset, off by at most the bound. */
export interface SeenClock {
  /** `clockDomainHash` of the domain, as stamps name it. */
  readonly domain: number;
  readonly offsetUs: number;
  readonly boundUs: number;
}

export interface Converted {
  /** µs of this host's monotonic clock. */
  us: number;
  boundUs: number;
}

/** The clocks of publishers that messages are timed by: this host's own, and those it was told of. */
export class HookClocks {
  /** `clockDomainHash` of this host's own. */
  readonly ownHash: number;
  #seen = new Map<number, SeenClock>();
  #seenAtUs = 0;
  /** The same object each time: messages are many. */
  readonly #converted: Converted = { us: 0, boundUs: 0 };

  /** `domain`: of this process, boot id and time namespace. */
  constructor(domain: string) {
    this.ownHash = clockDomainHash(domain);
  }

  /** What is told now takes the place of what was told before. */
  see(clocks: readonly SeenClock[], nowUs: number): void {
    this.#seen = new Map(clocks.map((clock) => [clock.domain, clock]));
    this.#seenAtUs = nowUs;
  }

  /** A moment of another clock on this host's; null where that clock is not known. Valid until the next call. */
  convert(domain: number, us: number, nowUs: number): Readonly<Converted> | null {
    const converted = this.#converted;
    converted.us = us;
    converted.boundUs = 0;
    if (domain === this.ownHash) return converted;
    const seen = this.#seen.get(domain);
    if (seen === undefined) return null;
    converted.us = us + seen.offsetUs;
    // Since they were compared the clocks may have drifted apart.
    const agedUs = Math.abs(nowUs - this.#seenAtUs) + Math.abs(nowUs - converted.us);
    converted.boundUs = Math.ceil(seen.boundUs + MAX_DRIFT * agedUs) + 1;
    return converted;
  }
}
