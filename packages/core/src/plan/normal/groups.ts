import { nearest } from '../../text/nearest.ts';
import { MAX_ENTRIES, MAX_GROUPS } from '../limits.ts';
import type { ConnectSpec, Group, SubscribeEntry } from '../plan.ts';
import type { PlanPath } from '../problem.ts';
import type { GroupFile, PlanFile, SubscribeFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';
import { normaliseStream } from './streams.ts';

/** Connects a second where the plan does not say. */
const DEFAULT_CONNECT_RATE = 1_000;

export function normaliseGroups(file: PlanFile, context: NormalContext): Group[] {
  const groups = Object.entries(file.groups).map(([name, group]) =>
    normaliseGroup(name, group, { file, context }),
  );
  if (groups.length === 0 && context.unsound === null)
    context.findings.error(['groups'], 'at least one group is needed');
  if (groups.length > MAX_GROUPS) {
    context.findings.error(['groups'], `at most ${MAX_GROUPS} groups are possible`);
  }
  const entries = groups.reduce((sum, { publish, subscribe }) => {
    return sum + publish.length + subscribe.length;
  }, 0);
  if (entries > MAX_ENTRIES) {
    context.findings.error(['groups'], `at most ${MAX_ENTRIES} streams are possible`);
  }
  return groups;
}

function normaliseGroup(
  name: string,
  group: GroupFile,
  { file, context }: { readonly file: PlanFile; readonly context: NormalContext },
): Group {
  const path = ['groups', name];
  const { findings } = context;
  if (name === 'run') {
    findings.error(path, 'a group cannot be called run: conditions use the word', { atKey: true });
  }
  checkTarget(group, path, { file, context });
  const clients = normaliseClients(group, path, context);
  if (group.password !== undefined && !group.password.includes('{{env.')) {
    findings.warn(
      [...path, 'password'],
      'a password written into the plan is printed in reports',
      'write {{env.NAME}} and set the environment variable',
    );
  }
  return {
    name,
    target: group.target,
    clients,
    clientId: group.clientId,
    username: group.username ?? null,
    password: group.password ?? null,
    from: null,
    sourceAddresses: [],
    connect: normaliseConnect(group, { path: [...path, 'connect'], clients, context }),
    publish: entriesOf(group.publish, [...path, 'publish'], context).map(({ entry, at }) =>
      normaliseStream(entry, { group: name, path: at, context }),
    ),
    subscribe: entriesOf(group.subscribe, [...path, 'subscribe'], context).map(({ entry }) =>
      normaliseEntry(entry, name),
    ),
    respond: [],
  };
}

function checkTarget(
  group: GroupFile,
  path: PlanPath,
  { file, context }: { readonly file: PlanFile; readonly context: NormalContext },
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

function normaliseConnect(
  { connect }: GroupFile,
  { path, clients, context }: { path: PlanPath; clients: number; context: NormalContext },
): ConnectSpec {
  const { findings, scaler } = context;
  const { over, keepAlive, backoff } = connect;
  if (connect.rate !== undefined && over !== undefined) {
    findings.error([...path, 'over'], 'rate and over cannot both be given', { atKey: true });
  }
  const keepAliveS = keepAlive / 1_000_000;
  if (!Number.isInteger(keepAliveS)) {
    findings.error([...path, 'keepAlive'], 'keep-alive is a whole number of seconds', {
      hint: 'MQTT carries it in seconds [MQTT-3.1.2.10]',
    });
  }
  if (backoff.min > backoff.max) {
    findings.error([...path, 'backoff'], 'the shortest pause (min) is longer than the longest');
  }
  return {
    ratePerS:
      over === undefined
        ? scaler.rate([...path, 'rate'], connect.rate ?? DEFAULT_CONNECT_RATE)
        : (clients / over) * 1_000_000,
    keepAliveS,
    cleanStart: connect.cleanStart,
    timeoutUs: connect.timeout,
    retries: connect.retries,
    backoffMinUs: backoff.min,
    backoffMaxUs: backoff.max,
    sessionExpiryS: null,
    will: null,
    properties: null,
    auth: null,
  };
}

function normaliseEntry(entry: SubscribeFile, group: string): SubscribeEntry {
  const entryName = entry.name ?? null;
  return {
    name: entryName,
    subject: entryName === null ? group : `${group}.${entryName}`,
    topics: typeof entry.topic === 'string' ? [entry.topic] : entry.topic,
    qos: entry.qos === '1' ? 1 : 0,
    share: null,
    options: { noLocal: false, retainAsPublished: false, retainHandling: 0, identifier: null },
  };
}

/** One entry or a list of named ones, with the place of each. */
function entriesOf<Entry extends { readonly name?: string | undefined }>(
  entries: Entry | readonly Entry[] | undefined,
  path: PlanPath,
  { findings }: NormalContext,
): { readonly entry: Entry; readonly at: PlanPath }[] {
  if (entries === undefined) return [];
  if (!isList(entries)) return [{ entry: entries, at: path }];
  const names = new Set<string>();
  return entries.map((entry, index) => {
    const at = [...path, index];
    if (entry.name === undefined && entries.length > 1) {
      findings.error(at, 'each entry of a list of several needs a name');
    }
    if (entry.name !== undefined && names.has(entry.name)) {
      findings.error([...at, 'name'], `the name ${entry.name} stands twice`);
    }
    names.add(entry.name ?? '');
    return { entry, at };
  });
}

function isList<Entry>(entries: Entry | readonly Entry[]): entries is readonly Entry[] {
  return Array.isArray(entries);
}
