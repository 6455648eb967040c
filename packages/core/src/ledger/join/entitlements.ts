import type { LedgerFilter } from '../ledger-plan.ts';
import { GRANTED, INTERRUPTED, QOS_SHIFT } from '../subscriber-book.ts';
import type { PlanNames } from './plan-names.ts';
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
type Hold = typeof ENDED | typeof AGAIN | typeof HELD;

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
  /** A subscription that matches is shared: which client gets a message is the broker's choice. */
  shared: boolean;
  /** Different filters that match: as many copies of a message may come [MQTT-3.3.5-1]. */
  filters: number;
}

/**
 * Puts the subscriptions of one client together, topic by topic. A broker may send a message that
 * several of them match once, or once for each (both are in the field, see
 * `docs/reference/ledger.md`), so entitlements are of clients, not of subscriptions.
 */
export function entitlementsOf(
  client: { readonly group: number; readonly client: number },
  subscriptions: readonly Subscription[],
  plan: { readonly names: PlanNames; readonly topics: PlanTopics },
): Iterable<Entitlement> {
  const byText = mergedByText(client, subscriptions, plan.names);
  const byTopic = new Map<number, Entitlement>();
  for (const [text, { subscription, same }] of byText) {
    for (const topic of plan.topics.matches(text, same)) {
      const known = byTopic.get(topic);
      if (known === undefined) byTopic.set(topic, firstOf(topic, subscription));
      else widen(known, subscription);
    }
  }
  return byTopic.values();
}

/** The same filter subscribed twice is one subscription [MQTT-3.8.4-3], with what is sure of both. */
function mergedByText(
  client: { readonly group: number; readonly client: number },
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
  return {
    topic,
    entry: subscription.filter.entry.index,
    qos: qosOf(subscription),
    sinceUs: subscription.sinceUs,
    hold: holdOf(subscription),
    shared: subscription.filter.shared,
    filters: 1,
  };
}

function widen(known: Entitlement, subscription: Subscription): void {
  const hold = holdOf(subscription);
  known.filters += 1;
  known.qos = Math.max(known.qos, qosOf(subscription));
  known.shared ||= subscription.filter.shared;
  if (hold < known.hold) return;
  known.sinceUs =
    hold > known.hold ? subscription.sinceUs : Math.min(known.sinceUs, subscription.sinceUs);
  known.hold = hold;
}

function qosOf({ state }: Subscription): number {
  return state >>> QOS_SHIFT;
}

function holdOf({ state }: Subscription): Hold {
  if ((state & GRANTED) === 0) return ENDED;
  return (state & INTERRUPTED) === 0 ? HELD : AGAIN;
}
