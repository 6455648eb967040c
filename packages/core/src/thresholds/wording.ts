import type { MetricInfo } from '../metrics/index.ts';
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatRate,
  formatShare,
} from '../units/index.ts';
import type { Finding } from './finding.ts';
import type { ThresholdUnit } from './result.ts';
import type { ParsedThreshold, Term } from './threshold.ts';

/** What is asked for, without the metric: `p(99) < 500ms over 10s for 3`. */
export function expectedText(parsed: ParsedThreshold): string {
  return parsed.text.slice((parsed.terms[0]?.column ?? 1) - 1).trim();
}

/** `p(99) = 612ms`, both where there are two that differ. */
export function observedText(
  terms: readonly Term[],
  finding: Finding,
  unitOfTerm: (term: Term) => ThresholdUnit,
): string {
  const told = terms.map(
    (term, index) => `${nameOf(term)} = ${valueText(finding.values[index] ?? 0, unitOfTerm(term))}`,
  );
  // Both sides of `rate > 10/s and rate < 20/s` speak of one value.
  return [...new Set(told)].join(' and ');
}

export function unitOf({ aggregate }: Term, info: MetricInfo): ThresholdUnit {
  if (aggregate === 'share') return 'share';
  if (aggregate === 'rate') return info.unit === 'bytes' ? 'bytes_per_second' : 'per_second';
  return info.unit;
}

function nameOf({ aggregate, percentile }: Term): string {
  return percentile === null ? aggregate : `p(${percentile})`;
}

function valueText(value: number, unit: ThresholdUnit): string {
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
