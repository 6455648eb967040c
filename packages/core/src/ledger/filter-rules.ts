// Data path: asked once for each new pair, not once a message.
import type { LedgerFilter, LedgerPlan } from './ledger-plan.ts';
import { matchesFilter, sharedFilter } from './matches-filter.ts';
import { StreamStages } from './stream-stages.ts';

/** Renders the filters of a client, in the order of `LedgerPlan.filters` of its group. */
export type FiltersOf = (position: number) => readonly string[];

/** Which filters of a group's clients match a topic, and what follows from that. */
export class FilterRules {
  /** Matching filters of the last `match`, by their numbers in the group. */
  readonly matched: number[] = [];
  /** The first stage in which one of them is subscribed; Infinity where the plan never does. */
  firstStage = Number.POSITIVE_INFINITY;
  /** The same, without those that keep a client's own messages from it. */
  firstStageOfOwn = Number.POSITIVE_INFINITY;

  readonly #filters: readonly LedgerFilter[];
  readonly #stages: readonly number[];
  readonly #filtersOf: FiltersOf;
  readonly #isStatic: boolean;
  readonly #firstEntry: number;
  #texts: readonly string[] = [];
  #textsOf = -1;

  constructor(plan: LedgerPlan, group: number, filtersOf: FiltersOf) {
    const stages = new StreamStages(plan);
    this.#filters = plan.filters[group] ?? [];
    this.#stages = Array.from(this.#filters, ({ entry }) => stages.firstOf(entry.index));
    this.#firstEntry = this.#filters[0]?.entry.index ?? 0;
    this.#filtersOf = filtersOf;
    this.#isStatic = this.#filters.every(({ template }) => template.isStatic);
  }

  /** Looks at one subscribe entry of the group alone, or at all of them where it is -1. */
  match(position: number, topic: string, only = -1): void {
    this.matched.length = 0;
    this.firstStage = Number.POSITIVE_INFINITY;
    this.firstStageOfOwn = Number.POSITIVE_INFINITY;
    const texts = this.textsFor(position);
    for (const [filter, { entry }] of this.#filters.entries()) {
      if (only >= 0 && entry.index - this.#firstEntry !== only) continue;
      const text = texts[filter] ?? '';
      if (!matchesFilter(sharedFilter(text) ?? text, topic)) continue;
      this.matched.push(filter);
      const stage = this.#stages[filter] ?? Number.POSITIVE_INFINITY;
      this.firstStage = Math.min(this.firstStage, stage);
      if (!entry.spec.options.noLocal) {
        this.firstStageOfOwn = Math.min(this.firstStageOfOwn, stage);
      }
    }
  }

  /** The filters of a client, rendered; what one subscriber needs comes in crowds. */
  textsFor(position: number): readonly string[] {
    const known = this.#isStatic ? this.#textsOf >= 0 : this.#textsOf === position;
    if (!known) {
      this.#texts = this.#filtersOf(position);
      this.#textsOf = position;
    }
    return this.#texts;
  }
}
