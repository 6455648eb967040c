import { Permission, type TopicRoute } from '../codec/route-data.ts';

/** One queue of a topic on one broker's master. */
export interface TopicQueue {
  readonly topic: string;
  readonly brokerName: string;
  readonly queueId: number;
  /** `host:port` of the broker's master. */
  readonly address: string;
}

/** The master's id in a route; others are slaves, which take no writes. */
const MASTER = 0;

/**
 * Queues that may be written to, in the order in which official clients walk them: by broker, then by
 * number. Brokers do not enforce the write bit; this does.
 */
export function writableQueues(topic: string, route: TopicRoute): TopicQueue[] {
  const ordered = orderedQueues(topic, route);
  return ordered ?? queuesWith(topic, route, 'write');
}

/** Queues that may be read, in that order. */
export function readableQueues(topic: string, route: TopicRoute): TopicQueue[] {
  return queuesWith(topic, route, 'read');
}

/** Addresses of the masters of a route. */
export function mastersOf(route: TopicRoute): Map<string, string> {
  const masters = new Map<string, string>();
  for (const { brokerName, addresses } of route.brokers) {
    const master = addresses.get(MASTER);
    if (master !== undefined) masters.set(brokerName, master);
  }
  return masters;
}

function queuesWith(topic: string, route: TopicRoute, use: 'read' | 'write'): TopicQueue[] {
  const masters = mastersOf(route);
  const data = route.queues
    .filter((each) => (each.permissions & Permission[use]) !== 0)
    .toSorted((a, b) => compareText(a.brokerName, b.brokerName));
  return data.flatMap((each) => {
    const address = masters.get(each.brokerName);
    const count = use === 'read' ? each.readQueues : each.writeQueues;
    return address === undefined
      ? []
      : queuesOf({ topic, brokerName: each.brokerName, address, count });
  });
}

/** `broker-a:4;broker-b:4` replaces the write list where somebody fixed it. */
function orderedQueues(topic: string, route: TopicRoute): TopicQueue[] | null {
  if (route.orderConfig === '') return null;
  const masters = mastersOf(route);
  return route.orderConfig.split(';').flatMap((entry) => {
    const at = entry.lastIndexOf(':');
    const brokerName = entry.slice(0, at);
    const address = masters.get(brokerName);
    const count = Number(entry.slice(at + 1));
    if (address === undefined || !Number.isSafeInteger(count)) return [];
    return queuesOf({ topic, brokerName, address, count });
  });
}

function queuesOf(of: {
  topic: string;
  brokerName: string;
  address: string;
  count: number;
}): TopicQueue[] {
  const { topic, brokerName, address, count } = of;
  return Array.from({ length: count }, (_, queueId) => ({ topic, brokerName, queueId, address }));
}

/** Java's order of strings. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
