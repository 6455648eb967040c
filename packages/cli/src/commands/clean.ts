import type { CleanOptions, CleanProgress, GroupCleaned } from '@squall/agent/clean';
import { SquallError } from '@squall/core/errors';
import { NO_MATERIAL, type Plan, requiredSecrets } from '@squall/core/plan';
import type { Report } from '@squall/core/report';
import { formatCount } from '@squall/core/units';
import { EXIT } from '../exit-codes.ts';
import { type LoadedPlan, loadPlan } from '../plan-file.ts';
import type { RemoteOptions } from '../remote/options.ts';
import { reportOf } from '../report-file.ts';
import { cleanedText, isClean } from '../terminal/cleaned-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface CleanCommandOptions extends RemoteOptions {
  /** The plan of the run, for what its report does not hold. */
  readonly plan?: string;
  readonly var?: Readonly<Record<string, string>>;
  readonly dryRun?: true;
  /** A second. */
  readonly rate: number;
  readonly only?: 'retained' | 'sessions' | 'names';
  readonly json?: true;
}

/** A line of progress is told at most this often. */
const PROGRESS_MS = 2_000;
/** Stands in reports for what must not be in them. */
const HIDDEN = '***';

/**
 * `squall clean`: removes what a run left on its brokers. @returns the exit code: 99 where something
 * is left. @throws SquallError SQ_USAGE where the run, or what is needed of its plan, is not there.
 */
export async function cleanCommand(
  run: string,
  options: CleanCommandOptions,
  terminal: Terminal,
): Promise<number> {
  const report = await reportOf(run, options);
  const { material, plan, secrets } = planOf(report, options);
  const shortRun = report.run.id.split('-').at(-1) ?? '';
  const { cleanPlan } = await import('@squall/agent/clean');
  const request: CleanOptions = {
    plan,
    shortRun,
    secrets,
    ...material,
    what: {
      retained: (options.only ?? 'retained') === 'retained',
      sessions: (options.only ?? 'sessions') === 'sessions',
      names: (options.only ?? 'names') === 'names',
    },
    made: madeBy(report),
    dryRun: options.dryRun ?? false,
    ratePerS: options.rate,
    progress: reporter(terminal),
  };
  const groups = await cleanPlan(request);
  print({ run: report.run.id, dryRun: request.dryRun, groups }, options, terminal);
  return isClean(groups) ? EXIT.ok : EXIT.fail;
}

function print(
  cleaned: { readonly run: string; readonly dryRun: boolean; readonly groups: GroupCleaned[] },
  options: CleanCommandOptions,
  terminal: Terminal,
): void {
  if (options.json) terminal.print(`${JSON.stringify(cleaned, null, 2)}\n`);
  else terminal.print(cleanedText(cleaned, terminal.style));
}

/** Topics and groups that the run says it made. */
function madeBy({ groups }: Report): Set<string> {
  const reasons = Object.values(groups).map((group) => group.reasons['made'] ?? {});
  return new Set(reasons.flatMap((made) => Object.keys(made)));
}

/** The plan as the run had it; of a plan file, at the run's scale and with its variables. */
function planOf(
  report: Report,
  options: CleanCommandOptions,
): Pick<LoadedPlan, 'material' | 'plan' | 'secrets'> {
  if (options.plan !== undefined) {
    const { scale, vars } = report.run;
    const known = Object.entries(vars).filter(([, value]) => !value.includes(HIDDEN));
    return loadPlan({
      file: options.plan,
      vars: { ...Object.fromEntries(known), ...options.var },
      scale,
      env: process.env,
    });
  }
  const { plan } = report;
  if (!isPlan(plan)) {
    throw new SquallError('SQ_USAGE', 'the report holds no plan of this version', {
      hint: 'give the plan, too: --plan FILE',
    });
  }
  refuseHidden(plan);
  const names = requiredSecrets(plan);
  const missing = names.find((name) => process.env[name] === undefined);
  if (missing !== undefined) {
    throw new SquallError('SQ_USAGE', `the environment variable ${missing} is not set`, {
      hint: `the plan uses {{env.${missing}}}`,
    });
  }
  const secrets = Object.fromEntries(names.map((name) => [name, process.env[name] ?? '']));
  return { plan, secrets, material: NO_MATERIAL };
}

function refuseHidden(plan: Plan): void {
  const hidden = plan.groups.find(({ password }) => password === HIDDEN);
  const needsFiles = Object.keys(plan.files).length > 0;
  if (hidden === undefined && !needsFiles && !Object.values(plan.vars).includes(HIDDEN)) return;
  const what = needsFiles ? 'files that the plan names are' : 'passwords are';
  throw new SquallError('SQ_USAGE', `${what} not in the report`, {
    hint: 'give the plan of the run, too: --plan FILE',
  });
}

function isPlan(value: unknown): value is Plan {
  return (
    typeof value === 'object' &&
    value !== null &&
    'squall' in value &&
    value.squall === 1 &&
    'groups' in value &&
    Array.isArray(value.groups) &&
    'targets' in value &&
    'files' in value &&
    'vars' in value
  );
}

function reporter(terminal: Terminal): (progress: CleanProgress) => void {
  let toldMs = performance.now();
  return ({ group, what, done, total }) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_MS) return;
    toldMs = nowMs;
    terminal.log(`${group}  ${what}  ${formatCount(done)} of ${formatCount(total)}`);
  };
}
