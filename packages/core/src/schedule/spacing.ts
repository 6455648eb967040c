import type { PublishStream } from '../plan/plan.ts';
import { crc32OfText } from '../stamp/crc32.ts';
import type { Spacing } from './shaped-times.ts';

/**
 * How the messages of a stream lie in time in one stage. What is random about it follows from the
 * stream and the stage alone: the same plan has the same schedule in every run.
 */
export function spacingOf(
  stream: Pick<PublishStream, 'arrivals' | 'phase' | 'subject'>,
  stage: number,
): Spacing {
  if (stream.arrivals === 'even' && stream.phase === 'even') return { kind: 'even' };
  const kind = stream.arrivals === 'poisson' ? 'poisson' : 'random';
  return { kind, seed: crc32OfText(`${kind} ${stream.subject} ${stage}`) };
}
