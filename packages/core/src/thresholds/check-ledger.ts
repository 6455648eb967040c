import type { SquallError } from '../errors/index.ts';
import { whyOutside } from '../ledger/ledger-plan.ts';
import { isMetricName, metricInfo } from '../metrics/index.ts';
import type { Group, SubscribeEntry } from '../plan/plan.ts';
import type { ThresholdContext } from './check.ts';
import { thresholdError } from './cursor.ts';
import { matchesTag } from './tag.ts';
import type { ParsedThreshold, TagFilter } from './threshold.ts';

/**
 * Why the delivery ledger can never answer a threshold on its figures (`lost`, `duplicated`,
 * `reordered`, `corrupted`, `expected`): a line that holds because there is nothing to count would be
 * worse than none. Asked of whole plans only: it looks at every group.
 */
export function checkLedger(
  parsed: ParsedThreshold,
  { groups }: Pick<ThresholdContext, 'groups'>,
): SquallError[] {
  const { metric } = parsed;
  if (!isMetricName(metric) || metricInfo(metric).late !== true) return [];
  const column = parsed.columns.metric;
  const entries = groups.flatMap((group) => group.subscribe.map((entry) => ({ group, entry })));
  if (entries.length === 0) {
    const message = `${metric} is counted where messages arrive, and nobody subscribes in this plan`;
    return [thresholdError(message, column, 'let a group subscribe to what is published')];
  }
  const meant = entries.filter(({ group, entry }) => isMeant(parsed.tags, group, entry));
  if (meant.length === 0) {
    const message = `${metric} is counted where messages arrive, and no such subscription is chosen`;
    const subjects = entries.map(({ entry }) => entry.subject).join(', ');
    return [thresholdError(message, column, `those of the plan are ${subjects}`)];
  }
  const streams = groups.flatMap((group) => group.publish);
  const reasons = streams.map(whyOutside);
  if (reasons.includes(null)) return [];
  const [first] = reasons;
  const why =
    first === undefined || first === null
      ? 'nobody publishes in this plan'
      : `every stream of the plan is outside the ledger (${streams[0]?.subject}: ${first})`;
  return [thresholdError(`there is no ${metric} to count: ${why}`, column, 'use received')];
}

function isMeant(tags: readonly TagFilter[], group: Group, entry: SubscribeEntry): boolean {
  return tags.every((tag) => {
    if (tag.key === 'group') return matchesTag(tag, group.name);
    if (tag.key !== 'stream') return true;
    const names = entry.name === null ? [] : [entry.name, entry.subject];
    return tag.op === '!='
      ? names.every((name) => matchesTag(tag, name))
      : names.some((name) => matchesTag(tag, name));
  });
}
