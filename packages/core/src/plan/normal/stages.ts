import { stageNeeds } from '../../schedule/index.ts';
import { nearest } from '../../text/nearest.ts';
import { isBytes, parseCondition, withValue } from '../condition.ts';
import { CONNECT_MARGIN_US, MAX_STAGES } from '../limits.ts';
import type { Condition, Group, Stage, StageWork } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile, StageFile } from '../schema/plan-file.ts';
import { normaliseActivities } from './activities.ts';
import type { NormalContext } from './context.ts';
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
    const run = normaliseRun(stage, groups, { path: [...path, 'run'], context });
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
  if (context.unsound === null && findings.errors.length === 0)
    checkConditions(stages, groups, context);
  return stages;
}

function checkConditions(
  stages: readonly Stage[],
  groups: readonly Group[],
  { findings }: NormalContext,
): void {
  for (const stage of stages) {
    if (stage.until === null) continue;
    const why = unreachable({ condition: stage.until, stage, groups, stages });
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
  return stageNeeds(plan).map(({ connects }) =>
    Math.max(
      0,
      ...[...connects].map((index) => {
        const group = plan.groups[index];
        return group === undefined ? 0 : (group.clients / group.connect.ratePerS) * 1_000_000;
      }),
    ),
  );
}

/**
 * The deadline of a stage that connects and subscribes is its planned ramp and a margin; so is that
 * of the prologue of a stage with `for`. Everything else may take as long as the run.
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
    const ramp = Math.ceil((ramps[index] ?? 0) + CONNECT_MARGIN_US);
    return { ...stage, deadlineUs: connecting ? Math.min(ramp, maxDurationUs) : maxDurationUs };
  });
}

interface At {
  readonly path: PlanPath;
  readonly context: NormalContext;
}

function normaliseRun(stage: StageFile, groups: readonly Group[], { path, context }: At) {
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
    const at = { group, path: [...path, name], context };
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

interface Ending {
  readonly stage: StageFile;
  readonly run: readonly StageWork[];
  readonly groups: readonly Group[];
}

/** A stage ends by `for`, by `until`, or when its activities are complete: it must be able to. */
function checkEnds(
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
  for (const { group: index, activities } of run) {
    const group = groups[index];
    const endless = activities.find((activity) => {
      if (activity.kind === 'idle') return true;
      return activity.kind === 'publish' && group?.publish[activity.stream]?.count === null;
    });
    if (endless === undefined || group === undefined) continue;
    findings.error(
      [...path, 'run', group.name],
      `the stage ${stage.name} can never end: ${group.name} would ${endless.kind} for ever`,
      { hint: 'give the stage for: or until:, or the stream a count' },
    );
  }
}
