import type { Pace } from '../plan/plan.ts';
import { RateProfile, type RateSegment } from './rate-profile.ts';

/** @throws RangeError for a closed loop, which has no rate of its own. */
export function rateProfile(pace: Pace, clients: number): RateProfile {
  switch (pace.kind) {
    case 'every':
      return new RateProfile([], (clients / pace.everyUs) * 1_000_000);
    case 'rate':
      return new RateProfile([], pace.perS);
    case 'ramp': {
      const { fromPerS, toPerS, overUs } = pace;
      return new RateProfile([{ forUs: overUs, fromPerS, toPerS }], toPerS);
    }
    case 'steps': {
      const segments = pace.steps.map(({ perS, forUs }) => flat(perS, forUs));
      return new RateProfile(segments, pace.steps.at(-1)?.perS ?? 0);
    }
    case 'spike': {
      const { basePerS, atUs, forUs } = pace;
      const segments = [flat(basePerS, atUs), flat(pace.peakPerS, forUs)];
      return new RateProfile(
        segments.filter((segment) => segment.forUs > 0),
        basePerS,
      );
    }
    case 'max':
      throw new RangeError('a closed loop has no schedule');
  }
}

/** The highest rate of a pace in its first `lengthUs`, a second; null for a closed loop. */
export function peakPerS(pace: Pace, clients: number, lengthUs: number): number | null {
  switch (pace.kind) {
    case 'max':
      return null;
    case 'every':
      return (clients / pace.everyUs) * 1_000_000;
    case 'rate':
      return pace.perS;
    case 'ramp':
      return Math.max(pace.fromPerS, rateProfile(pace, clients).perS(lengthUs));
    case 'spike':
      return lengthUs > pace.atUs ? Math.max(pace.basePerS, pace.peakPerS) : pace.basePerS;
    case 'steps': {
      let beganUs = 0;
      let peak = 0;
      for (const { perS, forUs } of pace.steps) {
        if (beganUs < lengthUs) peak = Math.max(peak, perS);
        beganUs += forUs;
      }
      return peak;
    }
  }
}

function flat(perS: number, forUs: number): RateSegment {
  return { forUs, fromPerS: perS, toPerS: perS };
}
