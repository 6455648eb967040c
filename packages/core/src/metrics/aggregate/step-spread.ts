/** The part of a slice that falls into one step of the timeline; the shares of a slice sum to 1. */
export interface StepShare {
  readonly step: number;
  readonly share: number;
}

/**
 * Agents map moments with clocks that differ by less than this: a slice that reaches into a step by
 * so little does not belong to it.
 */
const TOLERANCE_US = 5_000;

/** The steps of length `stepUs` that `fromUs … toUs` (from the start of the run) lies in. */
export function spreadOverSteps(fromUs: number, toUs: number, stepUs: number): StepShare[] {
  const length = toUs - fromUs;
  const first = stepOf(fromUs, stepUs);
  if (length <= 2 * TOLERANCE_US) return [{ step: stepOf((fromUs + toUs) / 2, stepUs), share: 1 }];
  const last = Math.max(first, stepOf(toUs, stepUs));
  const parts: { readonly step: number; readonly us: number }[] = [];
  for (let step = first; step <= last; step++) {
    const us = Math.min(toUs, (step + 1) * stepUs) - Math.max(fromUs, step * stepUs);
    if (us > TOLERANCE_US) parts.push({ step, us });
  }
  const whole = parts.reduce((sum, part) => sum + part.us, 0);
  // Everything before the start of the run counts as its first step.
  if (whole === 0) return [{ step: first, share: 1 }];
  return parts.map(({ step, us }) => ({ step, share: us / whole }));
}

function stepOf(us: number, stepUs: number): number {
  return Math.max(0, Math.floor(us / stepUs));
}
