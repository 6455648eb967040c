import { HIGHEST_US, type MetricInfo } from '../metrics/index.ts';
import type { AggregateKind, Term } from './threshold.ts';

/** What can be said of a comparison before anything is measured. */
export type Foregone = 'never' | 'always' | null;

/** The values from `from` to `to`, each border in it or not. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly fromOpen: boolean;
  readonly toOpen: boolean;
}

/**
 * Whether the comparisons of a threshold can never hold, or cannot fail, whatever is measured: by
 * the range that the metric has, and by what one aggregate says of another (a p(50) is never above
 * the p(99) of the same times).
 */
export function foregone(terms: readonly Term[], info: MetricInfo): Foregone {
  if (terms.some((term) => isEmpty(within(term, info)))) return 'never';
  if (terms.some((one) => terms.some((other) => contradicts(one, other, info)))) return 'never';
  return terms.every((term) => holdsThroughout(term, range(term, info))) ? 'always' : null;
}

/** All values that the aggregate can have. */
function range({ aggregate }: Term, info: MetricInfo): Span {
  const from = aggregate === 'delta' ? Number.NEGATIVE_INFINITY : 0;
  const to = info.kind === 'time' ? HIGHEST_US : Number.POSITIVE_INFINITY;
  return { from, to, fromOpen: false, toOpen: false };
}

/** Those of them for which the comparison holds; one that only leaves a value out leaves all others. */
function within(term: Term, info: MetricInfo): Span {
  const all = range(term, info);
  const { value } = term.literal;
  // What is counted is whole: above 5 is from 6 up.
  const whole = term.aggregate === 'count';
  switch (term.op) {
    case '<':
      return cut(all, whole ? { to: Math.ceil(value) - 1 } : { to: value, toOpen: true });
    case '<=':
      return cut(all, { to: whole ? Math.floor(value) : value });
    case '>':
      return cut(all, whole ? { from: Math.floor(value) + 1 } : { from: value, fromOpen: true });
    case '>=':
      return cut(all, { from: whole ? Math.ceil(value) : value });
    case '==':
      return whole && !Number.isInteger(value)
        ? cut(all, { from: 1, to: 0 })
        : cut(all, { from: value, to: value });
    case '!=':
      return all;
  }
}

function cut(all: Span, part: Partial<Span>): Span {
  const { from = all.from, to = all.to, fromOpen = false, toOpen = false } = part;
  return {
    from: Math.max(all.from, from),
    to: Math.min(all.to, to),
    fromOpen: fromOpen && from >= all.from,
    toOpen: toOpen && to <= all.to,
  };
}

function isEmpty({ from, to, fromOpen, toOpen }: Span): boolean {
  return from > to || (from === to && (fromOpen || toOpen));
}

function contradicts(low: Term, high: Term, info: MetricInfo): boolean {
  if (low === high || !isNeverAbove(low, high)) return false;
  if (high.op === '!=' || low.op === '!=') return isSame(low, high) && leavesOut(low, high);
  const { from, fromOpen } = within(low, info);
  const { to, toOpen } = within(high, info);
  return isEmpty({ from, to, fromOpen, toOpen });
}

/** `== 5 and != 5` */
function leavesOut(one: Term, other: Term): boolean {
  return (
    one.literal.value === other.literal.value && [one.op, other.op].toSorted().join(' ') === '!= =='
  );
}

/** Places of aggregates of the same values, from the smallest value to the greatest. */
const PLACES: Readonly<Partial<Record<AggregateKind, number>>> = { min: 0, med: 50, max: 100 };

function isNeverAbove(low: Term, high: Term): boolean {
  if (isSame(low, high) || isSame(high, low)) return true;
  const between: readonly AggregateKind[] = ['avg', 'value'];
  if (low.aggregate === 'min' && between.includes(high.aggregate)) return true;
  if (high.aggregate === 'max' && between.includes(low.aggregate)) return true;
  const [lowPlace, highPlace] = [placeOf(low), placeOf(high)];
  return lowPlace !== undefined && highPlace !== undefined && lowPlace <= highPlace;
}

function isSame(one: Term, other: Term): boolean {
  return one.aggregate === other.aggregate && one.percentile === other.percentile;
}

function placeOf({ aggregate, percentile }: Term): number | undefined {
  return percentile ?? PLACES[aggregate];
}

function holdsThroughout({ op, literal }: Term, { from, to }: Span): boolean {
  const { value } = literal;
  switch (op) {
    case '<':
      return to < value;
    case '<=':
      return to <= value;
    case '>':
      return from > value;
    case '>=':
      return from >= value;
    case '==':
      return from === to && from === value;
    case '!=':
      return value < from || value > to;
  }
}
