import { Command, Option } from 'commander';
import type { AgentCommandOptions } from './commands/agent.ts';
import type { CheckOptions } from './commands/check.ts';
import type { ControllerCommandOptions, RunCommandOptions } from './commands/run-options.ts';
import {
  controllerUrl,
  durationUs,
  hostAndPort,
  keyValue,
  scaleFactor,
  splitSize,
  wholeNumber,
} from './option-values.ts';

/** Agents that one command line may ask for, and workers of one agent. */
const MAX_AGENTS = 200;
const MAX_WORKERS = 256;

/** What the command line leads to; each resolves with the exit code. */
export interface Actions {
  run(plan: string, options: RunCommandOptions): Promise<void>;
  check(plan: string, options: CheckOptions): Promise<void>;
  controller(options: ControllerCommandOptions): Promise<void>;
  agent(options: AgentCommandOptions): Promise<void>;
  broker(): Promise<void>;
}

/** The command line: names, options, help. Does nothing of its own. */
export function buildProgram(version: string, actions: Actions): Command {
  const program = new Command('squall')
    .description('Distributed load testing for message brokers, from one YAML plan.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showHelpAfterError('Run the command with --help to see what it takes.')
    .exitOverride()
    .addHelpText('after', TOP_EXAMPLES);
  addRun(program, actions);
  addCheck(program, actions);
  addController(program, actions);
  addAgent(program, actions);
  program
    .command('broker', { hidden: true })
    .description('The embedded broker of `run --with-broker`')
    .action(() => actions.broker());
  return program;
}

function addRun(program: Command, actions: Actions): void {
  const command = program
    .command('run')
    .argument('<plan>', 'the plan, a YAML or JSON file')
    .description('Run a plan: on this machine, or over agents that are started by hand.');
  command
    .option(
      '--agents <n>',
      'agents to start here (default: what the plan asks for, else 1)',
      agents,
    )
    .option('--workers <n>', 'worker processes an agent (default: cores / agents)', workers)
    .option('--with-broker', 'start an embedded MQTT broker and put its address into vars.broker')
    .addOption(
      new Option('--agents-external <n>', 'wait for this many agents that are started by hand')
        .argParser(agents)
        .conflicts(['agents', 'workers']),
    );
  addPlanOptions(command);
  addListenOptions(command);
  addOutputOptions(command);
  command
    .addHelpText('after', RUN_EXAMPLES)
    .action((plan: string, options: RunCommandOptions) => actions.run(plan, options));
}

function addCheck(program: Command, actions: Actions): void {
  program
    .command('check')
    .argument('<plan>', 'the plan, a YAML or JSON file')
    .description('Check a plan and tell every problem, with its place and what to do about it.')
    .option(
      '--split <n[xW]>',
      'show who gets which clients, for n agents (of W workers)',
      splitSize,
    )
    .option('--print', 'print the plan as squall understands it, as JSON')
    .option('--var <key=value>', 'set a variable of the plan (can be repeated)', keyValue)
    .option('--scale <factor>', 'as in run: show the plan at this scale', scaleFactor)
    .addHelpText('after', CHECK_EXAMPLES)
    .action((plan: string, options: CheckOptions) => actions.check(plan, options));
}

function addController(program: Command, actions: Actions): void {
  const command = program
    .command('controller')
    .description(
      'Wait for agents, run one plan over them, write the report, end with its exit code.',
    )
    .requiredOption('--plan <file>', 'the plan, a YAML or JSON file')
    .requiredOption('--agents <n>', 'agents to wait for', agents);
  addPlanOptions(command);
  addListenOptions(command);
  addOutputOptions(command);
  command
    .addHelpText('after', CONTROLLER_EXAMPLES)
    .action((options: ControllerCommandOptions) => actions.controller(options));
}

function addAgent(program: Command, actions: Actions): void {
  program
    .command('agent')
    .description('Make load for a controller: dial in, take shares of plans, until told to end.')
    .requiredOption('--controller <ws://host:port>', 'address of the controller', controllerUrl)
    .addOption(tokenOption())
    .option('--token-file <file>', 'a file that holds the join token')
    .option('--id <id>', 'name in the fleet (default: host and process id)')
    .option('--workers <n>', 'worker processes (default: one a core)', workers)
    .option('--label <key=value>', 'a label that plans can ask for (can be repeated)', keyValue)
    .addHelpText('after', AGENT_EXAMPLES)
    .action((options: AgentCommandOptions) => actions.agent(options));
}

function addPlanOptions(command: Command): void {
  command
    .option('--var <key=value>', 'set a variable of the plan (can be repeated)', keyValue)
    .option('--scale <factor>', 'scale clients and rates, for example 0.01', scaleFactor)
    .option('--label <key=value>', 'label the run (can be repeated)', keyValue)
    .option('--timeout <duration>', 'end the run after this time at the latest', durationUs)
    .option('--strict', 'a run of degraded validity is no success (exit code 111)');
}

function addListenOptions(command: Command): void {
  command
    .option(
      '--listen <host:port>',
      'where agents dial in (default: 127.0.0.1, a free port)',
      hostAndPort,
    )
    .addOption(tokenOption())
    .option('--token-file <file>', 'a file that holds the join token')
    .addOption(
      new Option(
        '--redis <url>',
        'send measurements through this Redis: redis://[user:password@]host:port (rediss:// for TLS)',
      ).env('SQUALL_REDIS'),
    )
    .addOption(
      new Option(
        '--redis-for-agents <url>',
        'its address as agents reach it, where that differs',
      ).env('SQUALL_REDIS_FOR_AGENTS'),
    )
    .option(
      '--agents-timeout <duration>',
      'wait this long for the agents (default: 60s)',
      durationUs,
    );
}

function addOutputOptions(command: Command): void {
  command
    .option('--out <dir>', 'folder for report.json and junit.xml (default: squall-out/<run id>)')
    .option('--junit <file>', 'write the JUnit report to this file, too')
    .option('--quiet', 'print the summary only');
}

function tokenOption(): Option {
  return new Option(
    '--token <token>',
    'join token; others on this machine can see it, prefer the environment or a file',
  ).env('SQUALL_TOKEN');
}

const agents = wholeNumber(1, MAX_AGENTS);
const workers = wholeNumber(1, MAX_WORKERS);

const TOP_EXAMPLES = `
Examples:
  squall run plans/quickstart.yaml --agents 5 --with-broker   everything on this machine
  squall check my-plan.yaml                                   is the plan right?
  squall run --help                                           all options of a command

Exit codes: 0 pass · 99 a threshold failed · 104 the plan is wrong · 105 ended by a signal
  111 the run is not valid or was aborted · 112 inconclusive · 113 agents or Redis missing · 2 usage · 1 error of ours
`;

const RUN_EXAMPLES = `
Examples:
  # five agents as processes of this machine, with a broker to try it on
  squall run plans/quickstart.yaml --agents 5 --with-broker

  # the same plan against a broker of yours, at a tenth of its size
  squall run plan.yaml --var broker=mqtt://192.0.2.7:1883 --scale 0.1

  # over agents that are started by hand (on this machine: other terminals)
  SQUALL_TOKEN=secret squall run plan.yaml --listen 127.0.0.1:7000 --agents-external 3
  SQUALL_TOKEN=secret squall agent --controller ws://127.0.0.1:7000

  # in CI: JUnit where the CI looks for it, degraded runs do not pass
  squall run plan.yaml --junit reports/load.xml --strict --quiet

Ctrl-C once ends the load and still judges and reports; twice cuts it off and reports; thrice leaves at once.
`;

const CHECK_EXAMPLES = `
Examples:
  squall check plan.yaml                     every problem with line, column and a hint
  squall check plan.yaml --split 5x2         who gets which clients, for 5 agents of 2 workers
  squall check plan.yaml --scale 0.01 --print
`;

const CONTROLLER_EXAMPLES = `
Examples:
  SQUALL_TOKEN=secret squall controller --plan plan.yaml --agents 3 --listen 127.0.0.1:7000
  SQUALL_TOKEN=secret squall agent --controller ws://127.0.0.1:7000      (three times)
`;

const AGENT_EXAMPLES = `
Examples:
  SQUALL_TOKEN=secret squall agent --controller ws://127.0.0.1:7000
  squall agent --controller ws://127.0.0.1:7000 --token-file /run/secrets/squall --id rack-7 --workers 8
`;
