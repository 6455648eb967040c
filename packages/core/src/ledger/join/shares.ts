import type { PageClock } from '../page.ts';
import type { PlanNames } from '../plan-names.ts';
import { AGAIN, HELD, type Hold, holdOf, qosOf, type Subscription } from './entitlements.ts';
import type { PlanTopics } from './plan-topics.ts';
import { surelyAfter } from './moments.ts';

/** One shared subscription with all its members: whatever they are sent goes to one of them. */
export interface Share {
  /** `$share/name/filter`. */
  readonly name: string;
  /** The subscribe entry that its messages are counted under: the first member's. */
  readonly entry: number;
  /** The lowest QoS granted to a member. */
  qos: number;
  hold: Hold;
  /** A member's subscription came to an end within the run. */
  isBroken: boolean;
  /** Since when it has surely been held, by the member that held it first. */
  since: { readonly us: number; readonly clock: PageClock } | null;
  /** Workers of its members. */
  readonly sources: Set<number>;
  /** Topics on which its messages cannot be told from those of other subscriptions of a member. */
  readonly open: Set<number>;
}

/** A member of a share, as its client was looked at. */
export interface ShareMember {
  readonly group: number;
  readonly client: number;
  readonly source: number;
  readonly clock: PageClock | null;
}

/** The shared subscriptions of a run, gathered from their members one by one. */
export class Shares {
  readonly #names: PlanNames;
  readonly #topics: PlanTopics;
  readonly #byName = new Map<string, Share>();
  /** What is open for all clients of a group with the same filters. */
  readonly #openOfGroup = new Map<number, ReadonlySet<number>>();

  constructor(names: PlanNames, topics: PlanTopics) {
    this.#names = names;
    this.#topics = topics;
  }

  get all(): Iterable<Share> {
    return this.#byName.values();
  }

  /**
   * Adds a client with all that it holds. Gives the topics on which nobody can tell its shared
   * subscriptions from its others.
   */
  join(member: ShareMember, held: readonly Subscription[]): ReadonlySet<number> {
    const open = this.#openFor(member);
    for (const filter of this.#names.plan.filters[member.group] ?? []) {
      if (!filter.shared) continue;
      const name = this.#names.render(filter.template, member.group, member.client);
      const share = this.#byName.get(name) ?? makeShare(name, filter.entry.index);
      this.#byName.set(name, share);
      share.sources.add(member.source);
      for (const topic of open) share.open.add(topic);
      const own = held.find((subscription) => subscription.filter === filter);
      if (own !== undefined) widen(share, own, member);
    }
    return open;
  }

  /** As workers see it: two filters of the plan match a topic, one of them a shared one. */
  #openFor({ group, client }: ShareMember): ReadonlySet<number> {
    const known = this.#openOfGroup.get(group);
    if (known !== undefined) return known;
    const filters = this.#names.plan.filters[group] ?? [];
    const open = new Set<number>();
    // Where messages say which entry they are for, nothing is open.
    if (filters.length > 1 && this.#names.plan.identified[group] !== true) {
      const matching = new Map<number, { filters: number; shared: boolean }>();
      for (const { template, shared } of filters) {
        const text = this.#names.render(template, group, client);
        for (const topic of this.#topics.matches(text, template.isStatic)) {
          const before = matching.get(topic) ?? { filters: 0, shared: false };
          matching.set(topic, {
            filters: before.filters + 1,
            shared: before.shared || shared,
          });
        }
      }
      for (const [topic, each] of matching) if (each.shared && each.filters > 1) open.add(topic);
    }
    if (filters.every(({ template }) => template.isStatic)) this.#openOfGroup.set(group, open);
    return open;
  }
}

function makeShare(name: string, entry: number): Share {
  return {
    name,
    entry,
    qos: 2,
    hold: AGAIN,
    isBroken: false,
    since: null,
    sources: new Set(),
    open: new Set(),
  };
}

function widen(share: Share, subscription: Subscription, { clock }: ShareMember): void {
  share.qos = Math.min(share.qos, qosOf(subscription));
  if (holdOf(subscription) !== HELD) share.isBroken = true;
  if (holdOf(subscription) !== HELD || clock === null) return;
  const since = { us: subscription.sinceUs, clock };
  const before = share.since;
  if (before === null || surelyAfter(since, before)) share.since = since;
  share.hold = HELD;
}
