import type { ThresholdResult } from '../thresholds/result.ts';
import { formatDuration } from '../units/index.ts';
import type { GeneratorFacts } from './generator-watch.ts';

/** A lateness explains a longer time, and what was counted in a longer span, from this share of it up. */
const SHARE = 0.1;
/** Times of a span are explained by what was late in at least this share of it. */
const SHARE_OF_SPAN = 0.01;

/**
 * One sentence where a threshold was broken while the generator itself was late: a broker that only
 * got its messages late must not be taken for the culprit. Null where there is nothing to say.
 */
export function generatorShare(
  threshold: ThresholdResult,
  { agents }: GeneratorFacts,
): string | null {
  const { state, worst, unit, text } = threshold;
  if ((state !== 'fail' && state !== 'warn') || worst === null) return null;
  const lengthUs = worst.toUs - worst.fromUs;
  const leastUs = SHARE * (unit === 'us' ? worst.value : lengthUs);
  let most: { readonly agent: string; readonly byUs: number } | null = null;
  const byId = [...agents].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [agent, { late }] of byId) {
    for (const { fromUs, toUs, byUs } of late) {
      const sharedUs = Math.min(toUs, worst.toUs) - Math.max(fromUs, worst.fromUs);
      if (sharedUs <= SHARE_OF_SPAN * lengthUs || byUs < leastUs) continue;
      if (most === null || byUs > most.byUs) most = { agent, byUs };
    }
  }
  if (most === null) return null;
  const from = formatDuration(Math.max(0, worst.fromUs));
  const span = `${from} to ${formatDuration(worst.toUs)} of the run`;
  return `the generator itself was late by up to ${formatDuration(most.byUs)} (agent ${most.agent}) where threshold "${text}" did not hold (${worst.stage}, ${span}): this failure is explained by it, wholly or in part`;
}
