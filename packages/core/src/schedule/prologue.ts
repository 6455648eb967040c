import type { Activity, Group, Plan, Stage } from '../plan/plan.ts';

/**
 * What a stage must do before its clock can start.
 *
 * A stage in which some group publishes or consumes, or drops connections to see them come back, first connects
 * and subscribes whatever its groups lack, so that no publisher starts before a subscriber is ready;
 * its clock starts at the barrier after that. In any other stage connecting and subscribing are the
 * work itself, and its clock starts at once. This is a question about the plan alone, so controller
 * and agents answer it alike.
 */
export interface StageNeeds {
  /** True: the stage's clock waits for `clock` from the controller. */
  readonly prologue: boolean;
  /** Group indexes that connect in this stage (in its prologue, or as its work). */
  readonly connects: ReadonlySet<number>;
  /** Group indexes whose clients connect again in this stage: churn, storms, takeovers. */
  readonly reconnects: ReadonlySet<number>;
  /** Group index → its subscribe entries that are made in this stage. */
  readonly subscribes: ReadonlyMap<number, ReadonlySet<number>>;
  /** Group index → its respond entries that begin in this stage. */
  readonly responds: ReadonlyMap<number, ReadonlySet<number>>;
  /** Group index → its streams of requests whose responses are subscribed to in this stage. */
  readonly requests: ReadonlyMap<number, ReadonlySet<number>>;
  /** Groups of which nobody waits for what is subscribed: their clients come and go. */
  readonly churns: ReadonlySet<number>;
  /** Groups that are connected when the stage is entered. */
  readonly connected: ReadonlySet<number>;
  /** Group index → its subscribe entries that are there when the stage is entered. */
  readonly subscribed: ReadonlyMap<number, ReadonlySet<number>>;
  /** `group:stream` of publish activities that the stage before ran too: they go on without a gap. */
  readonly continues: ReadonlySet<string>;
}

interface GroupState {
  connected: boolean;
  readonly subscribed: Set<number>;
  readonly responding: Set<number>;
  readonly requesting: Set<number>;
}

type Entries = Map<number, Set<number>>;

/** The needs of every stage, by its index. */
export function stageNeeds(plan: Pick<Plan, 'groups' | 'stages'>): StageNeeds[] {
  const states = plan.groups.map(
    (): GroupState => ({
      connected: false,
      subscribed: new Set(),
      responding: new Set(),
      requesting: new Set(),
    }),
  );
  let before = new Set<string>();
  return plan.stages.map((stage) => {
    const publishes = publishKeys(stage);
    const connected = new Set(plan.groups.flatMap((_, k) => (states[k]?.connected ? [k] : [])));
    const subscribed = new Map(states.map((state, k) => [k, new Set(state.subscribed)]));
    const made = makeStage(stage, states, plan.groups);
    const { connects, subscribes, responds, requests, churns } = made;
    const missing =
      connects.size > 0 ||
      [subscribes, responds, requests].some((entries) =>
        [...entries.keys()].some((group) => !churns.has(group)),
      );
    const continues = new Set([...publishes].filter((key) => before.has(key)));
    before = publishes;
    const isLoad = publishes.size > 0 || consumes(stage) || made.reconnects.size > churns.size;
    return { prologue: isLoad && missing, continues, connected, subscribed, ...made };
  });
}

/** Reading begins with the clock, for all members of a group at once. */
function consumes({ run }: Stage): boolean {
  return run.some(({ activities }) => activities.some(({ kind }) => kind === 'consume'));
}

/** The key of a publish activity in `StageNeeds.continues`. */
export function streamKey(group: number, stream: number): string {
  return `${group}:${stream}`;
}

/** The rate at which a group connects in a stage, a second over the whole group. */
export function connectRate(stage: Stage | undefined, index: number, group: Group): number {
  for (const work of stage?.run ?? []) {
    if (work.group !== index) continue;
    for (const activity of work.activities) {
      if (activity.kind === 'connect') return activity.ratePerS ?? group.connect.ratePerS;
    }
  }
  return group.connect.ratePerS;
}

