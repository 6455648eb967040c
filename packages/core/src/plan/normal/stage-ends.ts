import { rateProfile, stageNeeds } from '../../schedule/index.ts';
import type { Activity, Group, Stage, StageWork } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { StageFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';
import { endPerS, shapeUs } from './paces.ts';

interface Ending {
  readonly stage: StageFile;
  readonly run: readonly StageWork[];
  readonly groups: readonly Group[];
}

/** A stage ends by `for`, by `until`, or when its activities are complete: it must be able to. */
export function checkEnds(
  { stage, run, groups }: Ending,
  path: PlanPath,
  { findings }: NormalContext,
): void {
  if (stage.for !== undefined && stage.until !== undefined) {
    findings.error([...path, 'until'], 'a stage ends by for or by until, not by both', {
      atKey: true,
    });
  }
  if (stage.for !== undefined || stage.until !== undefined) return;
  if (Object.keys(stage.run).length === 0) {
    findings.error(path, `the stage ${stage.name} does nothing and never ends`, {
      hint: 'write run: { group: activity }, or for: 10s',
    });
  }
  const publishes = run.some(({ activities }) => activities.some(({ kind }) => kind === 'publish'));
  for (const { group: index, activities } of run) {
    const group = groups[index];
    const endless = activities.find(
      (activity) => isEndless(activity, group) || (activity.kind === 'consume' && !publishes),
    );
    if (endless === undefined || group === undefined) continue;
    findings.error(
      [...path, 'run', group.name],
      `the stage ${stage.name} can never end: ${group.name} would ${endless.kind} for ever`,
      { hint: 'give the stage for: or until:, or the stream a count' },
    );
  }
}

function isEndless(activity: Activity, group: Group | undefined): boolean {
  if (activity.kind === 'idle' || activity.kind === 'churn') return true;
  return activity.kind === 'publish' && group?.publish[activity.stream]?.count === null;
}

/** A rate that changes must have the time to, and one that ends at 0 must get its `count` done. */
export function checkShapes(
  { stage, run, groups }: Ending,
  path: PlanPath,
  { findings }: NormalContext,
): void {
  for (const { group: index, activities } of run) {
    const group = groups[index];
    for (const activity of activities) {
      if (activity.kind !== 'publish' || group === undefined) continue;
      const { pace } = activity;
      const at = [...path, group.name];
      const lengthUs = shapeUs(pace);
      if (stage.for !== undefined && lengthUs > stage.for) {
        const short = `the stage ${stage.name} is shorter than its ${pace.kind}`;
        findings.error(at, `${short}: ${seconds(stage.for)} against ${seconds(lengthUs)}`, {
          hint: `give it for: ${seconds(lengthUs)} or more`,
        });
      }
      const count = group.publish[activity.stream]?.count ?? null;
      if (stage.for !== undefined || count === null || endPerS(pace) !== 0) continue;
      const most = Math.round(rateProfile(pace, group.clients).countAt(lengthUs));
      if (most >= count) continue;
      findings.error(at, `its count of ${count} is never reached: the ${pace.kind} ends at 0/s`, {
        hint: `it comes to ${most} messages: lower the count, or end above 0/s`,
      });
    }
  }
}

/** What a stage asks of groups in a state that the stages before have not brought about. */
export function checkStates(
  plan: { readonly groups: readonly Group[]; readonly stages: readonly Stage[] },
  { findings }: NormalContext,
): void {
  const needs = stageNeeds(plan);
  for (const stage of plan.stages) {
    const before = needs[stage.index];
    for (const { group: index, activities } of stage.run) {
      const group = plan.groups[index];
      if (group === undefined || before === undefined) continue;
      const path = ['stages', stage.index, 'run', group.name];
      if (before.connected.has(index) && activities.some(({ kind }) => kind === 'churn')) {
        findings.error(path, `${group.name} is connected already: churn connects clients itself`, {
          hint: 'disconnect them in a stage before, or use disconnect with reconnect',
        });
      }
      for (const activity of activities) {
        if (activity.kind !== 'unsubscribe') continue;
        if (before.subscribed.get(index)?.has(activity.entry) === true) continue;
        const subject = group.subscribe[activity.entry]?.subject ?? group.name;
        findings.error(path, `${subject} is not subscribed to anything when this stage begins`, {
          hint: 'a stage before must subscribe',
        });
      }
    }
  }
}

function seconds(us: number): string {
  return `${us / 1_000_000}s`;
}
