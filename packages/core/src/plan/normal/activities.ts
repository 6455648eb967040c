import { nearest } from '../../text/nearest.ts';
import type { Activity, Group, Pace, PublishStream } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile, StageFile } from '../schema/plan-file.ts';
import type { ActivityFile } from '../schema/stages.ts';
import { isConnectionWord, normaliseConnection } from './connection-activities.ts';
import type { NormalContext } from './context.ts';
import { checkSpacing, normalisePace, paceWordsOf } from './paces.ts';
import { defaultInflight } from './streams.ts';

type Spec = StageFile['run'][string];

export interface ActivityPlace {
  readonly group: Group;
  /** Whether the group talks to RocketMQ. */
  readonly isRocketmq: boolean;
  /** Length of the stage, µs; null where it ends otherwise. */
  readonly stageUs: number | null;
  readonly path: PlanPath;
  readonly context: NormalContext;
}

const WORDS = [
  'connect',
  'subscribe',
  'unsubscribe',
  'publish',
  'respond',
  'disconnect',
  'sleep',
  'wake',
  'takeover',
  'churn',
  'consume',
  'idle',
];
const SHAPES: ReadonlySet<string> = new Set(['ramp', 'steps', 'spike']);

/** What a stage has a group do: words, a list of them, or maps with overrides. */
export function normaliseActivities(spec: Spec, place: ActivityPlace): Activity[] {
  const items = Array.isArray(spec)
    ? spec.map((item, index) => ({ item, at: [index] }))
    : [{ item: spec, at: [] }];
  const activities = items.flatMap(({ item, at }) => {
    const path = [...place.path, ...at];
    if (typeof item === 'string') return activitiesOf(item, {}, { ...place, path });
    return Object.keys(item).flatMap((word) => {
      // A shape alone is the pace of the group's one stream.
      if (SHAPES.has(word)) return shapedActivities(word, item, { ...place, path });
      return activitiesOf(word, item, { ...place, path: [...path, word] });
    });
  });
  checkTogether(activities, place);
  return activities;
}

/** What the schema lets a stage change of a stream. */
type Change = NonNullable<ActivityFile[string]>;

function shapedActivities(
  word: string,
  { ramp, steps, spike }: ActivityFile,
  place: ActivityPlace,
) {
  const change = word === 'ramp' ? { ramp } : word === 'steps' ? { steps } : { spike };
  return publishActivities(undefined, change, place);
}

/** @param file what stands beside the word, and maybe more. */
function activitiesOf(word: string, file: Partial<ActivityFile>, place: ActivityPlace): Activity[] {
  const [verb = '', entry, ...more] = word.split('.');
  if (more.length > 0 || !WORDS.includes(verb)) return unknownActivity(word, place);
  const { group } = place;
  switch (verb) {
    case 'subscribe':
    case 'unsubscribe':
    case 'consume':
      return subscribeEntries(verb, entry, place).map((index) => ({ kind: verb, entry: index }));
    case 'respond':
      return entryIndexes(group.respond, { verb, of: verb, entry, place }).map((index) => ({
        kind: verb,
        entry: index,
      }));
    case 'publish':
      return publishActivities(entry, file[word] ?? {}, place);
  }
  if (entry !== undefined) return unknownActivity(word, place);
  if (verb !== 'connect' && isConnectionWord(verb) && place.isRocketmq) {
    return refused(verb, place);
  }
  return isConnectionWord(verb) ? normaliseConnection(verb, file, place) : [{ kind: 'idle' }];
}

/** Entries that subscribe, or consume: a group has one kind of them only. */
function subscribeEntries(
  verb: 'subscribe' | 'unsubscribe' | 'consume',
  entry: string | undefined,
  place: ActivityPlace,
): number[] {
  const consumes = verb === 'consume';
  const entries = place.group.subscribe.filter((each) => (each.consume !== undefined) === consumes);
  return entryIndexes(entries, { verb, of: consumes ? 'consume' : 'subscribe', entry, place });
}

function refused(verb: string, { path, context }: ActivityPlace): Activity[] {
  context.findings.error(path, `${verb} of RocketMQ clients is not supported by this version`, {
    code: 'SQ_UNSUPPORTED',
    atKey: true,
  });
  return [];
}

function publishActivities(
  entry: string | undefined,
  change: Change,
  place: ActivityPlace,
): Activity[] {
  const streams = place.group.publish;
  const indexes = entryIndexes(streams, { verb: 'publish', of: 'publish', entry, place });
  if (Object.keys(change).length > 0 && indexes.length > 1) {
    place.context.findings.error(
      place.path,
      `${place.group.name} has several streams: an override must name one`,
      { hint: `write publish.${streams[0]?.name ?? 'name'}`, atKey: true },
    );
    return [];
  }
  return indexes.flatMap((index) => {
    const stream = streams[index];
    return stream === undefined ? [] : [overridden(stream, index, { change, place })];
  });
}

