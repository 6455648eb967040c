import type { Command } from 'commander';
import type { DoctorOptions } from './commands/doctor.ts';
import { keyValue, scaleFactor } from './option-values.ts';
import { agentCount, workerCount } from './shared-options.ts';

/** What is asked of the host itself. */
export interface HostActions {
  doctor(plan: string | undefined, options: DoctorOptions): Promise<void>;
}

export function addDoctor(program: Command, actions: HostActions): void {
  program
    .command('doctor')
    .argument(
      '[plan]',
      'the plan that is to be carried; without one: is this a host for much load?',
    )
    .description(
      'Examine this host: what it has, what the plan needs, and the command that mends what is too little.',
    )
    .option(
      '--agents <n>',
      'agents that share the plan (default: what the plan asks for, else 1)',
      agentCount,
    )
    .option('--agents-here <n>', 'how many of them run on this host (default: 1)', agentCount)
    .option('--workers <n>', 'worker processes of each (default: cores / agents here)', workerCount)
    .option('--var <key=value>', 'set a variable of the plan (can be repeated)', keyValue)
    .option('--scale <factor>', 'as in run: the plan at this scale', scaleFactor)
    .option('--fix', 'print the script that sets what is set (check, apply, undo)')
    .option('--apply', 'with --fix: run it (root), and tell what could not be set')
    .option('--json', 'as JSON')
    .addHelpText('after', DOCTOR_EXAMPLES)
    .action((plan: string | undefined, options: DoctorOptions) => actions.doctor(plan, options));
}

const DOCTOR_EXAMPLES = `
Examples:
  squall doctor                                       is this a host for much load?
  squall doctor plan.yaml --agents 5                  can this host carry one of five shares?
  squall doctor plan.yaml --agents 5 --agents-here 5  all five on this host, as "squall run --agents 5"
  squall doctor --fix > squall-tune.sh                the script: read it, then
  sudo sh squall-tune.sh apply                        what is better already is left alone
  sudo sh squall-tune.sh undo                         puts back what apply found
  sudo squall doctor --fix --apply                    the same in one step

Exit codes: 0 fit (warnings, too) · 113 an agent here would refuse its share, or a setting was refused
  104 the plan is wrong · 2 usage, or not root
`;
