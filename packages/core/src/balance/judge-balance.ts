import type { BalanceEquation, BalanceSide, BalanceSpec } from '../plan/balance-spec.ts';
import type { ProbeBook } from '../probes/probe-book.ts';
import { heldIn } from './queues.ts';
import { type BalanceFacts, type ReadSide, readSide } from './read-side.ts';

export interface JudgeOptions {
  /** On the run's timeline; readings from before it say nothing about the end. Null: it goes on. */
  readonly loadEndUs?: number | null;
}

/** How one equation stands. */
export interface BalanceState {
  /** `devices.acked = rows`. */
  readonly equation: string;
  /** By side, as the plan names it; a side that was never read is left out. */
  readonly values: Readonly<Record<string, number>>;
  /** Messages of which nobody knows whether they arrived: what those who received may have more. */
  readonly unresolved: number;
  /**
   * Of the side that breaks the equation most, or else is farthest from the first: its value less the
   * first one's.
   */
  readonly difference: number;
  /** The difference over the first side's value; 0 where that is 0. */
  readonly share: number;
  readonly holds: boolean;
  /** Another side has more than it may, or one went down: counting on can mend that no more. */
  readonly isBeyond: boolean;
  /** What queues of probes held when they were read last, by figure; empty ones are left out. */
  readonly queued: Readonly<Record<string, number>>;
  /** Why nothing certain can be said of it; null: it is certain. */
  readonly doubt: string | null;
}

export function judgeBalance(
  spec: BalanceSpec,
  facts: BalanceFacts,
  options: JudgeOptions = {},
): BalanceState[] {
  return spec.equations.map((equation) => judgeEquation(equation, { spec, facts, options }));
}

/** `devices.acked = rows`, `devices.acked ≥ rows`. */
export function equationText({ kind, sides }: BalanceEquation): string {
  return sides.map((side) => side.text).join(kind === 'equal' ? ' = ' : ' ≥ ');
}

interface Scene {
  readonly spec: BalanceSpec;
  readonly facts: BalanceFacts;
  readonly options: JudgeOptions;
}

function judgeEquation(equation: BalanceEquation, scene: Scene): BalanceState {
  const read = equation.sides.map((side) => readSide(side, scene.facts));
  const values = Object.fromEntries(
    read.flatMap(({ side, value }) => (value === null ? [] : [[side.text, value] as const])),
  );
  const [first, ...others] = read;
  const unresolved = Math.max(0, ...read.map(({ below, above }) => below + above));
  const doubt = doubtOf(equation, read, scene);
  const queued = heldIn(scene.facts.queues ?? [], scene.facts.probes);
  const base = { equation: equationText(equation), values, unresolved, doubt, queued };
  const left = first?.value ?? null;
  if (first === undefined || left === null) {
    return { ...base, difference: 0, share: 0, holds: false, isBeyond: false };
  }
  const gaps = others.flatMap((other) => {
    if (other.value === null) return [];
    return [gapOf(other.value - left, { equation, spec: scene.spec, first, other })];
  });
  const { difference } = worstOf(gaps);
  const holds = doubt === null && gaps.every(({ tooMany, tooFew }) => tooMany + tooFew === 0);
  const isBeyond = hasFallen(equation, scene.facts) || gaps.some(({ tooMany }) => tooMany > 0);
  const share = left === 0 ? 0 : difference / left;
  return { ...base, difference, share, holds, isBeyond };
}

interface Gap {
  readonly difference: number;
  /** What another side has beyond, or short of, what it may have. */
  readonly tooMany: number;
  readonly tooFew: number;
}

interface Pair {
  readonly equation: BalanceEquation;
  readonly spec: BalanceSpec;
  readonly first: ReadSide;
  readonly other: ReadSide;
}

/** `difference`: of the other side to the first. What is not known to have arrived may have. */
function gapOf(difference: number, { equation, spec, first, other }: Pair): Gap {
  const mayBeMore = equation.kind === 'equal' && spec.duplicates;
  const mayBeLess = equation.kind === 'atLeast';
  return {
    difference,
    tooMany: mayBeMore ? 0 : Math.max(0, difference - first.above - other.below),
    tooFew: mayBeLess ? 0 : Math.max(0, -difference - first.below - other.above),
  };
}

function worstOf(gaps: readonly Gap[]): Gap {
  let worst: Gap = { difference: 0, tooMany: 0, tooFew: 0 };
  for (const gap of gaps) {
    const more = gap.tooMany + gap.tooFew - worst.tooMany - worst.tooFew;
    const isFarther = Math.abs(gap.difference) > Math.abs(worst.difference);
    if (more > 0 || (more === 0 && isFarther)) worst = gap;
  }
  return worst;
}

function figuresOfSides({ sides }: BalanceEquation, { probes }: BalanceFacts) {
  return sides.flatMap((side) => {
    const figure = side.kind === 'probe' ? probes.figure(side.probe, side.figure) : null;
    return figure === null ? [] : [{ side, figure }];
  });
}

function hasFallen(equation: BalanceEquation, facts: BalanceFacts): boolean {
  return figuresOfSides(equation, facts).some(({ figure }) => figure.decreases > 0);
}

function doubtOf(
  equation: BalanceEquation,
  read: readonly ReadSide[],
  { facts, options: { loadEndUs = null } }: Scene,
): string | null {
  const { probes } = facts;
  const figures = figuresOfSides(equation, facts);
  const fallen = figures.find(({ figure }) => figure.decreases > 0);
  if (fallen !== undefined) {
    return `${fallen.side.text} went down during the run: it was restarted or emptied`;
  }
  const missing = read.find(({ value }) => value === null);
  if (missing !== undefined) {
    const { side } = missing;
    if (side.kind === 'counter') return `${side.text} was never measured`;
    return `${side.text} could not be read before and after the load${lastErrorOf(side, probes)}`;
  }
  const stale = figures.find(({ figure }) => loadEndUs !== null && figure.lastUs < loadEndUs);
  if (stale === undefined) return null;
  const { side } = stale;
  return `${side.text} could not be read after the load${lastErrorOf(side, probes)}`;
}

function lastErrorOf(side: BalanceSide, probes: ProbeBook): string {
  const record = side.kind === 'probe' ? probes.records().get(side.probe) : undefined;
  return record === undefined || record.errors === 0 ? '' : ` (${record.lastError})`;
}
