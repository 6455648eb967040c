import type { Report } from '@squall/core/report';
import type { RunFigures } from '../run/run-figures.ts';
import { momentOf } from './views.ts';

/** The thresholds of a run that goes on, in the form that they have in its report. */
export function thresholdViews(figures: RunFigures | null): Report['thresholds'] {
  if (figures === null) return [];
  const at = (us: number) => momentOf(figures.startedMs + us / 1_000);
  return figures.thresholds().map(({ worst, ...threshold }) => ({
    ...threshold,
    worst:
      worst === null
        ? null
        : { stage: worst.stage, from: at(worst.fromUs), to: at(worst.toUs), value: worst.value },
  }));
}
