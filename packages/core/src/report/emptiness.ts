import type { Plan } from '../plan/plan.ts';
import { stageNeeds } from '../schedule/index.ts';
import type { StageRecord } from './input.ts';
import type { Figures, GroupFigures } from './model.ts';

/**
 * Work that the plan had and of which nothing at all succeeded. A plan may have no threshold that
 * notices, and a run in which nobody ever connected must not read as a success.
 */
export function emptinessOf(
  plan: Plan,
  stages: readonly StageRecord[],
  groups: Readonly<Record<string, GroupFigures>>,
): string[] {
  const needs = stageNeeds(plan);
  const entered = stages.map((stage) => stage.index);
  return plan.groups.flatMap((group, index) => {
    const figures = groups[group.name];
    if (figures === undefined) return [];
    const connects = entered.some((stage) => {
      const own = needs[stage];
      return own?.connects.has(index) === true || own?.reconnects.has(index) === true;
    });
    if (connects && figures.counters['connected'] === 0) {
      const why = mainReason(figures, 'connect_failed');
      return [`nothing was tested with ${group.name}: none of its clients could connect${why}`];
    }
    return [
      ...group.publish.flatMap(({ name, subject }) => {
        const own = name === null ? figures : figures.streams[name];
        const due = Math.max(own?.counters['scheduled'] ?? 0, own?.counters['planned'] ?? 0);
        if (own === undefined || due === 0 || own.counters['published'] !== 0) return [];
        const why = mainReason(own, 'publish_failed') || mainReason(own, 'dropped');
        return [`nothing was tested with ${subject}: none of its messages was published${why}`];
      }),
      ...subscribeEmptiness(group.subscribe.length > 0 ? figures : undefined, group.name),
    ];
  });
}

function subscribeEmptiness(figures: Figures | undefined, group: string): string[] {
  if (figures === undefined || figures.counters['subscribed'] !== 0) return [];
  if (figures.counters['subscribe_failed'] === 0) return [];
  const why = mainReason(figures, 'subscribe_failed');
  return [`nothing was tested with ${group}: none of its subscriptions was granted${why}`];
}

function mainReason({ reasons }: Figures, metric: string): string {
  const [first] = Object.entries(reasons[metric] ?? {}).toSorted(([, a], [, b]) => b - a);
  return first === undefined ? '' : ` (${first[0]})`;
}
