import { isMetricName, type RunAggregate } from '../metrics/index.ts';
import type { BalanceEquation, BalanceSide, BalanceSpec } from '../plan/balance-spec.ts';
import type { ProbeBook } from '../probes/probe-book.ts';

/** Where the sides are read. */
export interface BalanceFacts {
  /** Null where the load never began. */
  readonly aggregate: RunAggregate | null;
  readonly probes: ProbeBook;
}

/** How one equation stands. */
export interface BalanceState {
  /** `devices.acked = rows`. */
  readonly equation: string;
  /** By side, as the plan names it; a side that was never read is left out. */
  readonly values: Readonly<Record<string, number>>;
  /**
   * Messages of the first side of which nobody knows whether they arrived: what the others may have
   * more.
   */
  readonly unresolved: number;
  /** Of the side that is farthest from the first: its value less the first one's. */
  readonly difference: number;
  /** The difference over the first side's value; 0 where that is 0. */
  readonly share: number;
  readonly holds: boolean;
  /** Another side has more than it may: counting on can mend that no more. */
  readonly isBeyond: boolean;
  /** Why nothing certain can be said of it; null: it is certain. */
  readonly doubt: string | null;
}

/** Reasons that leave open whether a message arrived. */
const UNKNOWN: ReadonlySet<string> = new Set([
  'no acknowledgement within the time-out',
  'no acknowledgement by the end of the drain',
  'connection lost',
]);

/** Counters of what was acknowledged or sent: only these leave something open. */
const OPEN_METRICS: ReadonlySet<string> = new Set(['acked', 'published', 'sent']);

export function judgeBalance(spec: BalanceSpec, facts: BalanceFacts): BalanceState[] {
  return spec.equations.map((equation) => judgeEquation(equation, spec, facts));
}

/** `devices.acked = rows`, `devices.acked ≥ rows`. */
export function equationText({ kind, sides }: BalanceEquation): string {
  return sides.map((side) => side.text).join(kind === 'equal' ? ' = ' : ' ≥ ');
}

function judgeEquation(
  equation: BalanceEquation,
  spec: BalanceSpec,
  facts: BalanceFacts,
): BalanceState {
  const read = equation.sides.map((side) => ({ side, value: valueOf(side, facts) }));
  const values = Object.fromEntries(
    read.flatMap(({ side, value }) => (value === null ? [] : [[side.text, value] as const])),
  );
  const [first, ...others] = read;
  const left = first?.value ?? null;
  const unresolved = first === undefined ? 0 : openOf(first.side, facts);
  const doubt = doubtOf(equation, read, facts);
  const base = { equation: equationText(equation), values, unresolved, doubt };
  if (left === null) return { ...base, difference: 0, share: 0, holds: false, isBeyond: false };
  const differences = others.flatMap(({ value }) => (value === null ? [] : [value - left]));
  const difference = farthest(differences);
  const complete = differences.length === others.length;
  const holds = complete && differences.every((one) => fits(one, { equation, unresolved, spec }));
  const mayHaveMore = equation.kind === 'equal' && spec.duplicates;
  const isBeyond = !mayHaveMore && differences.some((one) => one > unresolved);
  const share = left === 0 ? 0 : difference / left;
  return { ...base, difference, share, holds: holds && doubt === null, isBeyond };
}

/** `difference`: of another side to the first. */
function fits(
  difference: number,
  rule: {
    readonly equation: BalanceEquation;
    readonly unresolved: number;
    readonly spec: BalanceSpec;
  },
): boolean {
  const { equation, unresolved, spec } = rule;
  // What is not known to have arrived may have.
  if (difference > unresolved) return equation.kind === 'equal' && spec.duplicates;
  return equation.kind === 'atLeast' || difference >= 0;
}

function farthest(differences: readonly number[]): number {
  let worst = 0;
  for (const one of differences) if (Math.abs(one) > Math.abs(worst)) worst = one;
  return worst;
}

/** What a side counted since the run began; null where it was not read. */
function valueOf(side: BalanceSide, { aggregate, probes }: BalanceFacts): number | null {
  if (side.kind === 'counter') {
    if (aggregate === null || !isMetricName(side.metric)) return null;
    return aggregate.counter({ metric: side.metric, subject: side.subject });
  }
  const figure = probes.figure(side.probe, side.figure);
  // One reading says where it stood, and not what it grew by.
  return figure === null || figure.readings < 2 ? null : figure.increase;
}

function openOf(side: BalanceSide, { aggregate }: BalanceFacts): number {
  if (side.kind === 'probe' || aggregate === null || !OPEN_METRICS.has(side.metric)) return 0;
  const { subject } = side;
  let open = aggregate.counter({ metric: 'unfinished', subject, reason: 'in_flight' });
  for (const reason of UNKNOWN) {
    open += aggregate.counter({ metric: 'publish_failed', subject, reason });
  }
  return open;
}

function doubtOf(
  { sides }: BalanceEquation,
  read: readonly { readonly side: BalanceSide; readonly value: number | null }[],
  { probes }: BalanceFacts,
): string | null {
  for (const side of sides) {
    if (side.kind !== 'probe') continue;
    const figure = probes.figure(side.probe, side.figure);
    if (figure === null || figure.decreases === 0) continue;
    return `${side.text} went down during the run: it was restarted or emptied`;
  }
  const missing = read.find(({ value }) => value === null);
  if (missing === undefined) return null;
  const { side } = missing;
  if (side.kind === 'counter') return `${side.text} was never measured`;
  const record = probes.records().get(side.probe);
  const why = record === undefined || record.errors === 0 ? '' : ` (${record.lastError})`;
  return `${side.text} could not be read before and after the load${why}`;
}
