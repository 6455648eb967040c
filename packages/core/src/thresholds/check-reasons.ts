import type { SquallError } from '../errors/index.ts';
import { isReasonOf, type MetricName, OTHER_REASONS, REASONS } from '../metrics/index.ts';
import { nearest } from '../text/nearest.ts';
import { thresholdError } from './cursor.ts';
import { matchesTag } from './tag.ts';
import type { ParsedThreshold, TagFilter } from './threshold.ts';

/**
 * Tags that name a reason which nothing is ever counted by: the line would look at nothing, and hold.
 * No errors, because some reasons carry what a broker said.
 */
export function reasonDoubts(parsed: ParsedThreshold, metric: MetricName): SquallError[] {
  return parsed.tags.flatMap((tag) => {
    if (tag.key !== 'reason' || isPossible(tag, metric)) return [];
    const near = nearestReason(tag.value, REASONS[metric]?.fixed ?? []);
    const said = tag.op === '=~' ? `fits the pattern "${tag.value}"` : `is "${tag.value}"`;
    const hint =
      near === null
        ? 'the reasons are listed in docs/reference/metrics.md'
        : `did you mean reason="${near}"?`;
    return [thresholdError(`no known reason of ${metric} ${said}`, tag.column, hint)];
  });
}

function isPossible(tag: TagFilter, metric: MetricName): boolean {
  if (tag.op !== '=~') return isReasonOf(metric, tag.value);
  const known = REASONS[metric];
  // A pattern may be made for what follows a known beginning: only a closed list can refuse it.
  if (known === undefined || known.beginnings.length > 0) return true;
  return [...known.fixed, OTHER_REASONS].some((reason) => matchesTag(tag, reason));
}

/** Reasons are sentences: a word of one that is written a little otherwise names it, too. */
function nearestReason(value: string, reasons: readonly string[]): string | null {
  const letters = lettersOf(value);
  const holding = reasons.filter((reason) => lettersOf(reason).includes(letters));
  if (letters.length >= 3 && holding.length > 0) return holding[0] ?? null;
  return nearest(value, reasons);
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
