import type { Finding } from '../thresholds/finding.ts';
import type { ThresholdUnit } from '../thresholds/result.ts';
import type { ParsedThreshold, Term } from '../thresholds/threshold.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatRate,
  formatShare,
} from '../units/index.ts';
import type { FigureInfo } from './figures.ts';

export { expectedText as expectedOf } from '../thresholds/wording.ts';

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

/** `max = 81.4%`. */
export function observedOf(
  { terms }: ParsedThreshold,
  finding: Finding | null,
  info: FigureInfo,
): string {
  if (finding === null) return 'no data';
  const told = terms.map((term, index) => {
    const name = term.percentile === null ? term.aggregate : `p(${term.percentile})`;
    return `${name} = ${format(finding.values[index] ?? 0, unitOf(term, info))}`;
  });
  return [...new Set(told)].join(' and ');
}

function format(value: number, unit: ThresholdUnit): string {
  switch (unit) {
    case 'us':
      return formatDuration(value);
    case 'bytes':
      return formatBytes(value);
    case 'bytes_per_second':
      return `${formatBytes(value)}/s`;
    case 'per_second':
      return formatRate(value);
    case 'share':
      return formatShare(value);
    case 'count':
      return formatCount(value);
  }
}
