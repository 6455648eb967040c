import { type Command, Option } from 'commander';
import type {
  AgentsOptions,
  ReportOptions,
  RunsOptions,
  StatusOptions,
  StopOptions,
} from './commands/remote.ts';
import { durationUs, keyValue, wholeNumber } from './option-values.ts';
import { apiOption, tokenOption } from './shared-options.ts';

/** Runs that are listed at once, at most. */
const MAX_RUNS = 500;

/** What is asked of a controller that serves runs. */
export interface RemoteActions {
  runs(options: RunsOptions): Promise<void>;
  status(run: string, options: StatusOptions): Promise<void>;
  stop(run: string, options: StopOptions): Promise<void>;
  report(run: string, options: ReportOptions): Promise<void>;
  agents(options: AgentsOptions): Promise<void>;
}

/** The commands that only talk to a controller. */
export function addRemoteCommands(program: Command, actions: RemoteActions): void {
  remote(program.command('runs'))
    .description('List the runs of a controller, the newest first.')
    .option('--label <key=value>', 'with this label (can be repeated: all of them)', keyValue)
    .addOption(new Option('--state <state>', 'only these').choices(['active', 'done']))
    .option('--limit <n>', 'how many', wholeNumber(1, MAX_RUNS), 20)
    .option('--json', 'as JSON')
    .action((options: RunsOptions) => actions.runs(options));
  remote(program.command('status'))
    .argument('<run>', 'id of the run')
    .description('Show a run: where it is, how its thresholds stand, what its agents do.')
    .option('--wait', 'watch it to its end, fetch its report, end with its exit code')
    .option(
      '--timeout <duration>',
      'with --wait: leave after this time (exit code 114)',
      durationUs,
    )
    .option('--out <dir>', 'with --wait: folder for report.json and junit.xml')
    .option('--junit <file>', 'with --wait: write the JUnit report to this file, too')
    .option('--force', 'with --out: write over a report that is there')
    .option('--quiet', 'with --wait: print the summary only')
    .option('--json', 'as JSON')
    .action((run: string, options: StatusOptions) => actions.status(run, options));
  remote(program.command('stop'))
    .argument('<run>', 'id of the run')
    .description(
      'End a run early; what is under way is awaited, and it is judged as far as it went.',
    )
    .option('--hard', 'cut connections and wait for nothing')
    .action((run: string, options: StopOptions) => actions.stop(run, options));
  remote(program.command('report'))
    .argument('<run>', 'id of the run')
    .description('Print the report of a run that is over.')
    .addOption(
      new Option('--format <format>', 'its form')
        .choices(['text', 'json', 'junit'])
        .default('text'),
    )
    .option('--out <file>', 'write it to this file')
    .action((run: string, options: ReportOptions) => actions.report(run, options));
  remote(program.command('agents'))
    .description('List the agents of a controller.')
    .option('--json', 'as JSON')
    .action((options: AgentsOptions) => actions.agents(options));
}

function remote(command: Command): Command {
  return command
    .addOption(apiOption('address of the controller'))
    .addOption(tokenOption())
    .option('--token-file <file>', 'a file that holds the token');
}
