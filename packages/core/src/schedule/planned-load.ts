import type { Activity, Group, Plan, Stage } from '../plan/plan.ts';
import { connectSchedule, scheduleOf, ticksBefore } from './due-time.ts';
import { peakPerS, rateProfile } from './pace-profile.ts';
import { spacingOf } from './spacing.ts';

type Publish = Extract<Activity, { kind: 'publish' }>;

/** What a stream comes to in a stage, by the plan alone. */
export interface StreamLoad {
  /** Over the whole group; null where it depends on the broker, or on when the stage ends. */
  readonly messages: number | null;
  /** Highest rate over the whole group, a second; null for a closed loop. */
  readonly peakPerS: number | null;
}

export function streamLoad(stage: Stage, group: Group, { stream, pace }: Publish): StreamLoad {
  const spec = group.publish[stream];
  const count = spec?.count ?? null;
  const lengthUs = stage.forUs;
  const peak = peakPerS(pace, group.clients, lengthUs ?? Number.POSITIVE_INFINITY);
  if (pace.kind === 'max' || lengthUs === null || spec === undefined) {
    return { messages: count, peakPerS: peak };
  }
  const schedule = scheduleOf(pace, group.clients, spacingOf(spec, stage.index));
  const ticks = ticksBefore(schedule, lengthUs);
  return { messages: count === null ? ticks : Math.min(ticks, count), peakPerS: peak };
}

/** Connects of a churn in a stage; null where its length is not known. */
export function churnTurns(stage: Stage, group: Group, ratePerS: number): number | null {
  if (stage.forUs === null) return null;
  return ticksBefore(connectSchedule(ratePerS, group.clients), stage.forUs);
}

/**
 * Messages a second that a stage is to send at a moment of its clock, over all its groups; null where
 * it publishes nothing by a pace.
 */
export function targetPerS(plan: Pick<Plan, 'groups'>, stage: Stage, us: number): number | null {
  let target: number | null = null;
  for (const { group: index, activities } of stage.run) {
    const group = plan.groups[index];
    if (group === undefined) continue;
    for (const activity of activities) {
      if (activity.kind !== 'publish' || activity.pace.kind === 'max') continue;
      target = (target ?? 0) + rateProfile(activity.pace, group.clients).perS(us);
    }
  }
  return target;
}
