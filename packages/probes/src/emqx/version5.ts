import { isMap, type JsonMap, mapOf, mapsOf, numberIn, textIn } from '../http/json-value.ts';
import { ProbeError } from '../probe.ts';
import type { EmqxApi } from './api.ts';
import { addMetrics, addNodes, addStats } from './cluster.ts';
import type { ClusterTally } from './tally.ts';
import type { Chosen } from './version4.ts';

/** Rules, or sinks, that are read each time: every one is a request of its own. */
const MAX_OBJECTS = 100;
const PAGE = 1_000;
/** Requests under way at a time. */
const AT_ONCE = 8;

interface Way {
  readonly api: EmqxApi;
  readonly tally: ClusterTally;
  readonly signal: AbortSignal;
}

/** EMQX 5.x and 6.x: flat answers, counters of rules and sinks at pages of their own. */
export async function read5(
  api: EmqxApi,
  chosen: Chosen,
  { tally, signal }: { readonly tally: ClusterTally; readonly signal: AbortSignal },
): Promise<void> {
  const [nodes, stats, metrics] = await Promise.all([
    api.list('/nodes', signal),
    api.list('/stats', signal),
    api.list('/metrics', signal),
  ]);
  addNodes(nodes, tally);
  for (const one of stats) addStats(one, tally);
  for (const one of metrics) addMetrics(one, textIn(one, 'node'), tally);
  const way = { api, tally, signal };
  await addRules(way, chosen.rules);
  await addSinks(way, chosen.sinks);
}

async function addRules(way: Way, wanted: readonly string[]): Promise<void> {
  const { api, signal } = way;
  const rules = (await api.listOrNone(`/rules?limit=${PAGE}`, signal)) ?? [];
  const ids = pick(
    wanted,
    rules.map((rule) => textIn(rule, 'id')),
    'rule',
  );
  await inTurns(ids, async (id) => {
    const path = `/rules/${encodeURIComponent(id)}/metrics`;
    const rule = rules.find((one) => one['id'] === id);
    for (const [node, metrics] of await metricsOf(way, path, rule))
      addRule(metrics, `${id} ${node}`, way.tally);
  });
}

/** Actions since 5.3.1, bridges before. */
async function addSinks(way: Way, wanted: readonly string[]): Promise<void> {
  const { api, signal } = way;
  const actions = await api.listOrNone('/actions', signal);
  const place = actions === null ? 'bridges' : 'actions';
  const sinks = actions ?? (await api.listOrNone('/bridges', signal)) ?? [];
  const known = sinks.map((sink) => `${textIn(sink, 'type')}:${textIn(sink, 'name')}`);
  // An unknown sink is answered with zeros: it has to be on the list.
  const ids = pick(wanted, known, 'sink');
  await inTurns(ids, async (id) => {
    const path = `/${place}/${encodeURIComponent(id)}/metrics`;
    const sink = sinks[known.indexOf(id)];
    for (const [node, metrics] of await metricsOf(way, path, sink))
      addSink(metrics, `${id} ${node}`, way.tally);
  });
}

/** By node. Before 5.3 they stand in the object's own answer. */
async function metricsOf(
  { api, signal }: Way,
  path: string,
  object: JsonMap | undefined,
): Promise<[node: string, metrics: JsonMap][]> {
  const answer = isMap(object?.['metrics']) ? object : mapOf(await api.get(path, signal), path);
  const ofNodes = mapsOf(answer['node_metrics'] ?? [], path).flatMap((one): [string, JsonMap][] =>
    isMap(one['metrics']) ? [[textIn(one, 'node'), one['metrics']]] : [],
  );
  return ofNodes.length > 0 ? ofNodes : [['', mapOf(answer['metrics'], path)]];
}

function addRule(metrics: JsonMap, part: string, tally: ClusterTally): void {
  const success = numberIn(metrics, 'actions.success') ?? 0;
  const failed = numberIn(metrics, 'actions.failed') ?? 0;
  const given = failed + (numberIn(metrics, 'actions.discarded') ?? 0);
  tally.count('rule.hits', numberIn(metrics, 'matched'), { part });
  tally.count('rule.success', success, { part });
  tally.count('rule.failed', failed, { part });
  // Counted at the hit, while success and failure wait for the sink.
  const total = numberIn(metrics, 'actions.total') ?? 0;
  tally.add('rule.open', Math.max(0, total - success - given));
}

function addSink(metrics: JsonMap, part: string, tally: ClusterTally): void {
  const queuing = numberIn(metrics, 'queuing') ?? 0;
  const inflight = numberIn(metrics, 'inflight') ?? 0;
  // What it gave up is not among what it calls failed.
  const failed = (numberIn(metrics, 'failed') ?? 0) + (numberIn(metrics, 'dropped') ?? 0);
  tally.count('sink.success', numberIn(metrics, 'success'), { part });
  tally.count('sink.failed', failed, { part });
  tally.add('sink.queuing', queuing);
  tally.add('sink.inflight', inflight);
  tally.add('sink.open', queuing + inflight);
}

function pick(
  wanted: readonly string[],
  known: readonly string[],
  what: 'rule' | 'sink',
): readonly string[] {
  const missing = wanted.find((id) => !known.includes(id));
  if (missing !== undefined) {
    throw new ProbeError(
      `no such ${what}`,
      `${missing} is not among the ${known.length} that there are`,
    );
  }
  const ids = wanted.length === 0 ? known : wanted;
  if (ids.length <= MAX_OBJECTS) return ids;
  throw new ProbeError(`too many ${what}s`, `${ids.length}: name those that count by "${what}"`);
}

async function inTurns(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await Promise.all(ids.slice(at, at + AT_ONCE).map(work));
  }
}
