import type { CleanedGroup, FromController } from '@squall/core/control';
import type { AgentShare, ClientRange } from '@squall/core/partition';
import type { Group } from '@squall/core/plan';
import { parseTemplate } from '@squall/core/template';
import { retainedTemplates } from '../clean/retained-templates.ts';
import type { AgentLogger } from './options.ts';

type Assign = Extract<FromController, { type: 'assign' }>;

/** Reasons that are told of a group. */
const MAX_FAILURES = 20;

/**
 * Removes from the brokers what the clients of this agent left there, as the plan's `cleanup` wants
 * it. Topics may be those of clients of several agents: where every agent can tell them all, the one
 * with the first client removes them, so that each is counted once.
 * Each agent has its part of the rate. Once `signal` is aborted it ends with what was done; the reason
 * of the signal, a text, then stands with each group of which something is not known.
 * @returns null where the plan wants nothing removed.
 */
export async function cleanUp(
  { assign, logger }: { readonly assign: Assign; readonly logger: AgentLogger },
  signal: AbortSignal,
): Promise<CleanedGroup[] | null> {
  const { plan, share, shortRun, secrets, files = {}, rows = {} } = assign;
  const { cleanup } = plan;
  if (cleanup === null) return null;
  const { cleanPlan } = await import('../clean/index.ts');
  const own = plan.groups.map((_, index) => ownRange(share, index));
  const cleaned = await cleanPlan({
    plan,
    shortRun,
    secrets,
    files,
    rows,
    ranges: {
      sessions: own,
      retained: plan.groups.map((group, index) => topicsRange(group, own[index] ?? NO_CLIENTS)),
    },
    what: { retained: cleanup.retained, sessions: cleanup.sessions },
    dryRun: false,
    ratePerS: cleanup.ratePerS * partOf(plan.groups, own),
    signal,
  });
  return cleaned.map(({ group, retained, sessions, failures }) => {
    const one = {
      group,
      retained: retained?.removed ?? 0,
      retainedLeft: retained?.left ?? 0,
      retainedUnknown: retained === null ? 0 : retained.unknown,
      sessions: sessions?.removed ?? 0,
      sessionsUnknown: sessions?.failed ?? 0,
      failures: failures.slice(0, MAX_FAILURES).map(({ step, reason, count }) => ({
        reason: `${step}: ${reason}`.slice(0, 1024),
        count,
      })),
    };
    const isOpen = one.retainedUnknown !== 0 || one.retainedLeft + one.sessionsUnknown > 0;
    if (isOpen && signal.aborted) {
      one.failures = [{ reason: String(signal.reason), count: 0 }, ...one.failures];
      one.failures.splice(MAX_FAILURES);
    }
    logger.info(`cleanup of ${group}: ${one.retained} retained messages, ${one.sessions} sessions`);
    return one;
  });
}

const NO_CLIENTS: ClientRange = { first: 0, last: -1, clients: 0 };

/** The ranges of an agent's workers follow each other. */
function ownRange({ workers }: AgentShare, group: number): ClientRange {
  const ranges = workers.flatMap(({ groups }) => groups[group] ?? []);
  const filled = ranges.filter(({ clients }) => clients > 0);
  const first = filled[0]?.first ?? 0;
  const last = filled.at(-1)?.last ?? -1;
  return { first, last, clients: last - first + 1 };
}

/** Topics with columns of a file are known to those alone who have the rows. */
function topicsRange(group: Group, own: ClientRange): ClientRange {
  const fromFile = retainedTemplates(group).some((text) => {
    const parsed = parseTemplate(text);
    return parsed.ok && parsed.parts.some(({ kind }) => kind === 'csv');
  });
  if (fromFile) return own;
  const isFirst = own.clients > 0 && own.first === 0;
  return isFirst ? { first: 0, last: group.clients - 1, clients: group.clients } : NO_CLIENTS;
}

/** The agent's part of all clients. */
function partOf(groups: readonly Group[], own: readonly ClientRange[]): number {
  const all = groups.reduce((sum, { clients }) => sum + clients, 0);
  const mine = own.reduce((sum, { clients }) => sum + clients, 0);
  return mine === 0 ? 1 : mine / all;
}
