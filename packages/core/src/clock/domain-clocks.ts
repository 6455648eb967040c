import { MAX_DRIFT } from './clock-estimator.ts';

/** controller µs = µs of the domain + `offsetUs`, off by at most `boundUs`. */
export interface DomainClock {
  /** `clockDomainHash` of the domain. */
  readonly domain: number;
  readonly offsetUs: number;
  readonly boundUs: number;
}

/** What an agent has found out about its clock, and when, on its own clock. */
export interface ClockReport {
  readonly agentUs: number;
  readonly offsetUs: number;
  readonly boundUs: number;
}

interface Known extends ClockReport {
  readonly agent: string;
  readonly domain: number;
}

/** Sums of large doubles: a contradiction smaller than this is rounding. */
const ROUNDING_US = 1;

/**
 * What the controller knows of the clocks of a run's hosts. Agents of one domain read one clock, so
 * each of their reports bounds the same offset and the narrowest part that all allow is known of it.
 * The controller's own domain needs no report: its offset is 0.
 */
export class DomainClocks {
  readonly #own: number;
  readonly #known = new Map<string, Known>();

  /** @param own hash of the controller's clock domain. */
  constructor(own: number) {
    this.#own = own;
  }

  /**
   * The newest report of an agent takes the place of its earlier ones. False where it contradicts the
   * one before: the agent's clock jumped, as when its machine was put to sleep.
   */
  take(agent: string, domain: number, report: ClockReport): boolean {
    const before = this.#known.get(agent);
    this.#known.set(agent, { agent, domain, ...report });
    return before === undefined || agree(before, report);
  }

  /** Domains of agents that have reported. Where it is only one, there is nothing to compare. */
  get domains(): number {
    return new Set([...this.#known.values()].map(({ domain }) => domain)).size;
  }

  /**
   * All domains at the controller's `nowUs`, reports aged to it. A domain whose agents contradict each
   * other is left out and stands in `contradictions`.
   */
  at(nowUs: number): {
    readonly clocks: readonly DomainClock[];
    /** The agents of each such domain: they say that they share a clock, and do not. */
    readonly contradictions: readonly (readonly string[])[];
  } {
    const clocks: DomainClock[] = [];
    const contradictions: string[][] = [];
    for (const [domain, reports] of this.#byDomain()) {
      const clock = this.#clockOf(domain, reports, nowUs);
      if (clock === null) contradictions.push(reports.map(({ agent }) => agent));
      else clocks.push(clock);
    }
    return { clocks, contradictions };
  }

  #byDomain(): Map<number, Known[]> {
    const domains = new Map<number, Known[]>();
    for (const report of this.#known.values()) {
      const others = domains.get(report.domain);
      if (others === undefined) domains.set(report.domain, [report]);
      else others.push(report);
    }
    return domains;
  }

  /** Null where no offset fits all that is said of it. */
  #clockOf(domain: number, reports: readonly Known[], nowUs: number): DomainClock | null {
    const isOwn = domain === this.#own;
    let low = isOwn ? 0 : -Infinity;
    let high = isOwn ? 0 : Infinity;
    for (const { agentUs, offsetUs, boundUs } of reports) {
      const bound = boundUs + MAX_DRIFT * Math.abs(nowUs - (agentUs + offsetUs));
      low = Math.max(low, offsetUs - bound);
      high = Math.min(high, offsetUs + bound);
    }
    if (low > high + ROUNDING_US) return null;
    // Within the rounding the two may have crossed.
    return { domain, offsetUs: (low + high) / 2, boundUs: Math.max(0, (high - low) / 2) };
  }
}

/** Whether one clock can be as both say. */
function agree(a: ClockReport, b: ClockReport): boolean {
  const driftUs = MAX_DRIFT * Math.abs(b.agentUs - a.agentUs);
  return Math.abs(b.offsetUs - a.offsetUs) <= a.boundUs + b.boundUs + driftUs + ROUNDING_US;
}

/** receiver µs = sender µs + `deltaUs`, off by at most `boundUs` at `atUs` of the receiver's clock. */
export interface PeerClock {
  readonly domain: number;
  readonly deltaUs: number;
  readonly boundUs: number;
}

/** How the clocks of other domains look from one of them, at a moment of its own clock. */
export interface PeerView {
  readonly atUs: number;
  readonly peers: readonly PeerClock[];
}

/** Null where nothing is known of the receiver's own domain. */
export function peersOf(
  own: number,
  { at, domains }: { readonly at: number; readonly domains: readonly DomainClock[] },
): PeerView | null {
  const mine = domains.find(({ domain }) => domain === own);
  if (mine === undefined) return null;
  return {
    atUs: at - mine.offsetUs,
    peers: domains
      .filter((other) => other !== mine)
      .map(({ domain, offsetUs, boundUs }) => ({
        domain,
        deltaUs: offsetUs - mine.offsetUs,
        boundUs: boundUs + mine.boundUs,
      })),
  };
}
