/**
 * How an agent maps its monotonic clock to the controller's: four timestamps a probe, the probe with
 * the shortest round trip wins, and every answer comes with its error bound.
 *
 * With a forward delay f and a way back b, a probe's offset is wrong by (f − b) / 2, which is never
 * more than half of the round trip, whatever the asymmetry. Averaging would only mix bad probes in.
 */

/** One probe, µs: sent and received on the agent's clock, received and sent on the controller's. */
export interface ClockSample {
  readonly agentSentUs: number;
  readonly controllerReceivedUs: number;
  readonly controllerSentUs: number;
  readonly agentReceivedUs: number;
}

/** controller µs = agent µs + `offsetUs`, off by at most `boundUs`. */
export interface ClockEstimate {
  readonly offsetUs: number;
  readonly boundUs: number;
  /** Round trip of the probe that the estimate rests on. */
  readonly rttUs: number;
}

/** Two clocks drift apart by at most this share: 100 ppm, 1 ms in 10 s. */
export const MAX_DRIFT = 100e-6;

/** Probes older than this say nothing worth keeping: their ageing alone is 6 ms. */
export const SAMPLE_AGE_LIMIT_US = 60_000_000;

/** Probes kept at most; eight a second fill it in 64 s. */
export const MAX_SAMPLES = 512;

export class ClockEstimator {
  #samples: ClockSample[] = [];
  #steps = 0;
  #rejected = 0;

  /**
   * Takes a probe. One that cannot be true (not finite, times running backwards, a negative round
   * trip) is counted and left out. One that contradicts the earlier ones means that a clock stepped
   * or a machine was paused: the earlier ones are forgotten.
   */
  add(sample: ClockSample): void {
    if (!isPossible(sample)) {
      this.#rejected++;
      return;
    }
    const now = sample.agentReceivedUs;
    const kept = this.#samples.filter((old) => now - old.agentSentUs <= SAMPLE_AGE_LIMIT_US);
    if (kept.length >= MAX_SAMPLES) kept.shift();
    kept.push(sample);
    if (intersect(kept, now)) {
      this.#samples = kept;
    } else {
      this.#steps++;
      this.#samples = [sample];
    }
  }

  /** The best estimate at the agent's `nowUs`, or null before the first probe. */
  estimate(nowUs: number): ClockEstimate | null {
    let best: ClockEstimate | null = null;
    for (const sample of this.#samples) {
      const boundUs = boundOf(sample, nowUs);
      if (best === null || boundUs < best.boundUs) {
        best = { offsetUs: offsetOf(sample), boundUs, rttUs: roundTripOf(sample) };
      }
    }
    return best;
  }

  /** Clock steps (or pauses of a machine) that were seen. */
  get steps(): number {
    return this.#steps;
  }

  /** Probes that could not be true. */
  get rejected(): number {
    return this.#rejected;
  }

  get sampleCount(): number {
    return this.#samples.length;
  }
}

function roundTripOf(s: ClockSample): number {
  return s.agentReceivedUs - s.agentSentUs - (s.controllerSentUs - s.controllerReceivedUs);
}

function offsetOf(s: ClockSample): number {
  return (s.controllerReceivedUs - s.agentSentUs + (s.controllerSentUs - s.agentReceivedUs)) / 2;
}

/** Half the round trip, plus the drift since the probe was sent. */
function boundOf(sample: ClockSample, nowUs: number): number {
  return roundTripOf(sample) / 2 + MAX_DRIFT * Math.abs(nowUs - sample.agentSentUs);
}

function isPossible(s: ClockSample): boolean {
  const forward =
    s.agentReceivedUs >= s.agentSentUs && s.controllerSentUs >= s.controllerReceivedUs;
  // Infinite and NaN times give a bound that is no finite number; within the drift of the probe
  // itself, a round trip may come out a hair below zero.
  const bound = boundOf(s, s.agentReceivedUs);
  return forward && Number.isFinite(bound) && Number.isFinite(offsetOf(s)) && bound >= 0;
}

/** Whether one offset fits all samples, aged to `nowUs`. */
function intersect(samples: readonly ClockSample[], nowUs: number): boolean {
  let low = -Infinity;
  let high = Infinity;
  for (const sample of samples) {
    const offset = offsetOf(sample);
    const bound = boundOf(sample, nowUs);
    low = Math.max(low, offset - bound);
    high = Math.min(high, offset + bound);
  }
  // Sums of large doubles: a contradiction smaller than 1 µs is rounding.
  return low <= high + 1;
}
