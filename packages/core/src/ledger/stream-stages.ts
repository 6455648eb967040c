import type { LedgerPlan } from './ledger-plan.ts';

/** In which stages a plan runs its streams, and in which it first makes its subscriptions. */
export class StreamStages {
  readonly #stages: number[][];
  readonly #first: number[];

  constructor({ plan, streams, stamped, entries }: LedgerPlan) {
    this.#stages = streams.map(() => []);
    this.#first = entries.map(() => Number.POSITIVE_INFINITY);
    const firstStream = plan.groups.map((_, group) =>
      stamped.findIndex(([part]) => part?.group === group),
    );
    const firstEntry = plan.groups.map((_, group) => entries.findIndex((e) => e.group === group));
    for (const { index, run } of plan.stages) {
      for (const { group, activities } of run) {
        for (const activity of activities) {
          if (activity.kind === 'publish') {
            for (const part of stamped[(firstStream[group] ?? 0) + activity.stream] ?? []) {
              const stages = this.#stages[part.index];
              if (stages?.at(-1) !== index) stages?.push(index);
            }
          } else if (activity.kind === 'subscribe' || activity.kind === 'consume') {
            const entry = (firstEntry[group] ?? 0) + activity.entry;
            this.#first[entry] = Math.min(this.#first[entry] ?? index, index);
          }
        }
      }
    }
  }

  /** Stages that run a stream, rising. */
  of(stream: number): readonly number[] {
    return this.#stages[stream] ?? [];
  }

  /** The first stage that makes an entry's subscriptions. */
  firstOf(entry: number): number {
    return this.#first[entry] ?? Number.POSITIVE_INFINITY;
  }
}
