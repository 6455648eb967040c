import { Argument, type Command } from 'commander';
import type { RunCommandOptions } from './commands/run-options.ts';
import { keyValue, planDuration } from './option-values.ts';
import { agentCount, workerCount } from './shared-options.ts';

/** Options of squall itself beside those of another tool; those of a run mean what they mean there. */
export interface PlanOfToolOptions
  extends Pick<
    RunCommandOptions,
    'agents' | 'workers' | 'out' | 'junit' | 'force' | 'quiet' | 'strict' | 'label'
  > {
  readonly printPlan?: true;
  /** As in a plan's `for`. */
  readonly for?: string;
}

/**
 * Options of squall are long ones that the other tool does not have, so the words of both can stand in
 * any order; whatever commander does not know is that tool's and read later.
 */
export function addPlanOfToolOptions(command: Command, flagsOf: string): Command {
  return command
    .option(
      '--for <duration>',
      'length of the load (default: 24h; Ctrl-C ends it, too)',
      planDuration,
    )
    .option('--agents <n>', 'agents to start here (default: 1)', agentCount)
    .option('--workers <n>', 'worker processes an agent', workerCount)
    .option('--label <key=value>', 'label the run (can be repeated)', keyValue)
    .option('--strict', 'a run of degraded validity is no success (exit code 111)')
    .option('--out <dir>', 'folder for report.html, .json, .md, .csv, .hlog and junit.xml')
    .option('--junit <file>', 'write the JUnit report to this file, too')
    .option('--force', 'with --out: write over a report that is there')
    .option('--quiet', 'print the summary only')
    .addArgument(new Argument('[flags...]', flagsOf))
    .allowUnknownOption()
    .allowExcessArguments();
}
