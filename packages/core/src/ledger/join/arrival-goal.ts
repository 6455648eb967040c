import { mayMatch } from '../../thresholds/topic-overlap.ts';
import { streamTopics } from '../../schedule/index.ts';
import { at } from '../element.ts';
import type { LedgerFilter, LedgerPlan } from '../ledger-plan.ts';
import { matchesFilter } from '../matches-filter.ts';
import { type EdgeBody, FIRST_FIELDS, HELD_FIELDS } from '../page.ts';
import type { PlanNames } from '../plan-names.ts';
import { StreamStages } from '../stream-stages.ts';
import { type ClockedMoment, surelyAfter } from './moments.ts';
import type { PlanTopics } from './plan-topics.ts';
import type { PublisherStore } from './publisher-store.ts';
import type { Sources } from './sources.ts';

export interface GoalScene {
  readonly names: PlanNames;
  readonly topics: PlanTopics;
  readonly sources: Sources;
  readonly publishers: PublisherStore;
  /** By source. */
  readonly edges: ReadonlyMap<number, EdgeBody>;
}

/** Clients looked at between two breaths. */
const CLIENTS_A_STEP = 2_000;

/**
 * How many first arrivals workers will have counted when everything has arrived that was sent to
 * somebody entitled to it; null where nobody can know before the ledgers are joined.
 *
 * A worker counts an arrival if it is the first one of its message at a subscriber with a matching
 * filter, in a stage that is not before the filter's first. Those are as many as this at most, and
 * different messages each, so that this many are all of them: no duplicate can stand for one that is
 * still on its way. Where more or fewer might be entitled than the plan says (a subscription that was
 * refused, began late or ended early), or arrivals are counted otherwise (shares, no stamp), it is null.
 */
export function* arrivalGoal(scene: GoalScene): Generator<void, number | null> {
  const { names, edges, sources } = scene;
  const stages = new StreamStages(names.plan);
  if (edges.size !== sources.list.length) return null;
  if (!isCountable(names.plan, stages)) return null;
  if (!areHeld(scene, stages) || !areInTime(scene, stages)) return null;
  const audience = new Audience(scene, stages);
  yield* audience.gather();
  return audience.goal();
}

/** Nothing that may arrive is counted in another way, or not at all. */
function isCountable(plan: LedgerPlan, stages: StreamStages): boolean {
  const filters = plan.filters.flat().filter(({ entry }) => isWanted(stages, entry.index));
  if (filters.some(({ shared }) => shared)) return false;
  const deaf = plan.filters.map((own) => own.some(({ entry }) => entry.spec.options.noLocal));
  if (plan.identified.some((identified, group) => identified && deaf[group] === true)) return false;
  // Answers carry no stamp, and their topics come from requests.
  const responds = plan.plan.stages.some(({ run }) =>
    run.some(({ activities }) => activities.some(({ kind }) => kind === 'respond')),
  );
  if (responds && filters.length > 0) return false;
  const outside = plan.streams.filter(
    ({ outside: why, index }) => why !== null && stages.of(index).length > 0,
  );
  const topics = outside.flatMap(({ spec }) => streamTopics(spec));
  return !topics.some((topic) => filters.some(({ template }) => mayMatch(topic, template.text)));
}

/** Every client holds every filter that the plan gives it, and has held it without a break. */
function areHeld({ names: { plan }, edges }: GoalScene, stages: StreamStages): boolean {
  return plan.filters.every((filters, group) =>
    filters.every(({ entry }, filter) => {
      let clients = 0;
      for (const { held } of edges.values()) clients += heldIn(held, group, filter).clients;
      const all = plan.plan.groups[group]?.clients ?? 0;
      return clients === (isWanted(stages, entry.index) ? all : 0);
    }),
  );
}

/** Every filter was held before the first message of any stream that it may match. */
function areInTime({ names: { plan }, edges, sources }: GoalScene, stages: StreamStages): boolean {
  const firsts = [...edges].flatMap(([source, { firsts: rows }]) => firstsIn(rows, source));
  return plan.filters.every((filters, group) =>
    filters.every(({ entry, template }, filter) => {
      const after = firsts.filter(({ stream, stage }) => {
        const spec = plan.stamped[stream]?.[0]?.spec;
        if (spec === undefined || stage < stages.firstOf(entry.index)) return false;
        return streamTopics(spec).some((topic) => mayMatch(topic, template.text));
      });
      return [...edges].every(([source, { held }]) => {
        const { clients, lastUs } = heldIn(held, group, filter);
        if (clients === 0) return true;
        const granted = momentIn(sources, source, lastUs);
        return after.every((first) => {
          const sent = momentIn(sources, first.source, first.us);
          return granted !== null && sent !== null && surelyAfter(granted, sent);
        });
      });
    }),
  );
}

function isWanted(stages: StreamStages, entry: number): boolean {
  return Number.isFinite(stages.firstOf(entry));
}

function heldIn(
  held: readonly number[],
  group: number,
  filter: number,
): { clients: number; lastUs: number } {
  for (let place = 0; place < held.length; place += HELD_FIELDS) {
    if (at(held, place) !== group || at(held, place + 1) !== filter) continue;
    return { clients: at(held, place + 2), lastUs: at(held, place + 3) };
  }
  return { clients: 0, lastUs: 0 };
}