/** µs that a stage takes to connect what it must, by the connect rates; 0 where all is connected. */
export function connectRampUs(plan: Pick<Plan, 'groups'>, stage: Stage, needs: StageNeeds): number {
  let longest = 0;
  for (const index of needs.connects) {
    const group = plan.groups[index];
    if (group === undefined) continue;
    const perS = connectRate(stage, index, group);
    longest = Math.max(longest, (group.clients / perS) * 1_000_000);
  }
  return longest;
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

function makeStage(stage: Stage, states: readonly GroupState[], groups: readonly Group[]) {
  const connects = new Set<number>();
  const reconnects = new Set<number>();
  const churns = new Set<number>();
  const made = { subscribes: new Map(), responds: new Map(), requests: new Map() };
  for (const { group: index, activities } of stage.run) {
    const state = states[index];
    const group = groups[index];
    if (state === undefined || group === undefined) continue;
    if (activities.some(({ kind }) => kind === 'churn')) churns.add(index);
    if (activities.some(isReconnecting)) reconnects.add(index);
    if (!state.connected && !churns.has(index) && activities.some(needsConnection)) {
      connects.add(index);
      state.connected = true;
    }
    for (const activity of activities) makeActivity(activity, { index, group, state, made });
  }
  return { connects, reconnects, churns, ...made };
}

interface Making {
  readonly index: number;
  readonly group: Group;
  readonly state: GroupState;
  /** What the stage makes, by the group's index. */
  readonly made: Readonly<Record<'subscribes' | 'responds' | 'requests', Entries>>;
}

function makeActivity(activity: Activity, { index, group, state, made }: Making): void {
  switch (activity.kind) {
    case 'subscribe':
    case 'consume':
      if (isNew(state.subscribed, activity.entry)) add(made.subscribes, index, activity.entry);
      return;
    case 'respond':
      if (isNew(state.responding, activity.entry)) add(made.responds, index, activity.entry);
      return;
    case 'publish': {
      const { stream } = activity;
      if (asksFor(group, stream) && isNew(state.requesting, stream)) {
        add(made.requests, index, stream);
      }
      return;
    }
    case 'unsubscribe':
      state.subscribed.delete(activity.entry);
      return;
    case 'disconnect':
      leave(state, activity);
      return;
    case 'connect':
    case 'takeover':
    case 'churn':
    case 'idle':
      return;
  }
}

function asksFor(group: Group, stream: number): boolean {
  return (group.publish[stream]?.request ?? null) !== null;
}

/** Notes the entry as held, and tells whether it was not before. */
function isNew(held: Set<number>, entry: number): boolean {
  if (held.has(entry)) return false;
  held.add(entry);
  return true;
}

function add(made: Entries, group: number, entry: number): void {
  made.set(group, (made.get(group) ?? new Set<number>()).add(entry));
}

/** Who goes for good gives up what it has subscribed to; who is to come back, or only a part, does not. */
function leave(state: GroupState, { drop }: Extract<Activity, { kind: 'disconnect' }>): void {
  if (drop !== undefined && drop.back !== null) return;
  state.connected = false;
  if (drop?.keep === true || (drop?.share ?? 1) < 1) return;
  state.subscribed.clear();
  state.responding.clear();
  state.requesting.clear();
}

function isReconnecting(activity: Activity): boolean {
  if (activity.kind === 'disconnect') return (activity.drop?.back ?? null) !== null;
  return activity.kind === 'churn' || activity.kind === 'takeover';
}

/** Whoever is dropped to come back must be there first; who goes for good need not. */
function needsConnection(activity: Activity): boolean {
  switch (activity.kind) {
    case 'idle':
    case 'churn':
      return false;
    case 'disconnect':
      return isReconnecting(activity);
    case 'connect':
    case 'subscribe':
    case 'consume':
    case 'unsubscribe':
    case 'publish':
    case 'respond':
    case 'takeover':
      return true;
  }
}
