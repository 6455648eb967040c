import type { LedgerFilter } from '../ledger-plan.ts';
import { GRANTED, INTERRUPTED, QOS_SHIFT } from '../subscription-states.ts';
import type { PlanNames } from '../plan-names.ts';
import type { PlanTopics } from './plan-topics.ts';

/** One subscription of one client. */
export interface Subscription {
  readonly filter: LedgerFilter;
  /** Bits as in `SubscriberBook`. */
  readonly state: number;
  readonly sinceUs: number;
}

/**
 * How a subscription was held, the surest last. `ended`: it was over before the run was. `again`: it
 * had ended and began anew at `sinceUs`. `held`: from `sinceUs` to the end.
 */
export const ENDED = 0;
export const AGAIN = 1;
export const HELD = 2;
export type Hold = typeof ENDED | typeof AGAIN | typeof HELD;

/** What a client is entitled to on one topic, all its subscriptions taken together. */
export interface Entitlement {
  topic: number;
  /** Number of the first subscribe entry that matches: the pair is counted under it. */
  entry: number;
  /**
   * The highest QoS granted on a match: a broker that sends one copy must respect it
   * [MQTT-3.3.5-1].
   */
  qos: number;
  sinceUs: number;
  hold: Hold;
  /** Different filters that match: as many copies of a message may come [MQTT-3.3.5-1]. */
  filters: number;
  /** What the client is entitled to of what it published itself: null where that is nothing. */
  own: Entitlement | null;
}

interface Rules {
  readonly names: PlanNames;
  readonly topics: PlanTopics;
}

interface ClientPlace {
  readonly group: number;
  readonly client: number;
}

/**
 * Puts the subscriptions of one client together, topic by topic. A broker may send a message that
 * several of them match once, or once for each (both are in the field, see
 * `docs/reference/ledger.md`), so entitlements are of clients, not of subscriptions.
 */
export function entitlementsOf(
  client: ClientPlace,
  subscriptions: readonly Subscription[],
  plan: Rules,
): Iterable<Entitlement> {
  const byTopic = joinedByTopic(client, subscriptions, plan);
  const hearing = subscriptions.filter(({ filter }) => !filter.entry.spec.options.noLocal);
  if (hearing.length === subscriptions.length) return byTopic.values();
  // Some keep the client's own messages from it [MQTT-3.8.3-3]: those are for the others alone.
  const own = joinedByTopic(client, hearing, plan);
  for (const [topic, entitlement] of byTopic) entitlement.own = own.get(topic) ?? null;
  return byTopic.values();
}

function joinedByTopic(
  client: ClientPlace,
  subscriptions: readonly Subscription[],
  plan: Rules,
): Map<number, Entitlement> {
  const byText = mergedByText(client, subscriptions, plan.names);
  const byTopic = new Map<number, Entitlement>();
  for (const [text, { subscription, same }] of byText) {
    for (const topic of plan.topics.matches(text, same)) {
      const known = byTopic.get(topic);
      if (known === undefined) byTopic.set(topic, firstOf(topic, subscription));
      else widen(known, subscription);
    }
  }
  return byTopic;
}

/** The same filter subscribed twice is one subscription [MQTT-3.8.4-3], with what is sure of both. */
function mergedByText(
  client: ClientPlace,
  subscriptions: readonly Subscription[],
  names: PlanNames,
): Map<string, { subscription: Subscription; same: boolean }> {
  const byText = new Map<string, { subscription: Subscription; same: boolean }>();
  for (const subscription of subscriptions) {
    const { template } = subscription.filter;
    const text = names.render(template, client.group, client.client);
    const known = byText.get(text)?.subscription;
    const merged = known === undefined ? subscription : mergeSame(known, subscription);
    byText.set(text, { subscription: merged, same: template.isStatic });
  }
  return byText;
}

function mergeSame(a: Subscription, b: Subscription): Subscription {
  const qos = Math.min(qosOf(a), qosOf(b));
  const interrupted = a.state & INTERRUPTED & (b.state & INTERRUPTED);
  return {
    filter: a.filter,
    state: (qos << QOS_SHIFT) | interrupted | ((a.state | b.state) & GRANTED),
    sinceUs: Math.min(a.sinceUs, b.sinceUs),
  };
}

function firstOf(topic: number, subscription: Subscription): Entitlement {
  const entitlement: Entitlement = {
    topic,
    entry: subscription.filter.entry.index,
    qos: qosOf(subscription),
    sinceUs: subscription.sinceUs,
    hold: holdOf(subscription),
    filters: 1,
    own: null,
  };
  entitlement.own = entitlement;
  return entitlement;
}

function widen(known: Entitlement, subscription: Subscription): void {
  const hold = holdOf(subscription);
  known.filters += 1;
  known.qos = Math.max(known.qos, qosOf(subscription));
  if (hold < known.hold) return;
  known.sinceUs =
    hold > known.hold ? subscription.sinceUs : Math.min(known.sinceUs, subscription.sinceUs);
  known.hold = hold;
}

export function qosOf({ state }: Subscription): number {
  return state >>> QOS_SHIFT;
}

export function holdOf({ state }: Subscription): Hold {
  if ((state & GRANTED) === 0) return ENDED;
  return (state & INTERRUPTED) === 0 ? HELD : AGAIN;
}
