import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ClockEstimator, ClockMapping, MAX_DRIFT, MAX_SAMPLES } from '@squall/core/clock';

/** Two clocks: the controller's is the agent's plus an offset that drifts. */
interface World {
  readonly offsetUs: number;
  readonly drift: number;
}

function controllerClock(world: World, agentUs: number): number {
  return agentUs + world.offsetUs + world.drift * agentUs;
}

interface Probe {
  readonly gapUs: number;
  readonly forwardUs: number;
  readonly insideUs: number;
  readonly backUs: number;
}

function sampleOf(world: World, agentSentUs: number, probe: Probe) {
  const arrivesUs = agentSentUs + probe.forwardUs;
  const leavesUs = arrivesUs + probe.insideUs;
  return {
    agentSentUs,
    controllerReceivedUs: controllerClock(world, arrivesUs),
    controllerSentUs: controllerClock(world, leavesUs),
    agentReceivedUs: leavesUs + probe.backUs,
  };
}

const delay = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 2_000_000 }));
const world = fc.record({
  offsetUs: fc.double({ min: -1e12, max: 1e12, noNaN: true }),
  drift: fc.double({ min: -MAX_DRIFT, max: MAX_DRIFT, noNaN: true }),
});
const probes = fc.array(
  fc.record({
    gapUs: fc.integer({ min: 0, max: 20_000_000 }),
    forwardUs: delay,
    insideUs: fc.integer({ min: 0, max: 50_000 }),
    backUs: delay,
  }),
  { minLength: 1, maxLength: 40 },
);
/** Rounding of sums near 1e12. */
const ROUNDING_US = 0.01;

describe('ClockEstimator', () => {
  it('keeps the true offset within its bound, however asymmetric the way and whatever the drift', () => {
    fc.assert(
      fc.property(world, probes, fc.integer({ min: 0, max: 60_000_000 }), (clocks, list, later) => {
        const estimator = new ClockEstimator();
        let now = 1_000_000;
        for (const probe of list) {
          const sample = sampleOf(clocks, now + probe.gapUs, probe);
          now = sample.agentReceivedUs;
          estimator.add(sample);
          for (const at of [now, now + later]) {
            const trueOffset = controllerClock(clocks, at) - at;
            const estimate = estimator.estimate(at);
            expect(Math.abs((estimate?.offsetUs ?? NaN) - trueOffset)).toBeLessThanOrEqual(
              (estimate?.boundUs ?? NaN) + ROUNDING_US,
            );
          }
        }
        expect(estimator.steps).toBe(0);
        expect(estimator.rejected).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('rests on the shortest round trip', () => {
    const estimator = new ClockEstimator();
    const clocks = { offsetUs: 5_000, drift: 0 };
    const slow = { gapUs: 0, forwardUs: 9_000, insideUs: 10, backUs: 200 };
    const quick = { gapUs: 0, forwardUs: 60, insideUs: 10, backUs: 50 };
    for (const [at, probe] of [slow, quick, slow].entries()) {
      estimator.add(sampleOf(clocks, at * 10_000, probe));
    }
    const estimate = estimator.estimate(30_000);
    expect(estimate?.offsetUs).toBe(5_005);
    expect(estimate?.rttUs).toBe(110);
    expect(estimate?.boundUs).toBeCloseTo(55 + 2, 5);
  });

  it('sees a step of either clock and starts anew from the probe that showed it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20_000, max: 1e9 }), fc.boolean(), (size, forward) => {
        const estimator = new ClockEstimator();
        const probe = { gapUs: 0, forwardUs: 100, insideUs: 10, backUs: 100 };
        const step = forward ? size : -size;
        for (let k = 0; k < 5; k++) {
          estimator.add(sampleOf({ offsetUs: 0, drift: 0 }, k * 1e6, probe));
        }
        estimator.add(sampleOf({ offsetUs: step, drift: 0 }, 5e6, probe));
        expect(estimator.steps).toBe(1);
        expect(estimator.sampleCount).toBe(1);
        expect(estimator.estimate(5e6)?.offsetUs).toBeCloseTo(step, 3);
      }),
    );
  });

  it('leaves probes out that cannot be true, and counts them', () => {
    const estimator = new ClockEstimator();
    const good = {
      agentSentUs: 0,
      controllerReceivedUs: 100,
      controllerSentUs: 110,
      agentReceivedUs: 200,
    };
    estimator.add({ ...good, agentReceivedUs: NaN });
    estimator.add({ ...good, controllerReceivedUs: Infinity });
    estimator.add({ ...good, agentReceivedUs: -1 });
    estimator.add({ ...good, controllerSentUs: 90 });
    // The controller claims to have thought for longer than the whole round trip took.
    estimator.add({ ...good, controllerSentUs: 5_000 });
    expect(estimator.rejected).toBe(5);
    expect(estimator.estimate(0)).toBeNull();
  });

  it('forgets what is older than a minute and holds a bounded number', () => {
    const estimator = new ClockEstimator();
    const probe = { gapUs: 0, forwardUs: 50, insideUs: 0, backUs: 50 };
    for (let k = 0; k < MAX_SAMPLES + 50; k++) {
      estimator.add(sampleOf({ offsetUs: 1, drift: 0 }, k * 1_000, probe));
    }
    expect(estimator.sampleCount).toBe(MAX_SAMPLES);
    estimator.add(sampleOf({ offsetUs: 1, drift: 0 }, 200_000_000, probe));
    expect(estimator.sampleCount).toBe(1);
  });
});

describe('ClockMapping', () => {
  it('maps forth and back by the estimate it was made from', () => {
    const mapping = new ClockMapping({ offsetUs: 250, boundUs: 3, rttUs: 6 });
    expect(mapping.toControllerUs(1_000)).toBe(1_250);
    expect(mapping.toAgentUs(1_250)).toBe(1_000);
    expect(mapping.boundUs).toBe(3);
  });
});