function firstsIn(firsts: readonly number[], source: number) {
  const found: { source: number; stream: number; stage: number; us: number }[] = [];
  for (let place = 0; place < firsts.length; place += FIRST_FIELDS) {
    const [stream, stage, us] = [at(firsts, place), at(firsts, place + 1), at(firsts, place + 2)];
    found.push({ source, stream, stage, us });
  }
  return found;
}

function momentIn(sources: Sources, source: number, us: number): ClockedMoment | null {
  const clock = sources.list[source]?.clock;
  return clock === null || clock === undefined ? null : { us, clock };
}

/** How many clients hear each topic, by the first stage in which they do. */
class Audience {
  readonly #scene: GoalScene;
  readonly #stages: StreamStages;
  /** By first stage: clients, by topic. */
  readonly #heard = new Map<number, Float64Array>();
  /** Messages of clients that do not hear themselves. */
  #unheard = 0;

  constructor(scene: GoalScene, stages: StreamStages) {
    this.#scene = scene;
    this.#stages = stages;
  }

  /** Looks at every subscribing client; one for all where their filters are the same. */
  *gather(): Generator<void, void> {
    const { plan } = this.#scene.names;
    let looked = 0;
    for (const [group, filters] of plan.filters.entries()) {
      const clients = plan.plan.groups[group]?.clients ?? 0;
      const isStatic = filters.every(({ template }) => template.isStatic);
      const deaf = filters.some(({ entry }) => entry.spec.options.noLocal);
      if (filters.length === 0) continue;
      if (isStatic) this.#hears(group, 0, clients);
      for (let client = 0; client < clients; client++) {
        if (!isStatic) this.#hears(group, client, 1);
        if (deaf) this.#doesNotHearItself(group, client);
        if (isStatic && !deaf) break;
        looked += 1;
        if (looked % CLIENTS_A_STEP === 0) yield;
      }
    }
  }

  /** All first arrivals, over topics, their publishers, and stages. */
  goal(): number {
    const { topics, publishers } = this.#scene;
    let goal = -this.#unheard;
    for (let topic = 0; topic < topics.size; topic++) {
      for (let place = topics.from(topic); place < topics.to(topic); place++) {
        const stream = topics.streamAt(place);
        for (const stage of this.#stages.of(stream)) {
          const handed = publishers.column(stream, stage)?.handed;
          const sent = at(handed ?? [], topics.clientAt(place));
          if (sent > 0) goal += sent * this.#heardAt(topic, stage);
        }
      }
    }
    return goal;
  }

  #heardAt(topic: number, stage: number): number {
    let clients = 0;
    for (const [first, heard] of this.#heard) if (first <= stage) clients += at(heard, topic);
    return clients;
  }

  #hears(group: number, client: number, clients: number): void {
    const { plan } = this.#scene.names;
    const filters = plan.filters[group] ?? [];
    if (plan.identified[group] !== true) {
      this.#hearsBy(filters, { group, client, clients });
      return;
    }
    // Each entry is a receiver of its own.
    for (const entry of new Set(filters.map((filter) => filter.entry))) {
      const own = filters.filter((filter) => filter.entry === entry);
      this.#hearsBy(own, { group, client, clients });
    }
  }

  #hearsBy(
    filters: readonly LedgerFilter[],
    {
      group,
      client,
      clients,
    }: { readonly group: number; readonly client: number; readonly clients: number },
  ): void {
    const { names, topics } = this.#scene;
    const firsts = new Map<number, number>();
    for (const { entry, template } of filters) {
      const first = this.#stages.firstOf(entry.index);
      if (!Number.isFinite(first)) continue;
      for (const topic of topics.matches(
        names.render(template, group, client),
        template.isStatic,
      )) {
        firsts.set(topic, Math.min(first, firsts.get(topic) ?? first));
      }
    }
    for (const [topic, first] of firsts) {
      let heard = this.#heard.get(first);
      if (heard === undefined) {
        heard = new Float64Array(topics.size);
        this.#heard.set(first, heard);
      }
      heard[topic] = at(heard, topic) + clients;
    }
  }

  /** Takes back a client's own messages, where only filters with `noLocal` match them. */
  #doesNotHearItself(group: number, client: number): void {
    const { names, publishers } = this.#scene;
    const { plan } = names;
    for (const { index, topic, outside, group: sender } of plan.streams) {
      if (sender !== group || outside !== null) continue;
      const text = names.render(topic, group, client);
      let first = Number.POSITIVE_INFINITY;
      let firstOfOwn = Number.POSITIVE_INFINITY;
      for (const { entry, template } of plan.filters[group] ?? []) {
        if (!matchesFilter(names.render(template, group, client), text)) continue;
        const stage = this.#stages.firstOf(entry.index);
        first = Math.min(first, stage);
        if (!entry.spec.options.noLocal) firstOfOwn = Math.min(firstOfOwn, stage);
      }
      for (const stage of this.#stages.of(index)) {
        if (stage < first || stage >= firstOfOwn) continue;
        this.#unheard += at(publishers.column(index, stage)?.handed ?? [], client);
      }
    }
  }
}
