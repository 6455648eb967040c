import type { CleanedGroup } from '@squall/core/control';
import { formatCount } from '@squall/core/units';
import type { RunAgent } from '../run/run-agent.ts';

/** What the agents removed from the brokers at the end, a sentence a group. */
export function cleanupNotes(agents: readonly Pick<RunAgent, 'finished'>[]): string[] {
  const groups = new Map<string, CleanedGroup>();
  for (const { finished } of agents) {
    for (const one of finished?.cleaned ?? []) {
      const known = groups.get(one.group);
      groups.set(one.group, known === undefined ? one : sum(known, one));
    }
  }
  return [...groups.values()].map(noteOf);
}

function sum(a: CleanedGroup, b: CleanedGroup): CleanedGroup {
  return {
    group: a.group,
    retained: a.retained + b.retained,
    retainedLeft: a.retainedLeft + b.retainedLeft,
    sessions: a.sessions + b.sessions,
    sessionsUnknown: a.sessionsUnknown + b.sessionsUnknown,
    failures: [...new Set([...a.failures, ...b.failures])],
  };
}

function noteOf(cleaned: CleanedGroup): string {
  const { failures, group, retained, retainedLeft, sessions, sessionsUnknown } = cleaned;
  const left = retainedLeft === 0 ? '' : `, ${formatCount(retainedLeft)} are left`;
  const unknown = sessionsUnknown === 0 ? '' : `, of ${formatCount(sessionsUnknown)} nobody knows`;
  const why = failures.length === 0 ? '' : ` (${failures.join('; ')})`;
  return (
    `Cleanup of ${group}: ${formatCount(retained)} retained messages removed${left}; ` +
    `${formatCount(sessions)} sessions removed${unknown}${why}.`
  );
}
