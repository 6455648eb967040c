import type { GroupCleaned } from '@squall/agent/clean';
import { formatCount } from '@squall/core/units';
import type { Style } from './style.ts';
import { textTable } from './text-table.ts';

export interface Cleaned {
  readonly run: string;
  readonly dryRun: boolean;
  readonly groups: readonly GroupCleaned[];
}

/** Whether nothing of the run is left, as far as can be seen. */
export function isClean(groups: readonly GroupCleaned[]): boolean {
  return groups.every(
    ({ failures, retained, sessions, rocketmq }) =>
      failures.length === 0 &&
      (retained?.left ?? 0) === 0 &&
      (retained === null || retained.unknown === 0) &&
      (sessions?.failed ?? 0) === 0 &&
      (rocketmq?.topics.left ?? 0) + (rocketmq?.groups.left ?? 0) === 0,
  );
}

export function cleanedText({ run, dryRun, groups }: Cleaned, style: Style): string {
  const head = `run  ${run}${dryRun ? ' (dry run: nothing is removed)' : ''}`;
  if (groups.length === 0) return `${head}\nits groups leave nothing on a broker\n`;
  const rows = groups.flatMap((group) => [
    ...retainedRow(group, dryRun),
    ...sessionsRow(group, dryRun),
    ...namesRows(group, dryRun),
    ...group.failures.map(({ step, reason, count }) => [
      group.group,
      style.red(`${step} failed`),
      `${formatCount(count)} times: ${reason}`,
    ]),
  ]);
  return `${[head, ...textTable(rows, { indent: 2 })].join('\n')}\n`;
}

function retainedRow({ group, retained }: GroupCleaned, dryRun: boolean): string[][] {
  if (retained === null) return [];
  const { topics, found, removed, left, unknown } = retained;
  const of = topics === null ? 'topics that differ by message' : `${formatCount(topics)} topics`;
  const seen = found === null ? 'nobody may look' : `${formatCount(found)} found`;
  const done = dryRun ? [] : [`${formatCount(removed)} removed`, `${formatCount(left)} left`];
  const open = unknown === null ? ['not all known'] : [`${formatCount(unknown)} not known`];
  const rest = unknown === 0 ? [] : open;
  return [[group, 'retained messages', [of, seen, ...done, ...rest].join(' · ')]];
}

function namesRows({ group, rocketmq }: GroupCleaned, dryRun: boolean): string[][] {
  if (rocketmq === null) return [];
  return (['groups', 'topics'] as const).flatMap((kind) => {
    const { names, found, removed, left } = rocketmq[kind];
    if (names === 0) return [];
    const seen = [`${formatCount(names)} of the run`, `${formatCount(found)} found`];
    const done = dryRun ? [] : [`${formatCount(removed)} removed`, `${formatCount(left)} left`];
    return [[group, kind, [...seen, ...done].join(' · ')]];
  });
}

function sessionsRow({ group, sessions }: GroupCleaned, dryRun: boolean): string[][] {
  if (sessions === null) return [];
  const { clients, removed, failed } = sessions;
  const of = `${formatCount(clients)} clients`;
  const done = dryRun
    ? ['not asked for: that would empty their queues']
    : [`${formatCount(removed)} removed`, `${formatCount(failed)} not known`];
  return [[group, 'sessions', [of, ...done].join(' · ')]];
}
