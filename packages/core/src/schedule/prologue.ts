import type { Activity, Plan, Stage } from '../plan/plan.ts';

/**
 * What a stage must do before its clock can start.
 *
 * A stage in which some group publishes first connects and subscribes whatever its groups lack, so
 * that no publisher starts before a subscriber is ready; its clock starts at the barrier after that.
 * In a stage without publishing, connecting and subscribing are the work itself, and its clock
 * starts at once. This is a question about the plan alone, so controller and agents answer it alike.
 */
export interface StageNeeds {
  /** True: the stage's clock waits for `clock` from the controller. */
  readonly prologue: boolean;
  /** Group indexes that connect in this stage (in its prologue, or as its work). */
  readonly connects: ReadonlySet<number>;
  /** Group index → its subscribe entries that are made in this stage. */
  readonly subscribes: ReadonlyMap<number, ReadonlySet<number>>;
  /** `group:stream` of publish activities that the stage before ran too: they go on without a gap. */
  readonly continues: ReadonlySet<string>;
}

interface GroupState {
  connected: boolean;
  readonly subscribed: Set<number>;
}

/** The needs of every stage, by its index. */
export function stageNeeds(plan: Pick<Plan, 'groups' | 'stages'>): StageNeeds[] {
  const states = plan.groups.map((): GroupState => ({ connected: false, subscribed: new Set() }));
  let before = new Set<string>();
  return plan.stages.map((stage) => {
    const publishes = publishKeys(stage);
    const made = makeStage(stage, states);
    const missing = made.connects.size > 0 || made.subscribes.size > 0;
    const continues = new Set([...publishes].filter((key) => before.has(key)));
    before = publishes;
    return { prologue: publishes.size > 0 && missing, continues, ...made };
  });
}

/** The key of a publish activity in `StageNeeds.continues`. */
export function streamKey(group: number, stream: number): string {
  return `${group}:${stream}`;
}

function publishKeys(stage: Stage): Set<string> {
  const keys = new Set<string>();
  for (const work of stage.run) {
    for (const activity of work.activities) {
      if (activity.kind === 'publish') keys.add(streamKey(work.group, activity.stream));
    }
  }
  return keys;
}

function makeStage(stage: Stage, states: readonly GroupState[]) {
  const connects = new Set<number>();
  const subscribes = new Map<number, Set<number>>();
  for (const work of stage.run) {
    const state = states[work.group];
    if (state === undefined) continue;
    if (!state.connected && work.activities.some(needsConnection)) {
      connects.add(work.group);
      state.connected = true;
    }
    for (const activity of work.activities) {
      if (activity.kind === 'disconnect') {
        state.connected = false;
        state.subscribed.clear();
      }
      if (activity.kind !== 'subscribe' || state.subscribed.has(activity.entry)) continue;
      state.subscribed.add(activity.entry);
      const entries = subscribes.get(work.group) ?? new Set<number>();
      subscribes.set(work.group, entries.add(activity.entry));
    }
  }
  return { connects, subscribes };
}

function needsConnection(activity: Activity): boolean {
  return (
    activity.kind === 'connect' || activity.kind === 'subscribe' || activity.kind === 'publish'
  );
}
