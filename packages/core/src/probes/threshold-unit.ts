import type { ThresholdUnit } from '../thresholds/result.ts';
import type { Term } from '../thresholds/threshold.ts';
import type { FigureInfo } from './figures.ts';

const UNITS: Readonly<Record<NonNullable<FigureInfo['unit']>, ThresholdUnit>> = {
  count: 'count',
  bytes: 'bytes',
  seconds: 'us',
  share: 'share',
  per_second: 'per_second',
  bytes_per_second: 'bytes_per_second',
};

/** Where only the server knows what a figure is, the threshold's own literal says how to show it. */
export function unitOf(term: Term | undefined, { unit }: FigureInfo): ThresholdUnit {
  if (term === undefined) return 'count';
  if (term.aggregate === 'rate') return unit === 'bytes' ? 'bytes_per_second' : 'per_second';
  if (unit !== null) return UNITS[unit];
  switch (term.literal.kind) {
    case 'duration':
      return 'us';
    case 'size':
      return 'bytes';
    case 'rate':
      return 'per_second';
    case 'byte_rate':
      return 'bytes_per_second';
    case 'count':
    case 'share':
      return term.literal.kind;
  }
}
