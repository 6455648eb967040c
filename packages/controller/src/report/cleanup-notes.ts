import type { CleanedGroup } from '@squall/core/control';
import type { Plan } from '@squall/core/plan';
import { formatCount } from '@squall/core/units';
import type { RunAgent } from '../run/run-agent.ts';

interface Ended {
  readonly plan: Pick<Plan, 'cleanup'>;
  /** T, or null where the load never began. */
  readonly startUs: number | null;
  readonly agents: readonly Pick<RunAgent, 'id' | 'finished'>[];
}

/**
 * What the agents removed from the brokers at the end, a sentence a group; and who removed nothing,
 * though the plan wants it.
 */
export function cleanupNotes({ agents, plan, startUs }: Ended): string[] {
  if (plan.cleanup === null || startUs === null) return [];
  const groups = new Map<string, CleanedGroup>();
  for (const { finished } of agents) {
    for (const one of finished?.cleaned ?? []) {
      const known = groups.get(one.group);
      groups.set(one.group, known === undefined ? one : sum(known, one));
    }
  }
  const idle = agents.filter(({ finished }) => finished?.cleaned === undefined);
  const ids = idle.map(({ id }) => id).join(', ');
  const left = `Nothing was cleaned up by ${ids}: squall clean removes what is left on the brokers.`;
  return [...[...groups.values()].map(noteOf), ...(idle.length === 0 ? [] : [left])];
}

function sum(a: CleanedGroup, b: CleanedGroup): CleanedGroup {
  const isCounted = a.retainedUnknown !== null && b.retainedUnknown !== null;
  return {
    group: a.group,
    retained: a.retained + b.retained,
    retainedLeft: a.retainedLeft + b.retainedLeft,
    retainedUnknown: isCounted ? (a.retainedUnknown ?? 0) + (b.retainedUnknown ?? 0) : null,
    sessions: a.sessions + b.sessions,
    sessionsUnknown: a.sessionsUnknown + b.sessionsUnknown,
    failures: merged([...a.failures, ...b.failures]),
  };
}

/** Each reason once. */
function merged(failures: CleanedGroup['failures']): CleanedGroup['failures'] {
  const counts = new Map<string, number>();
  for (const { reason, count } of failures) {
    counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  return [...counts].map(([reason, count]) => ({ reason, count }));
}

function noteOf(cleaned: CleanedGroup): string {
  const { failures, group, retained, retainedLeft, sessions, sessionsUnknown } = cleaned;
  const left = retainedLeft === 0 ? '' : `, ${formatCount(retainedLeft)} are left`;
  const unknown = sessionsUnknown === 0 ? '' : `, of ${formatCount(sessionsUnknown)} nobody knows`;
  const reasons = failures.map(({ reason, count }) =>
    count <= 1 ? reason : `${reason} (${formatCount(count)} times)`,
  );
  const why = failures.length === 0 ? '' : ` (${reasons.join('; ')})`;
  return (
    `Cleanup of ${group}: ${formatCount(retained)} retained messages removed${left}` +
    `${topicsUnknown(cleaned)}; ${formatCount(sessions)} sessions removed${unknown}${why}.`
  );
}

function topicsUnknown({ retainedUnknown }: CleanedGroup): string {
  if (retainedUnknown === null) return ', of some topics nobody knows';
  return retainedUnknown === 0 ? '' : `, of ${formatCount(retainedUnknown)} topics nobody knows`;
}
