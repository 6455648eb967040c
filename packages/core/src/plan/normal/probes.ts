import { isMetricName } from '../../metrics/index.ts';
import { parseTemplate } from '../../template/index.ts';
import type { ProbeSource, ProbeSpec } from '../probe-spec.ts';
import type { PlanPath } from '../problem.ts';
import type { PlanFile, ProbeFile } from '../schema/plan-file.ts';
import type { NormalContext } from './context.ts';
import { httpSource, type Place, prometheusSource, rocketmqSource } from './probe-parts.ts';
import { sqlSource } from './sql-probe.ts';
import { hookSource, hostSource, listeningSource } from './hook-and-host.ts';

/** Time between readings, where the plan says nothing. Counting rows is load, too: SQL has none. */
const INTERVAL_US = 5_000_000;

/** What each type must have and may have, beside `type`, `interval` and `timeout`. */
const KEYS = {
  mysql: { needs: ['url', 'query'], may: [] },
  postgres: { needs: ['url', 'query'], may: [] },
  nginx: { needs: ['url'], may: [] },
  http: { needs: ['url', 'values'], may: ['counters', 'headers'] },
  prometheus: { needs: ['url'], may: ['series', 'counters', 'preset', 'headers'] },
  node: { needs: ['url'], may: [] },
  emqx: { needs: ['url'], may: ['rule', 'sink'] },
  mosquitto: { needs: ['url'], may: [] },
  rabbitmq: { needs: ['url'], may: [] },
  rocketmq: { needs: ['nameServers'], may: ['acl', 'tls', 'topic', 'group'] },
  webhook: { needs: [], may: ['url', 'listen'] },
  host: { needs: [], may: ['agent', 'labels'] },
} as const;

const OPTIONAL_KEYS = [
  'url',
  'query',
  'values',
  'counters',
  'series',
  'headers',
  'preset',
  'rule',
  'sink',
  'nameServers',
  'acl',
  'tls',
  'topic',
  'group',
  'listen',
  'agent',
  'labels',
] as const;
type Key = (typeof OPTIONAL_KEYS)[number];
type Type = keyof typeof KEYS;

const SCHEMES: Readonly<Record<Type, readonly string[]>> = {
  mysql: ['mysql:', 'mariadb:'],
  postgres: ['postgres:', 'postgresql:'],
  nginx: ['http:', 'https:'],
  http: ['http:', 'https:'],
  prometheus: ['http:', 'https:'],
  node: ['http:', 'https:'],
  emqx: ['http:', 'https:'],
  mosquitto: ['mqtt:', 'mqtts:', 'ws:', 'wss:'],
  rabbitmq: ['http:', 'https:'],
  webhook: ['http:', 'https:'],
  host: [],
  rocketmq: [],
};

/** Probes of a plan file: which keys fit which type, addresses, queries, pointers. */
export function normaliseProbes(
  file: Pick<PlanFile, 'probes' | 'groups'>,
  context: NormalContext,
): ProbeSpec[] {
  return Object.entries(file.probes).flatMap(([name, probe]) => {
    const path = ['probes', name];
    checkName(name, { path, groups: Object.keys(file.groups), context });
    const source = sourceOf(probe, path, context);
    if (source === null) return [];
    const isSql = source.type === 'mysql' || source.type === 'postgres';
    const intervalUs = probe.interval ?? (isSql ? null : INTERVAL_US);
    return [{ name, source, intervalUs, timeoutUs: probe.timeout }];
  });
}

function checkName(
  name: string,
  at: {
    readonly path: PlanPath;
    readonly groups: readonly string[];
    readonly context: NormalContext;
  },
): void {
  const { path, groups, context } = at;
  const taken = groups.includes(name) ? 'a group' : isMetricName(name) ? 'a metric' : null;
  if (taken === null) return;
  context.findings.error(path, `${name} is the name of ${taken}, too`, {
    hint: 'thresholds and balances could not tell them apart: give the probe another name',
    atKey: true,
  });
}

function sourceOf(probe: ProbeFile, path: PlanPath, context: NormalContext): ProbeSource | null {
  const { findings } = context;
  const { type } = probe;
  const { needs, may } = KEYS[type];
  const known: readonly Key[] = [...needs, ...may];
  let sound = true;
  for (const key of needs) {
    if (probe[key] !== undefined) continue;
    sound = false;
    findings.error(path, `a probe of type ${type} needs ${key}`, { atKey: true });
  }
  for (const key of OPTIONAL_KEYS) {
    if (probe[key] === undefined || known.includes(key)) continue;
    sound = false;
    findings.error([...path, key], `a probe of type ${type} has no ${key}`, {
      hint: `it has ${known.join(', ')}`,
      atKey: true,
    });
  }
  if (!sound) return null;
  if (type === 'rocketmq') return rocketmqSource(probe, { path, context });
  if (type === 'host') return hostSource(probe, { path, context });
  if (type === 'webhook' && probe.url === undefined) {
    return listeningSource(probe, { path, context });
  }
  const url = probe.url ?? '';
  return checkUrl(url, { type, path, context })
    ? built(type, { ...probe, url }, { path, context })
    : null;
}

function built(
  type: Exclude<Type, 'rocketmq' | 'host'>,
  probe: ProbeFile & { readonly url: string },
  place: Place,
): ProbeSource | null {
  const { url, query = '' } = probe;
  switch (type) {
    case 'mysql':
    case 'postgres':
      return sqlSource({ type, url, query }, place);
    case 'nginx':
    case 'node':
    case 'mosquitto':
    case 'rabbitmq':
      return { type, url };
    case 'webhook':
      return hookSource(probe, place);
    case 'emqx':
      return { type, url, rules: [probe.rule ?? []].flat(), sinks: [probe.sink ?? []].flat() };
    case 'http':
      return httpSource(probe, place);
    case 'prometheus':
      return prometheusSource(probe, place);
  }
}

/** Scheme, credentials, host, port: the rest is the server's. */
const ADDRESS =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[^\s@/?#]*@)?(?:\[[0-9a-fA-F:.]+\]|[^\s:@/?#[\]]+)(?::\d{1,5})?(?:[/?#]\S*)?$/;

/** `{{env.NAME}}` stands for a secret; nothing else is filled in later. */
function checkUrl(text: string, at: Place & { readonly type: Type }): boolean {
  const { context, path, type } = at;
  const place = [...path, 'url'];
  const parsed = parseTemplate(text);
  const strange = parsed.ok
    ? parsed.parts.find((part) => part.kind !== 'text' && part.kind !== 'env')
    : undefined;
  if (!parsed.ok || strange !== undefined) {
    context.findings.error(place, 'only {{env.NAME}} can stand in the address of a probe');
    return false;
  }
  const shown = text.replaceAll(/\{\{[^}]*\}\}/g, 'x');
  const schemes = SCHEMES[type];
  if (ADDRESS.test(shown) && schemes.some((scheme) => shown.startsWith(`${scheme}//`))) return true;
  context.findings.error(place, `this is no address for a probe of type ${type}`, {
    hint: `it begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`,
  });
  return false;
}
