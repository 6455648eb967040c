import type { Group, SubscribeEntry } from '@squall/core/plan';

/** What the clients of a group subscribe to, in one row: the subscribe entries come first. */
export interface SubscribedEntries {
  readonly entries: readonly SubscribeEntry[];
  /** Of those of the plan's `subscribe`: from here on they are of answers and requests. */
  readonly own: number;
  /** Where the respond entry `k` stands. */
  respond(k: number): number;
  /** Where the response topic of publish stream `k` stands; -1 where it asks for nothing. */
  request(k: number): number;
}

const PLAIN = {
  noLocal: false,
  retainAsPublished: false,
  retainHandling: 0,
  identifier: null,
} as const;

/** Who answers subscribes to the requests, and who asks to its answers. */
export function subscribedEntries({ subscribe, respond, publish }: Group): SubscribedEntries {
  const common = { share: null, options: PLAIN };
  const responders = respond.map(
    ({ name, subject, topics, qos }): SubscribeEntry => ({ name, subject, topics, qos, ...common }),
  );
  const places: number[] = [];
  const requests: SubscribeEntry[] = [];
  const own = subscribe.length;
  for (const { name, subject, request } of publish) {
    places.push(request === null ? -1 : own + responders.length + requests.length);
    if (request === null) continue;
    requests.push({ name, subject, topics: [request.responseTopic], qos: request.qos, ...common });
  }
  return {
    entries: [...subscribe, ...responders, ...requests],
    own,
    respond: (k) => own + k,
    request: (k) => places[k] ?? -1,
  };
}
