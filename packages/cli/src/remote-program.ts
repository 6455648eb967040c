import { type Command, Option } from 'commander';
import type {
  AgentsOptions,
  ReportOptions,
  RunsOptions,
  StatusOptions,
  StopOptions,
} from './commands/remote.ts';
import type { CleanCommandOptions } from './commands/clean.ts';
import { durationUs, keyValue, perSecond, wholeNumber } from './option-values.ts';
import { apiOption, tokenFileOption, tokenOption } from './shared-options.ts';

/** Runs that are listed at once, at most. */
const MAX_RUNS = 500;

/** What is asked of a controller that serves runs. */
export interface RemoteActions {
  runs(options: RunsOptions): Promise<void>;
  status(run: string, options: StatusOptions): Promise<void>;
  stop(run: string, options: StopOptions): Promise<void>;
  report(run: string, options: ReportOptions): Promise<void>;
  agents(options: AgentsOptions): Promise<void>;
  clean(run: string, options: CleanCommandOptions): Promise<void>;
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
    .option(
      '--out <dir>',
      'with --wait: folder for report.html, .json, .md, .csv, .hlog and junit.xml',
    )
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
    .argument(
      '<run>',
      'id of a run that a controller has, or folder of a local run, or its report.json',
    )
    .description('Print the report of a run that is over.')
    .addOption(
      new Option('--format <format>', 'its form')
        .choices(['text', 'html', 'md', 'json', 'csv', 'hlog', 'junit'])
        .default('text'),
    )
    .option('--out <file>', 'write it to this file')
    .action((run: string, options: ReportOptions) => actions.report(run, options));
  remote(program.command('agents'))
    .description('List the agents of a controller.')
    .option('--json', 'as JSON')
    .action((options: AgentsOptions) => actions.agents(options));
  addClean(program, actions);
}

/** Of a run of this machine it needs no controller. */
function addClean(program: Command, actions: RemoteActions): void {
  remote(program.command('clean'))
    .argument(
      '<run>',
      'folder of a local run or its report.json, or with --controller the id of a run',
    )
    .description(
      'Remove what a run left on its brokers: retained messages, kept sessions, topics and groups of RocketMQ.',
    )
    .option('--dry-run', 'say what there is, and remove nothing')
    .option(
      '--plan <file>',
      'the plan of the run: for passwords and files, which its report does not hold',
    )
    .option('--var <key=value>', 'with --plan: set a variable (can be repeated)', keyValue)
    .option(
      '--rate <n/s>',
      'connections and messages a second, together',
      perSecond,
      DEFAULT_CLEAN_RATE,
    )
    .addOption(
      new Option('--only <what>', 'leave the others alone').choices([
        'retained',
        'sessions',
        'names',
      ]),
    )
    .option('--json', 'as JSON')
    .addHelpText('after', CLEAN_EXAMPLES)
    .action((run: string, options: CleanCommandOptions) => actions.clean(run, options));
}

const DEFAULT_CLEAN_RATE = 1_000;

const CLEAN_EXAMPLES = `
Examples:
  squall clean squall-out/20261130t190635-3ixe4pu5 --dry-run   what is there?
  squall clean squall-out/20261130t190635-3ixe4pu5
  squall clean 20261130t190635-3ixe4pu5 --controller http://127.0.0.1:4747 --rate 200/s

Retained messages: what is found on the topics of the run is replaced by nothing, and looked for again.
Sessions: each client of the run that was to keep one connects once more and ends it.
Names: topics and groups of RocketMQ that the run made, or that have {{run}} in their names; others stay.

Exit codes: 0 all gone · 99 something is left, or could not be seen · 2 no such run
`;

function remote(command: Command): Command {
  return command
    .addOption(apiOption('address of the controller'))
    .addOption(tokenOption())
    .addOption(tokenFileOption('the token'));
}
