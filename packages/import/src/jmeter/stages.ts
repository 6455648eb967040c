import { type DraftMap, type DraftValue, planName } from '../plan/draft.ts';
import type { ImportedGroup } from './group.ts';

/** Groups that run side by side, and what their stages are called by. */
export interface Phase {
  readonly name: string;
  readonly groups: readonly ImportedGroup[];
}

/** All connect, all subscribe, then the load, in as many stages as groups come and go. */
export function stagesOf(phases: readonly Phase[]): DraftValue[] {
  const taken = new Set<string>();
  return phases.flatMap((phase) => {
    const named = (name: string) => {
      const free = planName(phase.name === '' ? name : `${phase.name}-${name}`, 'stage', taken);
      taken.add(free);
      return free;
    };
    const connecting = phase.groups.filter(({ churn }) => churn === null);
    const subscribing = phase.groups.filter(({ subscribes }) => subscribes);
    return [
      ...(connecting.length === 0
        ? []
        : [{ name: named('connect'), run: runOf(connecting, 'connect') }]),
      ...(subscribing.length === 0
        ? []
        : [{ name: named('subscribe'), run: runOf(subscribing, 'subscribe') }]),
      ...loadStages(phase.groups, named),
    ];
  });
}

function runOf(groups: readonly ImportedGroup[], word: string): DraftMap {
  return Object.fromEntries(groups.map(({ name }) => [name, word]));
}

function loadStages(
  groups: readonly ImportedGroup[],
  named: (name: string) => string,
): DraftValue[] {
  const timed = groups.filter(({ lengthS }) => lengthS !== null);
  let counted = groups.filter(({ lengthS }) => lengthS === null);
  const stages: DraftValue[] = [];
  const edges = [
    ...new Set(timed.flatMap(({ startS, lengthS }) => [startS, startS + (lengthS ?? 0)])),
  ].toSorted((a, b) => a - b);
  const [text] = timed.map(({ lengthText }) => lengthText);
  const same = timed.every(({ lengthText }) => lengthText === text) && edges.length === 2;
  for (let index = 0; index + 1 < edges.length; index++) {
    const [from = 0, to = 0] = edges.slice(index, index + 2);
    const active = timed.filter(
      ({ startS, lengthS }) => startS <= from && startS + (lengthS ?? 0) >= to,
    );
    if (active.length === 0) continue;
    const beside = counted.filter(({ countedS }) => countedS > 0 && countedS <= to - from);
    counted = counted.filter((group) => !beside.includes(group));
    const length = same && typeof text === 'string' ? text : `${to - from}s`;
    stages.push({ name: named('load'), run: loadOf([...active, ...beside]), for: length });
  }
  // What counts to its end has a stage of its own behind those that have a length.
  if (counted.length > 0) stages.push({ name: named('load'), run: loadOf(counted) });
  return stages;
}

function loadOf(groups: readonly ImportedGroup[]): DraftMap {
  return Object.fromEntries(groups.map((group) => [group.name, activity(group)]));
}

function activity({ churn, streams }: ImportedGroup): DraftValue {
  if (churn !== null) return { churn };
  return streams.length > 0 ? 'publish' : 'idle';
}
