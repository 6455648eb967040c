import { type AgentShare, split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import { EXIT } from '../exit-codes.ts';
import type { SplitSize } from '../option-values.ts';
import { type LoadedPlan, loadPlan } from '../plan-file.ts';
import { agentName } from '../processes/local-fleet.ts';
import { loadText } from '../terminal/load-text.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { textTable } from '../terminal/text-table.ts';
import { trialExitCode, trialText } from '../terminal/trial-text.ts';

export interface CheckOptions {
  readonly split?: SplitSize;
  readonly print?: true;
  readonly var?: Readonly<Record<string, string>>;
  readonly scale?: number;
  readonly connect?: true;
}

/** Letters and digits of what stands for `{{run}}` in a trial: no run's id. */
const TRIAL_DIGITS = 5;

/**
 * `squall check`: says that a plan is right, or throws with all that is wrong. With `--connect` its
 * brokers are asked, too. @returns the exit code.
 * @throws PlanRefused
 */
export async function checkCommand(
  file: string,
  options: CheckOptions,
  terminal: Terminal,
): Promise<number> {
  // A plan is often checked where its secrets are not: worth a word, no fault of the plan.
  const loaded = loadPlan({
    file,
    vars: options.var,
    scale: options.scale,
    env: process.env,
    missingEnv: options.connect ? 'error' : 'warning',
  });
  for (const warning of loaded.warnings) terminal.error(`${warning}\n`);
  if (options.print) terminal.print(`${JSON.stringify(loaded.plan, null, 2)}\n`);
  if (options.split !== undefined) terminal.print(splitText(loaded.plan, options.split));
  if (!options.print) {
    terminal.print(`${terminal.style.green('ok')}  ${loaded.about}\n`);
    if (options.split === undefined) terminal.print(`${loadText(loaded.plan).join('\n')}\n`);
  }
  return options.connect ? connect(loaded, terminal) : EXIT.ok;
}

/** One client of each group tries what its plan wants of the broker. */
async function connect(
  { plan, secrets, material }: LoadedPlan,
  terminal: Terminal,
): Promise<number> {
  const { tryPlan } = await import('@squall/agent/trial');
  const shortRun = `try${Math.random()
    .toString(36)
    .slice(2, 2 + TRIAL_DIGITS)}`;
  const startedMs = performance.now();
  const trials = await tryPlan({ plan, secrets, ...material, shortRun });
  const tookUs = (performance.now() - startedMs) * 1_000;
  terminal.print(trialText({ trials, tookUs }, terminal.style));
  return trialExitCode(trials);
}

/** Who gets which clients: one line a worker and group, clients counted from 1 as `{{n}}` does. */
function splitText(plan: Plan, size: SplitSize): string {
  const agents = Array.from({ length: size.agents }, (_, index) => ({
    agent: agentName(index, size.agents),
    workers: size.workers,
  }));
  const shares = split(
    plan.groups.map((group) => group.clients),
    agents,
  );
  const rows = shares.flatMap((share) => shareRows(plan, share));
  const lines = textTable([['agent', 'worker', 'group', 'clients', 'first', 'last'], ...rows]);
  const note = 'first and last count clients from 1, as {{n}} does; report.json counts them from 0';
  return `${[...lines, note].join('\n')}\n`;
}

function shareRows(plan: Plan, share: AgentShare): string[][] {
  return share.workers.flatMap((worker, index) =>
    worker.groups.map((range, group) => {
      const name = plan.groups[group]?.name ?? '';
      const ends = range.clients === 0 ? ['–', '–'] : [`${range.first + 1}`, `${range.last + 1}`];
      return [share.agent, `${index + 1}`, name, `${range.clients}`, ...ends];
    }),
  );
}
