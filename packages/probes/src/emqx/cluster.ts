import { type JsonMap, numberIn, textIn } from '../http/json-value.ts';
import type { ClusterTally } from './tally.ts';

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
};

/** `74.34M`, or a number of bytes: EMQX has both. */
function bytesIn(map: JsonMap, key: string): number | null {
  const number = numberIn(map, key);
  if (number !== null) return number;
  const found = /^([\d.]+)\s*([BKMGT]?)(?:i?B)?$/i.exec(textIn(map, key));
  const unit = UNITS[(found?.[2] ?? '').toUpperCase()];
  const value = Number(found?.[1]);
  return unit === undefined || !Number.isFinite(value) ? null : value * unit;
}

/** The nodes' own figures: which run, what they use. */
export function addNodes(nodes: readonly JsonMap[], tally: ClusterTally): void {
  const running = nodes.filter((node) => textIn(node, 'node_status').toLowerCase() === 'running');
  tally.add('nodes', running.length);
  for (const node of running) {
    tally.highest('load', numberIn(node, 'load1'));
    tally.add('memory_used', bytesIn(node, 'memory_used'), 'bytes');
    tally.add('memory_total', bytesIn(node, 'memory_total'), 'bytes');
    tally.add('processes', numberIn(node, 'process_used'));
  }
}

/**
 * Connections are those that are open (`null`: this version does not tell them apart from clients that
 * left and may come back).
 */
export function addStats(stats: JsonMap, tally: ClusterTally): void {
  tally.add('connections', numberIn(stats, 'live_connections.count'));
  tally.add('sessions', numberIn(stats, 'sessions.count'));
  tally.add('subscriptions', numberIn(stats, 'subscriptions.count'));
  // Of the whole cluster, whichever node is asked.
  tally.highest('topics', numberIn(stats, 'topics.count'));
}

export function addMetrics(metrics: JsonMap, node: string, tally: ClusterTally): void {
  const part = { part: node };
  const bytes = { part: node, unit: 'bytes' } as const;
  tally.count('messages_in', numberIn(metrics, 'messages.received'), part);
  tally.count('messages_out', numberIn(metrics, 'messages.sent'), part);
  // What nobody but a rule takes counts as dropped, too (`messages.dropped`), and is no loss.
  tally.count('messages_dropped', numberIn(metrics, 'delivery.dropped'), part);
  const without = numberIn(metrics, 'messages.dropped.no_subscribers');
  tally.count('messages_without_subscriber', without, part);
  tally.count('bytes_in', numberIn(metrics, 'bytes.received'), bytes);
  tally.count('bytes_out', numberIn(metrics, 'bytes.sent'), bytes);
}
