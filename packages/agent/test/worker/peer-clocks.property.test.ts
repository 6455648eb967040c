import { ClockEstimator, DomainClocks, MAX_DRIFT, peersOf } from '@squall/core/clock';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PeerClocks } from '../../src/worker/clients/peer-clocks.ts';

/** A host's clock as the true time, the controller's, sees it. */
interface HostClock {
  readonly offsetUs: number;
  readonly drift: number;
}

function read({ offsetUs, drift }: HostClock, trueUs: number): number {
  return offsetUs + trueUs * (1 + drift);
}

/** An agent's probes over a way with a delay of its own in each direction. */
interface Way {
  readonly forwardUs: number;
  readonly backUs: number;
}

/** Rounding of sums near 1e12, and the whole µs of a bound. */
const ROUNDING_US = 0.05;
const SECOND = 1_000_000;
const [SENDER, RECEIVER, CONTROLLER] = [11, 22, 33];

/** Seconds of a run, with the probes of each and the controller's word after them. */
class Fleet {
  readonly #moment = new Float64Array(1);
  readonly peers = new PeerClocks(this.#moment);
  readonly #domains = new DomainClocks(CONTROLLER);
  readonly #hosts;

  constructor(sender: HostClock & Way, receiver: HostClock & Way) {
    this.#hosts = [
      { domain: SENDER, host: sender, estimator: new ClockEstimator() },
      { domain: RECEIVER, host: receiver, estimator: new ClockEstimator() },
    ];
  }

  get receiver(): HostClock {
    return (this.#hosts[1] ?? this.#hosts[0])?.host ?? { offsetUs: 0, drift: 0 };
  }

  synchronise(trueUs: number): void {
    for (const { domain, host, estimator } of this.#hosts) {
      const arrivesUs = trueUs + host.forwardUs;
      const backUs = arrivesUs + host.backUs;
      estimator.add({
        agentSentUs: read(host, trueUs),
        controllerReceivedUs: arrivesUs,
        controllerSentUs: arrivesUs,
        agentReceivedUs: read(host, backUs),
      });
      const agentUs = read(host, backUs);
      const estimate = estimator.estimate(agentUs);
      if (estimate !== null) this.#domains.take(`of ${domain}`, domain, { agentUs, ...estimate });
    }
    const at = trueUs + SECOND / 2;
    const { clocks, contradictions } = this.#domains.at(at);
    if (contradictions.length > 0) throw new Error('the clocks contradict each other');
    const view = peersOf(RECEIVER, { at, domains: clocks });
    if (view === null) throw new Error('the receiver is not known');
    this.peers.see(view);
  }

  /** What a message that was due and received at these true times is timed at, and its error. */
  time(sender: HostClock, dueUs: number, receivedUs: number): { us: number; boundUs: number } {
    this.#moment[0] = read(this.receiver, receivedUs);
    const due = new Float64Array([read(sender, dueUs)]);
    if (!this.peers.convert(SENDER, due, 0)) throw new Error('the sender is not known');
    return {
      us: (this.#moment[0] ?? 0) - (this.peers.convertedUs[0] ?? 0),
      boundUs: this.peers.boundUs,
    };
  }
}

/** Two clocks drift apart by `MAX_DRIFT` at most, so each from the controller's by half of it. */
const host = fc.record({
  offsetUs: fc.double({ min: 0, max: 1e12, noNaN: true }),
  drift: fc.double({ min: -MAX_DRIFT / 2, max: MAX_DRIFT / 2, noNaN: true }),
  forwardUs: fc.integer({ min: 1, max: 200_000 }),
  backUs: fc.integer({ min: 1, max: 200_000 }),
});

describe('deliveries between hosts', () => {
  it('are timed within their bound for hours, however the clocks drift and the ways differ', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 20_000_000 }), {
      minLength: 5,
      maxLength: 5,
    });
    fc.assert(
      fc.property(host, host, delays, (sender, receiver, messages) => {
        const fleet = new Fleet(sender, receiver);
        for (let second = 0; second < 7_200; second += 9) {
          fleet.synchronise(second * SECOND);
          if (second % 900 !== 0) continue;
          for (const delayUs of messages) {
            const receivedUs = second * SECOND + SECOND / 2 + delayUs / 7;
            const { us, boundUs } = fleet.time(sender, receivedUs - delayUs, receivedUs);
            expect(Math.abs(us - delayUs)).toBeLessThanOrEqual(boundUs + ROUNDING_US);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('have a bound of half of both round trips, and what the clocks drift meanwhile', () => {
    const sender = { offsetUs: 5e9, drift: 0, forwardUs: 100, backUs: 300 };
    const receiver = { offsetUs: 9e9, drift: 0, forwardUs: 20, backUs: 20 };
    const fleet = new Fleet(sender, receiver);
    fleet.synchronise(0);
    const { boundUs } = fleet.time(sender, SECOND / 2, SECOND / 2);
    // Half a second of drift on each side, and one µs for rounding.
    expect(boundUs).toBeGreaterThanOrEqual(200 + 20);
    expect(boundUs).toBeLessThanOrEqual(200 + 20 + 2 * 50 + 2);
  });

  it('have a bound that grows while nothing is heard of the clocks', () => {
    const clock = { offsetUs: 1e9, drift: 0, forwardUs: 50, backUs: 50 };
    const fleet = new Fleet(clock, clock);
    fleet.synchronise(0);
    const soon = fleet.time(clock, SECOND, SECOND).boundUs;
    const late = fleet.time(clock, 61 * SECOND, 61 * SECOND).boundUs;
    expect(late - soon).toBeGreaterThanOrEqual(60 * SECOND * MAX_DRIFT - 1);
  });

  it('are not timed where nothing is known of the sender’s clock', () => {
    const peers = new PeerClocks(new Float64Array(1));
    expect(peers.convert(SENDER, new Float64Array(1), 0)).toBe(false);
  });
});
