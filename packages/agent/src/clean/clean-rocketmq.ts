import type { Group, RocketmqTarget } from '@squall/core/plan';
import { type Admin, RocketmqClient } from '@squall/rocketmq';
import { readMonotonic } from '../worker/clock.ts';
import { PlanFiles } from '../worker/plan-files.ts';
import { RenderContext } from '../worker/publish/render-context.ts';
import { errorReason } from '../worker/rocketmq/error-reason.ts';
import { RocketmqClients } from '../worker/rocketmq/rocketmq-clients.ts';
import type { CleanOptions, CleanScene, Failures } from './clean-plan.ts';
import { namesOfRun, type RocketmqNames } from './rocketmq-names.ts';

/** Topics or groups at a time. */
const PLACES = 4;

interface NamesResult {
  /** What the run may have left, by its plan and its report. */
  readonly names: number;
  readonly found: number;
  readonly removed: number;
  readonly left: number;
}

export interface RocketmqResult {
  readonly topics: NamesResult;
  readonly groups: NamesResult;
}

const NOTHING: NamesResult = { names: 0, found: 0, removed: 0, left: 0 };

/**
 * Removes the topics and groups that belong to a run, with the account of the plan, and looks for them
 * again. Null where the group uses none of the run's own.
 * @throws SquallError where a key lacks its value.
 */
export async function cleanRocketmq(
  { group, target }: { readonly group: Group; readonly target: RocketmqTarget },
  options: CleanOptions,
  { scene, failures }: { readonly scene: CleanScene; readonly failures: Failures },
): Promise<RocketmqResult | null> {
  const { made = new Set<string>(), plan, rows, secrets, shortRun } = options;
  const context = new RenderContext({
    group,
    target,
    shortRun,
    secrets,
    vars: plan.vars,
    rows: rows[group.name] ?? null,
    seed: 1,
  });
  const names = namesOfRun(group, context, made);
  if (names.topics.size + names.groups.size === 0) return null;
  const clients = new RocketmqClients(
    (more) => new RocketmqClient({ ...more, readClock: readMonotonic }),
    { moment: new Float64Array(1), files: new PlanFiles(options.files) },
  );
  try {
    const { admin } = clients.of({ target, group, context }).client;
    return await removeNames(admin, names, { scene, failures });
  } catch (error) {
    failures.add('look', errorReason(error));
    const unknown = (of: ReadonlySet<string>): NamesResult => ({
      ...NOTHING,
      names: of.size,
      left: of.size,
    });
    return { topics: unknown(names.topics), groups: unknown(names.groups) };
  } finally {
    await clients.end();
  }
}

async function removeNames(
  admin: Admin,
  names: RocketmqNames,
  work: { readonly scene: CleanScene; readonly failures: Failures },
): Promise<RocketmqResult> {
  const isGroup = async (name: string): Promise<boolean> => (await admin.groups()).has(name);
  // Groups first: one that is there makes its retry topic anew.
  const groups = await removeEach(names.groups, work, {
    isThere: isGroup,
    remove: (name) => admin.deleteGroup(name),
  });
  const topics = await removeEach(names.topics, work, {
    isThere: (name) => admin.hasTopic(name),
    remove: (name) => admin.deleteTopic(name),
  });
  return { topics, groups };
}

interface Kind {
  readonly isThere: (name: string) => Promise<boolean>;
  readonly remove: (name: string) => Promise<void>;
}

async function removeEach(
  names: ReadonlySet<string>,
  { scene, failures }: { readonly scene: CleanScene; readonly failures: Failures },
  { isThere, remove }: Kind,
): Promise<NamesResult> {
  const counts = { found: 0, removed: 0, left: 0, asked: 0 };
  await scene.gate.each(names, Math.min(PLACES, names.size), async (name) => {
    counts.asked += 1;
    if (!(await isThere(name))) return;
    counts.found += 1;
    if (scene.dryRun) return;
    try {
      await remove(name);
    } catch (error) {
      failures.add('remove', errorReason(error));
    }
    if (await isThere(name)) counts.left += 1;
    else counts.removed += 1;
  });
  const { asked, ...found } = counts;
  return { ...found, names: names.size, left: found.left + names.size - asked };
}
