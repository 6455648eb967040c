import { type AgentShare, split } from '@squall/core/partition';
import type { Plan } from '@squall/core/plan';
import type { SplitSize } from '../option-values.ts';
import { loadPlan } from '../plan-file.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { textTable } from '../terminal/text-table.ts';
import { agentName } from '../processes/local-fleet.ts';

export interface CheckOptions {
  readonly split?: SplitSize;
  readonly print?: true;
  readonly var?: Readonly<Record<string, string>>;
  readonly scale?: number;
}

/**
 * `squall check`: says that a plan is right, or throws with all that is wrong.
 * @throws PlanRefused
 */
export function checkCommand(file: string, options: CheckOptions, terminal: Terminal): void {
  // A plan is often checked where its secrets are not: worth a word, no fault of the plan.
  const loaded = loadPlan({
    file,
    vars: options.var,
    scale: options.scale,
    env: process.env,
    missingEnv: 'warning',
  });
  for (const warning of loaded.warnings) terminal.error(`${warning}\n`);
  if (options.print) terminal.print(`${JSON.stringify(loaded.plan, null, 2)}\n`);
  if (options.split !== undefined) terminal.print(splitText(loaded.plan, options.split));
  if (!options.print) terminal.print(`${terminal.style.green('ok')}  ${loaded.about}\n`);
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
