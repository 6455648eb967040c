import type { SquallError } from '../errors/index.ts';
import type { Plan, ThresholdSpec } from '../plan/plan.ts';
import { checkStages } from '../thresholds/check.ts';
import { thresholdError } from '../thresholds/cursor.ts';
import { parseThreshold } from '../thresholds/parse.ts';
import type { AggregateKind, LiteralKind, ParsedThreshold, Term } from '../thresholds/threshold.ts';
import type { FigureInfo, FigureUnit } from './figures.ts';
import { findFigure, isFigure } from './reference.ts';

type Context = Pick<Plan, 'probes' | 'stages'>;

/** Whether a threshold speaks of a probe of the plan. */
export function isProbeLine(spec: ThresholdSpec, plan: Pick<Plan, 'probes'>): boolean {
  return plan.probes.length > 0 && speaksOfProbe(parseThreshold(spec.text), plan.probes);
}

export function speaksOfProbe({ metric }: ParsedThreshold, probes: Plan['probes']): boolean {
  return findFigure(metric, probes) !== null;
}

const FITTING: Readonly<Record<FigureInfo['kind'], readonly AggregateKind[]>> = {
  counter: ['delta', 'count', 'rate', 'value', 'min', 'max'],
  gauge: ['p', 'avg', 'min', 'max', 'med', 'value', 'delta'],
};

const LITERALS: Readonly<Record<FigureUnit, LiteralKind>> = {
  count: 'count',
  bytes: 'size',
  seconds: 'duration',
  share: 'share',
  per_second: 'rate',
  bytes_per_second: 'byte_rate',
};

const EXAMPLES: Readonly<Record<LiteralKind, string>> = {
  count: 'a count such as 0, 100k or 2M',
  duration: 'a time with its unit, such as 500ms or 2s',
  size: 'a size such as 200B or 100GB',
  rate: 'a rate such as 28k/s',
  byte_rate: 'a size over a time, such as 10MB/s',
  share: 'a share such as 80%',
};

/** Everything that is wrong with a threshold on a figure of a probe, with its column. */
export function checkProbeThreshold(parsed: ParsedThreshold, plan: Context): SquallError[] {
  const found = findFigure(parsed.metric, plan.probes);
  if (found === null) return [];
  if (!isFigure(found)) return [thresholdError(found.message, parsed.columns.metric, found.hint)];
  return [
    ...parsed.tags.map((tag) =>
      thresholdError(
        `${parsed.metric} has no tag "${tag.key}"`,
        tag.column,
        'name stages by "in", as in: in publish',
      ),
    ),
    ...parsed.terms.flatMap((term) => checkTerm(term, parsed.metric, found.info)),
    ...checkStages(parsed, plan),
  ];
}

function checkTerm(term: Term, name: string, { kind, unit }: FigureInfo): SquallError[] {
  if (!FITTING[kind].includes(term.aggregate)) {
    const fitting = FITTING[kind].map((one) => (one === 'p' ? 'p(99)' : one)).join(', ');
    const message = `${term.aggregate} does not fit ${name}, which is a ${kind}`;
    return [thresholdError(message, term.column, `a ${kind} of a probe has ${fitting}`)];
  }
  // Of what only the server knows, any number may be meant.
  if (unit === null) return [];
  const wanted = term.aggregate === 'rate' ? rateOf(unit) : LITERALS[unit];
  if (term.literal.kind === wanted) return [];
  const message = `${term.literal.text}: ${EXAMPLES[wanted]} is expected`;
  return [thresholdError(message, term.literal.column, `write ${EXAMPLES[wanted]}`)];
}

function rateOf(unit: FigureUnit): LiteralKind {
  return unit === 'bytes' ? 'byte_rate' : 'rate';
}
