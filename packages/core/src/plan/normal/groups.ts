import { nearest } from '../../text/nearest.ts';
import { MAX_ENTRIES, MAX_GROUPS } from '../limits.ts';
import type { CsvSpec, Group, Target } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import { parseCsv } from '../files/csv.ts';
import type { GroupFile, PlanFile } from '../schema/plan-file.ts';
import { normaliseConnect } from './connect.ts';
import type { GroupPlace, NormalContext, TargetFacts } from './context.ts';
import { inside } from './context.ts';
import { checkIdentifiers, normaliseResponder, normaliseSubscription } from './entries.ts';
import { checkProtocol, normaliseConsume } from './rocketmq.ts';
import { normaliseStream } from './streams.ts';

interface Scene {
  readonly file: PlanFile;
  readonly targets: Readonly<Record<string, Target>>;
  readonly context: NormalContext;
}

export function normaliseGroups(
  file: PlanFile,
  targets: Readonly<Record<string, Target>>,
  context: NormalContext,
): Group[] {
  const groups = Object.entries(file.groups).map(([name, group]) =>
    normaliseGroup(name, group, { file, targets, context }),
  );
  if (groups.length === 0 && context.unsound === null)
    context.findings.error(['groups'], 'at least one group is needed');
  if (groups.length > MAX_GROUPS) {
    context.findings.error(['groups'], `at most ${MAX_GROUPS} groups are possible`);
  }
  const entries = groups.reduce((sum, { publish, subscribe, respond }) => {
    return sum + publish.length + subscribe.length + respond.length;
  }, 0);
  if (entries > MAX_ENTRIES) {
    context.findings.error(['groups'], `at most ${MAX_ENTRIES} streams are possible`);
  }
  return groups;
}

function normaliseGroup(name: string, group: GroupFile, scene: Scene): Group {
  const { file, targets, context } = scene;
  const path = ['groups', name];
  const { findings } = context;
  if (name === 'run') {
    findings.error(path, 'a group cannot be called run: conditions use the word', { atKey: true });
  }
  checkTarget(group, path, { file, context });
  const clients = normaliseClients(group, path, context);
  if (group.password !== undefined && !/\{\{\s*(env|csv)\./.test(group.password)) {
    findings.warn(
      [...path, 'password'],
      'a password written into the plan is printed in reports',
      'write {{env.NAME}} and set the environment variable',
    );
  }
  const place: GroupPlace = {
    path,
    context,
    target: factsOf(group.target, { file, targets }),
  };
  checkProtocol(group, place);
  const at = (more: PlanPath): GroupPlace => inside(place, ...more);
  const subscribe = [
    ...entriesOf(group.subscribe, 'subscribe', place).map(({ entry, steps }, index) =>
      normaliseSubscription(entry, { group: name, index }, at(steps)),
    ),
    ...entriesOf(group.consume, 'consume', place).map(({ entry, steps }) =>
      normaliseConsume(entry, name, at(steps)),
    ),
  ];
  checkIdentifiers(subscribe, place);
  return {
    name,
    target: group.target,
    clients,
    clientId: group.clientId,
    username: group.username ?? null,
    password: group.password ?? null,
    from: normaliseFrom(name, group.from, { clients, place }),
    sourceAddresses: group.sourceAddresses ?? [],
    connect: normaliseConnect(group, clients, inside(place, 'connect')),
    publish: entriesOf(group.publish, 'publish', place).map(({ entry, steps }) =>
      normaliseStream(entry, name, at(steps)),
    ),
    subscribe,
    respond: entriesOf(group.respond, 'respond', place).map(({ entry, steps }) =>
      normaliseResponder(entry, name, at(steps)),
    ),
  };
}

/** A target that the schema has found wrong has no addresses here, and its version is not known. */
function factsOf(name: string, { file, targets }: Pick<Scene, 'file' | 'targets'>): TargetFacts {
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target?.protocol === 'rocketmq') {
    const own = file.targets[name];
    const namespace = own?.protocol === 'rocketmq' ? (own.namespace ?? null) : null;
    return { name, protocol: 'rocketmq', version: null, namespace };
  }
  const known = target !== undefined && target.urls.length > 0;
  const version = known ? target.version : null;
  return { name, protocol: known ? 'mqtt' : null, version, namespace: null };
}

function checkTarget(
  group: GroupFile,
  path: PlanPath,
  { file, context }: Pick<Scene, 'file' | 'context'>,
): void {
  if (Object.hasOwn(file.targets, group.target)) return;
  const known = Object.keys(file.targets);
  const near = nearest(group.target, known);
  context.findings.error([...path, 'target'], `there is no target "${group.target}"`, {
    hint: near === null ? `the plan has ${known.join(', ')}` : `did you mean ${near}?`,
  });
}

function normaliseClients(group: GroupFile, path: PlanPath, { scaler }: NormalContext): number {
  const { clients } = group;
  if (typeof clients === 'number') return scaler.count([...path, 'clients'], clients);
  return clients.scale ? scaler.count([...path, 'clients', 'count'], clients.count) : clients.count;
}

/** The CSV file of a group; its rows are kept beside the plan. */
function normaliseFrom(
  name: string,
  file: string | undefined,
  { clients, place }: { readonly clients: number; readonly place: GroupPlace },
): CsvSpec | null {
  if (file === undefined) return null;
  const path = [...place.path, 'from'];
  const { files, findings, tables } = place.context;
  const unread: CsvSpec = { file, columns: [], rows: 0 };
  if (file.includes('{{')) {
    findings.error(path, 'a group has one CSV file for all of its clients');
    return unread;
  }
  const found = files.read(file, path);
  if (found === null) return unread;
  const table = parseCsv(found.content);
  if ('message' in table) {
    findings.error(path, table.message, table);
    return unread;
  }
  tables.set(name, table);
  if (table.rows.length < clients) {
    findings.error(
      path,
      `${file} has ${table.rows.length} rows for ${clients} clients: each client has a row of its own`,
      { hint: `write clients: ${table.rows.length} or fewer, or add rows` },
    );
  }
  return { file, columns: table.columns, rows: table.rows.length };
}

interface EntryAt<Entry> {
  readonly entry: Entry;
  /** Its place in the group. */
  readonly steps: PlanPath;
}

/** One entry or a list of named ones, with the place of each. */
function entriesOf<Entry extends { readonly name?: string | undefined }>(
  entries: Entry | readonly Entry[] | undefined,
  word: string,
  { path, context }: GroupPlace,
): EntryAt<Entry>[] {
  const { findings } = context;
  if (entries === undefined) return [];
  if (!isList(entries)) return [{ entry: entries, steps: [word] }];
  const names = new Set<string>();
  return entries.map((entry, index) => {
    const at = [...path, word, index];
    if (entry.name === undefined && entries.length > 1) {
      findings.error(at, 'each entry of a list of several needs a name');
    }
    if (entry.name !== undefined && names.has(entry.name)) {
      findings.error([...at, 'name'], `the name ${entry.name} stands twice`);
    }
    names.add(entry.name ?? '');
    return { entry, steps: [word, index] };
  });
}

function isList<Entry>(entries: Entry | readonly Entry[]): entries is readonly Entry[] {
  return Array.isArray(entries);
}
