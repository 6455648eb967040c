import { connectRampUs, stageNeeds } from '../../schedule/index.ts';
import { nearest } from '../../text/nearest.ts';
import { isBytes, parseCondition, withValue } from '../condition.ts';
import { CONNECT_MARGIN_US, MAX_STAGES } from '../limits.ts';
import type { Activity, Condition, Group, Stage, StageWork } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile, StageFile } from '../schema/plan-file.ts';
import { normaliseActivities } from './activities.ts';
import type { NormalContext } from './context.ts';
import { checkEnds, checkShapes, checkStates } from './stage-ends.ts';
import { unreachable } from './until-reach.ts';

/** Stages but for their deadlines, which need the limits. */
export function normaliseStages(
  file: PlanFile,
  groups: readonly Group[],
  context: NormalContext,
): Stage[] {
  const { findings } = context;
  if (file.stages.length > MAX_STAGES) {
    findings.error(['stages'], `at most ${MAX_STAGES} stages are possible`);
  }
  const names = new Set<string>();
  const stages = file.stages.map((stage, index): Stage => {
    const path = ['stages', index];
    if (names.has(stage.name)) {
      findings.error([...path, 'name'], `the stage ${stage.name} stands twice`, {
        hint: 'thresholds call stages by name',
      });
    }
    names.add(stage.name);
    const run = normaliseRun(stage, { file, groups }, { path: [...path, 'run'], context });
    checkShapes({ stage, run, groups }, [...path, 'run'], context);
    const until = normaliseUntil(stage, groups, { path: [...path, 'until'], context });
    checkEnds({ stage, run, groups }, path, context);
    return {
      name: stage.name,
      index,
      warmup: stage.warmup,
      run,
      forUs: stage.for ?? null,
      until,
      deadlineUs: 0,
      onIncomplete: stage.onIncomplete,
    };
  });
  // Parts that were found wrong are left out here, and what is left says nothing of what it can reach.
  if (context.unsound === null && findings.errors.length === 0) {
    checkStates({ groups, stages }, context);
    checkConditions(stages, groups, context);
  }
  return stages;
}

function checkConditions(
  stages: readonly Stage[],
  groups: readonly Group[],
  { findings, files: { facts: files } }: NormalContext,
): void {
  for (const stage of stages) {
    if (stage.until === null) continue;
    const why = unreachable({ condition: stage.until, stage, groups, stages, files });
    if (why === null) continue;
    findings.error(['stages', stage.index, 'until'], why, {
      hint: 'compare with a number that it can reach, or end the stage by for',
    });
  }
}

/** µs that a stage's groups take to connect, by their connect rates; 0 where all are connected. */
export function plannedRampsUs(plan: {
  readonly groups: readonly Group[];
  readonly stages: readonly Stage[];
}): number[] {
  const needs = stageNeeds(plan);
  return plan.stages.map((stage, index) => {
    const own = needs[index];
    return own === undefined ? 0 : connectRampUs(plan, stage, own);
  });
}

/**
 * The deadline of a stage that connects, subscribes and drops connections is what that takes by its
 * rates, and a margin; so is that of the prologue of a stage with `for`. Everything else may take as
 * long as the run.
 */
export function withDeadlines(
  plan: { readonly groups: readonly Group[]; readonly stages: readonly Stage[] },
  maxDurationUs: number,
): Stage[] {
  const ramps = plannedRampsUs(plan);
  return plan.stages.map((stage, index) => {
    const publishes = stage.run.some(({ activities }) =>
      activities.some(({ kind }) => kind === 'publish'),
    );
    const connecting = stage.forUs !== null || (stage.until === null && !publishes);
    const ramp = (ramps[index] ?? 0) + (stage.forUs === null ? movingUs(stage, plan.groups) : 0);
    const deadlineUs = Math.ceil(ramp + CONNECT_MARGIN_US);
    return {
      ...stage,
      deadlineUs: connecting ? Math.min(deadlineUs, maxDurationUs) : maxDurationUs,
    };
  });
}

/** µs that dropping connections, having them back and taking them over takes by its rates. */
function movingUs({ run }: Stage, groups: readonly Group[]): number {
  let longest = 0;
  for (const work of run) {
    const group = groups[work.group];
    if (group === undefined) continue;
    for (const activity of work.activities) {
      longest = Math.max(longest, activityUs(activity, group));
    }
  }
  return longest;
}

function activityUs(activity: Activity, { clients, connect }: Group): number {
  const by = (perS: number, share = 1) => ((clients * share) / perS) * 1_000_000;
  if (activity.kind === 'takeover') return by(activity.ratePerS, activity.share);
  if (activity.kind !== 'disconnect') return 0;
  const { drop } = activity;
  if (drop === undefined) return by(connect.ratePerS);
  const away = drop.ratePerS === null ? 0 : by(drop.ratePerS, drop.share);
  if (drop.back === null) return away;
  return away + drop.back.afterUs + by(drop.back.ratePerS, drop.share);
}

interface At {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

function normaliseRun(
  stage: StageFile,
  { file, groups }: { readonly file: PlanFile; readonly groups: readonly Group[] },
  { path, context }: At,
) {
  const work: StageWork[] = [];
  for (const [name, spec] of Object.entries(stage.run)) {
    const index = groups.findIndex((group) => group.name === name);
    const group = groups[index];
    if (group === undefined) {
      const names = groups.map((known) => known.name);
      const near = nearest(name, names);
      context.findings.error([...path, name], `there is no group "${name}"`, {
        hint: near === null ? `the plan has ${names.join(', ')}` : `did you mean ${near}?`,
        atKey: true,
      });
      continue;
    }
    if (context.unsound?.has(name)) continue;
    const isRocketmq = file.targets[group.target]?.protocol === 'rocketmq';
    const at = { group, isRocketmq, stageUs: stage.for ?? null, path: [...path, name], context };
    work.push({ group: index, activities: normaliseActivities(spec, at) });
  }
  return work;
}

function normaliseUntil(
  stage: StageFile,
  groups: readonly Group[],
  { path, context }: At,
): Condition | null {
  if (stage.until === undefined) return null;
  const parsed = parseCondition(stage.until, groups);
  // Subjects of groups that are known by name only cannot be judged.
  if ('message' in parsed && context.unsound !== null && context.unsound.size > 0) return null;
  if ('message' in parsed) {
    context.findings.error(path, parsed.message, parsed);
    return null;
  }
  const scaled = isBytes(parsed.metric)
    ? context.scaler.bytes(path, parsed.value)
    : context.scaler.count(path, parsed.value);
  return scaled === parsed.value ? parsed : withValue(parsed, scaled);
}
