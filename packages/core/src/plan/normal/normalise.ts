import { checkClientFiles } from '../check/client-files.ts';
import { checkClientIds } from '../check/client-ids.ts';
import { normaliseThresholds } from '../check/thresholds.ts';
import type { CleanupSpec, Plan } from '../plan.ts';
import type { CleanupFile, PlanFile } from '../schema/plan-file.ts';
import { warnUnused } from './activities.ts';
import { normaliseBalance } from './balance.ts';
import type { NormalContext } from './context.ts';
import { normaliseGroups } from './groups.ts';
import { neededUs, normaliseLimits } from './limits.ts';
import { normaliseProbes } from './probes.ts';
import { normaliseStages, plannedRampsUs, withDeadlines } from './stages.ts';
import { normaliseTargets } from './targets.ts';

export interface NormaliseOptions {
  readonly vars: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly timeoutUs: number | undefined;
}

/**
 * The plan with everything resolved: defaults filled, references checked, values scaled. What is
 * wrong goes to the context's findings; the result is a plan only where there are none.
 */
export function normalise(file: PlanFile, options: NormaliseOptions, context: NormalContext): Plan {
  const targets = normaliseTargets(file, context);
  const groups = normaliseGroups(file, targets, context);
  const stages = normaliseStages(file, groups, context);
  const limits = normaliseLimits(file.limits, {
    neededUs: neededUs(stages, plannedRampsUs({ groups, stages })),
    timeoutUs: options.timeoutUs,
    context,
  });
  checkClientFiles({ groups, targets }, context);
  checkClientIds({ groups, targets }, context);
  const probes = normaliseProbes(file, context);
  const known = new Set(probes.map(({ name }) => name));
  const wrongProbes = new Set(
    [...Object.keys(file.probes), ...(context.unsound ?? [])].filter((name) => !known.has(name)),
  );
  const thresholds = normaliseThresholds(
    file.thresholds,
    { groups, stages, probes, wrongProbes },
    context,
  );
  const balance = normaliseBalance(file, { groups, probes }, context);
  warnUnused(file, context);
  if (file.cleanup !== false) warnOfCleanup(groups, targets, context);
  return {
    squall: 1,
    name: file.name,
    description: file.description,
    labels: { ...texts(file.labels), ...options.labels },
    files: context.files.facts,
    vars: options.vars,
    targets,
    groups,
    stages: withDeadlines({ groups, stages }, limits.maxDurationUs),
    probes,
    thresholds,
    balance,
    limits,
    settle: { quietUs: file.settle.quiet, maxUs: file.settle.max },
    drainUs: file.drain,
    backlogUs: file.backlog,
    cleanup: normaliseCleanup(file.cleanup),
  };
}

/** As `squall clean` does it where the plan says no more than that. */
const CLEANUP: CleanupSpec = {
  retained: true,
  sessions: true,
  ratePerS: 1_000,
  maxUs: 60_000_000,
};

function normaliseCleanup(cleanup: CleanupFile): CleanupSpec | null {
  if (typeof cleanup === 'boolean') return cleanup ? CLEANUP : null;
  const { retained, sessions, rate, max } = cleanup;
  return { retained, sessions, ratePerS: rate, maxUs: max };
}

/** The run itself tidies up at MQTT brokers only. */
function warnOfCleanup(
  groups: Plan['groups'],
  targets: Plan['targets'],
  { findings }: NormalContext,
): void {
  const group = groups.find(({ target }) => targets[target]?.protocol === 'rocketmq');
  if (group === undefined) return;
  findings.warn(
    ['cleanup'],
    `cleanup removes nothing of group ${group.name}: RocketMQ has neither sessions nor retained messages`,
    'squall clean removes topics and groups that the run made',
  );
}

function texts(
  values: Readonly<Record<string, string | number | boolean>>,
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
}
