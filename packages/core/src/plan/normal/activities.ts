import { nearest } from '../../text/nearest.ts';
import type { Activity, Group, Pace, PublishStream } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile, StageFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';
import { defaultInflight, normalisePace } from './streams.ts';

type Spec = StageFile['run'][string];
interface Place {
  readonly group: Group;
  readonly path: PlanPath;
  readonly context: NormalContext;
}

const WORDS = ['connect', 'subscribe', 'publish', 'disconnect', 'idle'];
/** What cannot be done beside anything else. */
const ALONE: ReadonlySet<string> = new Set(['disconnect', 'idle']);

/** What a stage has a group do: words, a list of them, or maps with overrides. */
export function normaliseActivities(spec: Spec, place: Place): Activity[] {
  const items = Array.isArray(spec)
    ? spec.map((item, index) => ({ item, at: [index] }))
    : [{ item: spec, at: [] }];
  const activities = items.flatMap(({ item, at }) => {
    const path = [...place.path, ...at];
    if (typeof item === 'string') return activitiesOf(item, null, { ...place, path });
    return Object.entries(item).flatMap(([word, override]) =>
      activitiesOf(word, changeOf(override), { ...place, path: [...path, word] }),
    );
  });
  checkTogether(activities, place);
  return activities;
}

/** What the schema lets a stage change of a stream. */
interface Change {
  readonly every?: number | undefined;
  readonly rate?: number | 'max' | undefined;
  readonly inflight?: number | undefined;
}

function changeOf(override: unknown): Change | null {
  return typeof override === 'object' ? override : null;
}

function activitiesOf(word: string, change: Change | null, place: Place): Activity[] {
  const [verb = '', entry, ...more] = word.split('.');
  if (more.length > 0 || !WORDS.includes(verb)) return unknownActivity(word, place);
  if (entry !== undefined && verb !== 'publish' && verb !== 'subscribe') {
    return unknownActivity(word, place);
  }
  switch (verb) {
    case 'connect':
    case 'disconnect':
    case 'idle':
      return [{ kind: verb }];
    case 'subscribe':
      return entryIndexes(place.group.subscribe, { verb, entry, place }).map((index) => ({
        kind: 'subscribe',
        entry: index,
      }));
    default:
      return publishActivities(entry, change, place);
  }
}

function publishActivities(
  entry: string | undefined,
  change: Change | null,
  place: Place,
): Activity[] {
  const streams = place.group.publish;
  const indexes = entryIndexes(streams, { verb: 'publish', entry, place });
  if (change !== null && Object.keys(change).length > 0 && indexes.length > 1) {
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
  { change, place }: { readonly change: Change | null; readonly place: Place },
): Activity {
  let pace: Pace = stream.pace;
  if (change?.every !== undefined || change?.rate !== undefined) {
    pace = normalisePace(change, place.path, place.context) ?? pace;
  }
  // A window that was only the default of the stream's own pace is that of the new one.
  const own =
    stream.inflight === defaultInflight(stream.pace) ? defaultInflight(pace) : stream.inflight;
  return { kind: 'publish', stream: index, pace, inflight: change?.inflight ?? own };
}

/** All entries, or the named one. */
function entryIndexes(
  entries: readonly { readonly name: string | null }[],
  { verb, entry, place }: { verb: string; entry: string | undefined; place: Place },
): number[] {
  const { group, path, context } = place;
  if (entries.length === 0) {
    context.findings.error(path, `the group ${group.name} has nothing to ${verb}`, {
      hint: `write ${verb}: { topic: … } into the group`,
    });
    return [];
  }
  if (entry === undefined) return entries.map((_, index) => index);
  const index = entries.findIndex(({ name }) => name === entry);
  if (index !== -1) return [index];
  const names = entries.flatMap(({ name }) => (name === null ? [] : [name]));
  const near = nearest(entry, names);
  context.findings.error(path, `the group ${group.name} has no ${verb} entry "${entry}"`, {
    hint:
      near === null
        ? names.length === 0
          ? `its ${verb} entry has no name: write ${verb}`
          : `it has ${names.join(', ')}`
        : `did you mean ${verb}.${near}?`,
  });
  return [];
}

function unknownActivity(word: string, { group, path, context }: Place): Activity[] {
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

function checkTogether(activities: readonly Activity[], { path, context }: Place): void {
  const seen = new Set<string>();
  for (const activity of activities) {
    const key =
      activity.kind === 'publish'
        ? `publish ${activity.stream}`
        : activity.kind === 'subscribe'
          ? `subscribe ${activity.entry}`
          : activity.kind;
    if (seen.has(key)) {
      context.findings.error(path, `${activity.kind} stands twice for the same thing`);
      return;
    }
    seen.add(key);
  }
  const alone = activities.find((activity) => ALONE.has(activity.kind));
  if (alone !== undefined && activities.length > 1) {
    context.findings.error(path, `${alone.kind} cannot be done beside something else`);
  }
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