function overridden(
  stream: PublishStream,
  index: number,
  { change, place }: { readonly change: Change; readonly place: ActivityPlace },
): Activity {
  let pace: Pace = stream.pace;
  if (paceWordsOf(change).length > 0) pace = normalisePace(change, place) ?? pace;
  if (stream.pace.kind !== 'max') checkSpacing(stream, pace, place);
  // A window that was only the default of the stream's own pace is that of the new one.
  const own =
    stream.inflight === defaultInflight(stream.pace) ? defaultInflight(pace) : stream.inflight;
  return { kind: 'publish', stream: index, pace, inflight: change.inflight ?? own };
}

/** All entries, or the named one. */
function entryIndexes(
  entries: readonly { readonly name: string | null }[],
  about: {
    readonly verb: string;
    /** Where the group has the entries. */
    readonly of: string;
    readonly entry: string | undefined;
    readonly place: ActivityPlace;
  },
): number[] {
  const { verb, of, entry, place } = about;
  const { group, path, context } = place;
  if (entries.length === 0) {
    context.findings.error(path, `the group ${group.name} has nothing to ${verb}`, {
      hint: `write ${of}: { topic: … } into the group`,
    });
    return [];
  }
  if (entry === undefined) return entries.map((_, index) => index);
  const index = entries.findIndex(({ name }) => name === entry);
  if (index !== -1) return [index];
  const names = entries.flatMap(({ name }) => (name === null ? [] : [name]));
  const near = nearest(entry, names);
  context.findings.error(path, `the group ${group.name} has no ${of} entry "${entry}"`, {
    hint:
      near === null
        ? names.length === 0
          ? `its ${of} entry has no name: write ${verb}`
          : `it has ${names.join(', ')}`
        : `did you mean ${verb}.${near}?`,
  });
  return [];
}

function unknownActivity(word: string, { group, path, context }: ActivityPlace): Activity[] {
  const known = [
    ...WORDS,
    ...group.publish.flatMap(({ name }) => (name ? [`publish.${name}`] : [])),
  ];
  const near = nearest(word, known);
  context.findings.error(path, `there is no activity "${word}"`, {
    hint: near === null ? `the activities are ${known.join(', ')}` : `did you mean ${near}?`,
  });
  return [];
}

/** What moves connections: one of these at a time. */
const CONNECTING: ReadonlySet<Activity['kind']> = new Set([
  'connect',
  'disconnect',
  'takeover',
  'churn',
]);

function checkTogether(activities: readonly Activity[], { path, context }: ActivityPlace): void {
  const seen = new Set<string>();
  for (const activity of activities) {
    const key = keyOf(activity);
    if (seen.has(key)) {
      context.findings.error(path, `${activity.kind} stands twice for the same thing`);
      return;
    }
    seen.add(key);
  }
  if (activities.length < 2) return;
  const alone = activities.find(isDoneAlone);
  if (alone !== undefined) {
    context.findings.error(path, `${alone.kind} cannot be done beside something else`);
    return;
  }
  const [one, other] = activities.filter(({ kind }) => CONNECTING.has(kind));
  if (one === undefined || other === undefined) return;
  context.findings.error(path, `${one.kind} and ${other.kind} cannot be done at the same time`);
}

function keyOf(activity: Activity): string {
  switch (activity.kind) {
    case 'publish':
      return `publish ${activity.stream}`;
    case 'subscribe':
    case 'consume':
    case 'unsubscribe':
      return `subscribe ${activity.entry}`;
    case 'respond':
      return `respond ${activity.entry}`;
    case 'connect':
    case 'disconnect':
    case 'takeover':
    case 'churn':
    case 'idle':
      return activity.kind;
  }
}

/** What leaves no connection to do anything else by. */
function isDoneAlone(activity: Activity): boolean {
  if (activity.kind === 'disconnect') return (activity.drop?.back ?? null) === null;
  return activity.kind === 'idle';
}

/** Groups that no stage names do nothing at all: most likely a slip. */
export function warnUnused(file: PlanFile, { findings }: NormalContext): void {
  const run = new Set(file.stages.flatMap((stage) => Object.keys(stage.run)));
  for (const name of Object.keys(file.groups)) {
    if (!run.has(name)) findings.warn(['groups', name], `no stage runs the group ${name}`);
  }
  const used = new Set(Object.values(file.groups).map((group) => group.target));
  for (const name of Object.keys(file.targets)) {
    if (!used.has(name)) findings.warn(['targets', name], `no group uses the target ${name}`);
  }
}
