import { isMap, type JsonMap, mapsOf, numberIn, textIn } from '../http/json-value.ts';
import { ProbeError } from '../probe.ts';
import type { EmqxApi } from './api.ts';
import { addMetrics, addNodes, addStats } from './cluster.ts';
import type { ClusterTally } from './tally.ts';

export interface Chosen {
  readonly rules: readonly string[];
  readonly sinks: readonly string[];
}

/** EMQX 4.x: one element a node everywhere, and sinks are the actions of rules. */
export async function read4(
  api: EmqxApi,
  chosen: Chosen,
  { tally, signal }: { readonly tally: ClusterTally; readonly signal: AbortSignal },
): Promise<void> {
  const [nodes, stats, metrics, listeners, rules] = await Promise.all([
    api.list('/nodes', signal),
    api.list('/stats', signal),
    api.list('/metrics', signal),
    api.list('/listeners', signal),
    api.listOrNone('/rules', signal),
  ]);
  addNodes(nodes, tally);
  for (const { stats: inner } of stats) if (isMap(inner)) addStats(inner, tally);
  if (!tally.gauges.has('connections')) addOpenConnections(listeners, tally);
  for (const one of metrics) {
    if (isMap(one['metrics'])) addMetrics(one['metrics'], textIn(one, 'node'), tally);
  }
  for (const rule of chosenRules(rules ?? [], chosen)) addRule(rule, chosen, tally);
}

/** 4.3 counts sessions without a client as connections; its listeners know what is open. */
function addOpenConnections(listeners: readonly JsonMap[], tally: ClusterTally): void {
  for (const { listeners: ofNode } of listeners) {
    if (!Array.isArray(ofNode)) continue;
    for (const listener of mapsOf(ofNode, 'the listeners of a node')) {
      if (!textIn(listener, 'protocol').startsWith('mqtt')) continue;
      tally.add('connections', numberIn(listener, 'current_conns'));
    }
  }
}

function chosenRules(rules: readonly JsonMap[], chosen: Chosen): readonly JsonMap[] {
  if (chosen.rules.length === 0) return rules;
  return chosen.rules.map((id) => {
    const rule = rules.find((one) => one['id'] === id);
    if (rule !== undefined) return rule;
    throw new ProbeError('no such rule', `${id} is not among the ${rules.length} rules`);
  });
}

function addRule(rule: JsonMap, { sinks }: Chosen, tally: ClusterTally): void {
  const id = textIn(rule, 'id');
  for (const metrics of mapsOf(rule['metrics'], 'the metrics of a rule')) {
    const part = `${id} ${textIn(metrics, 'node')}`;
    tally.count('rule.hits', numberIn(metrics, 'matched'), { part });
  }
  for (const action of mapsOf(rule['actions'], 'the actions of a rule')) {
    const isSink = sinks.length === 0 || sinks.includes(resourceOf(action));
    for (const metrics of mapsOf(action['metrics'], 'the metrics of an action')) {
      // A rule whose actions were changed counts under a new id.
      const part = `${id} ${textIn(action, 'id')} ${textIn(metrics, 'node')}`;
      addAction(metrics, { part, isSink }, tally);
    }
  }
}

function addAction(
  metrics: JsonMap,
  { part, isSink }: { readonly part: string; readonly isSink: boolean },
  tally: ClusterTally,
): void {
  const success = numberIn(metrics, 'success') ?? 0;
  const failed = numberIn(metrics, 'failed') ?? 0;
  // Started and not yet confirmed.
  const open = Math.max(0, (numberIn(metrics, 'taken') ?? 0) - success - failed);
  for (const owner of isSink ? ['rule', 'sink'] : ['rule']) {
    tally.count(`${owner}.success`, success, { part });
    tally.count(`${owner}.failed`, failed, { part });
    tally.add(`${owner}.open`, open);
  }
}

function resourceOf(action: JsonMap): string {
  return isMap(action['params']) ? textIn(action['params'], '$resource') : '';
}
