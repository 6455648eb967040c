import type { Stage, StageWork } from '@squall/core/plan';

/** Entries that a stage has the group consume by. */
export function consumedIn({ run }: Stage, groupIndex: number): Set<number> {
  const works: readonly StageWork[] = run.filter(({ group }) => group === groupIndex);
  return new Set(
    works.flatMap(({ activities }) =>
      activities.flatMap((activity) => (activity.kind === 'consume' ? [activity.entry] : [])),
    ),
  );
}
