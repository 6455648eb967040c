import { SquallError } from '../../errors/index.ts';
import { checkProbeThreshold, speaksOfProbe } from '../../probes/check-line.ts';
import {
  checkLedger,
  checkReach,
  checkThreshold,
  type ReadThreshold,
  readThreshold,
  scaleThreshold,
} from '../../thresholds/index.ts';
import type { NormalContext } from '../normal/context.ts';
import type { Plan, ThresholdSpec } from '../plan.ts';
import type { PlanPath } from '../problem.ts';

/** Reads, checks and scales the thresholds: the only place where plan and thresholds meet. */
export function normaliseThresholds(
  entries: readonly unknown[],
  plan: Pick<Plan, 'groups' | 'stages' | 'probes'> & {
    /** Names of probes that are wrong themselves: nothing is said of their figures. */
    readonly wrongProbes: ReadonlySet<string>;
  },
  context: NormalContext,
): ThresholdSpec[] {
  const specs: ThresholdSpec[] = [];
  const ids = new Set<string>();
  for (const [index, entry] of entries.entries()) {
    const path = ['thresholds', index];
    try {
      const read = readThreshold(entry);
      const { spec, parsed } = read;
      if (plan.wrongProbes.has(parsed.metric.split('.')[0] ?? '')) continue;
      const faults = speaksOfProbe(parsed, plan.probes)
        ? checkProbeThreshold(parsed, plan)
        : faultsOf(read, plan, { entry, path, context });
      for (const fault of faults) tell(fault, { entry, path, context });
      if (spec.id !== null && ids.has(spec.id)) {
        context.findings.error([...path, 'id'], `the id ${spec.id} stands twice`);
      }
      ids.add(spec.id ?? '');
      if (faults.length === 0) specs.push(scaled(spec, path, context));
    } catch (error) {
      if (!(error instanceof SquallError)) throw error;
      tell(error, { entry, path, context });
    }
  }
  return specs;
}

type Known = Pick<Plan, 'groups' | 'stages'>;

interface Place {
  readonly entry: unknown;
  readonly path: PlanPath;
  readonly context: NormalContext;
}

/** What is wrong with a threshold on the load; warnings are told. */
function faultsOf(read: ReadThreshold, plan: Known, place: Place): readonly SquallError[] {
  const { parsed } = read;
  const { unsound } = place.context;
  // Where groups are known by name only, tags cannot be compared with what the plan has.
  if (unsound !== null) return checkThreshold({ ...parsed, tags: [] }, plan);
  const faults = checkThreshold(parsed, plan);
  if (faults.length === 0) faults.push(...checkLedger(parsed, plan));
  if (faults.length > 0) return faults;
  const { errors, warnings } = checkReach(read, plan);
  for (const warning of warnings) tell(warning, { ...place, mild: true });
  return errors;
}

function scaled(spec: ThresholdSpec, path: PlanPath, { scaler }: NormalContext): ThresholdSpec {
  if (scaler.factor === 1) return spec;
  const { text, changed } = scaleThreshold(spec.text, scaler.factor);
  if (changed) scaler.text(path, spec.text, text);
  return { ...spec, text };
}

function tell(
  { message, hint, code, column, path: key }: SquallError,
  place: Place & {
    /** A warning only. */
    readonly mild?: boolean;
  },
): void {
  const isLine = typeof place.entry === 'string';
  // The place in the file says it better.
  const text = message.replace(/ \(column \d+\)$/, '');
  const { findings } = place.context;
  const at = key === undefined ? place.path : [...place.path, key];
  const more = { hint, code, column: isLine ? column : undefined };
  if (place.mild === true) findings.warnings.push({ ...more, path: at, message: text });
  else findings.error(at, text, more);
}
