import { Command, Option } from 'commander';
import { addBench, type BenchActions } from './bench-program.ts';
import { addDoctor, type HostActions } from './host-program.ts';
import { addCompletion, type CompletionActions } from './completion-program.ts';
import { addInit, type InitActions } from './init-program.ts';
import { addImport, type ImportActions } from './import-program.ts';
import { addRemoteCommands, type RemoteActions } from './remote-program.ts';
import { addSink, type SinkActions } from './sink-program.ts';
import { addRocketmq, type RocketmqActions } from './rocketmq-program.ts';
import {
  agentCount,
  apiOption,
  tokenFileOption,
  tokenOption,
  workerCount,
} from './shared-options.ts';
import type { AgentCommandOptions } from './commands/agent.ts';
import type { CheckOptions } from './commands/check.ts';
import type { ControllerCommandOptions, RunCommandOptions } from './commands/run-options.ts';
import {
  controllerUrl,
  durationUs,
  hostAndPort,
  keyValue,
  retention,
  scaleFactor,
  splitSize,
} from './option-values.ts';

/** What the command line leads to; each resolves with the exit code. */
export interface Actions
  extends RemoteActions,
    HostActions,
    BenchActions,
    ImportActions,
    CompletionActions,
    InitActions,
    SinkActions,
    RocketmqActions {
  run(plan: string, options: RunCommandOptions): Promise<void>;
  check(plan: string, options: CheckOptions): Promise<void>;
  /** A run that a controller elsewhere carries out. */
  remoteRun(plan: string, options: RunCommandOptions): Promise<void>;
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
    // Options of a command may have the names of these: -V is the version of MQTT in bench.
    .enablePositionalOptions()
    .showHelpAfterError('Run the command with --help to see what it takes.')
    .exitOverride()
    .addHelpText('after', TOP_EXAMPLES);
  addInit(program, actions);
  addRun(program, actions);
  addCheck(program, actions);
  addController(program, actions);
  addAgent(program, actions);
  addBench(program, actions);
  addRocketmq(program, actions);
  addImport(program, actions);
  addSink(program, actions);
  addDoctor(program, actions);
  addRemoteCommands(program, actions);
  addCompletion(program, actions);
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
    .description('Run a plan: on this machine, over agents started by hand, or by a controller.');
  command
    .option(
      '--agents <n>',
      'agents to start here (default: what the plan asks for, else 1)',
      agentCount,
    )
    .option('--workers <n>', 'worker processes an agent (default: cores / agents)', workerCount)
    .option('--with-broker', 'start an embedded MQTT broker and put its address into vars.broker')
    .addOption(
      new Option('--agents-external <n>', 'wait for this many agents that are started by hand')
        .argParser(agentCount)
        .conflicts(['agents', 'workers']),
    );
  addPlanOptions(command);
  addListenOptions(command);
  addOutputOptions(command);
  command
    .addOption(
      apiOption('let this controller carry the run out; --timeout then ends the wait only'),
    )
    .option('--local', 'run on this machine although SQUALL_CONTROLLER is set')
    .option('--wait', 'with --controller: watch the run to its end (this is what happens)')
    .option('--no-wait', 'with --controller: print the id of the run and leave')
    .addHelpText('after', RUN_EXAMPLES)
    .action((plan: string, options: RunCommandOptions) =>
      isRemote(command, options) ? actions.remoteRun(plan, options) : actions.run(plan, options),
    );
}

/** Options that make no sense for a run that a controller elsewhere carries out. */
const LOCAL_ONLY = [
  'agentsExternal',
  'agentsTimeout',
  'listen',
  'local',
  'redis',
  'redisForAgents',
  'redisPasswordFile',
  'tlsCert',
  'tlsKey',
  'unencrypted',
  'withBroker',
  'workers',
];

/** An option beats the environment; two options that contradict each other are refused. */
function isRemote(command: Command, options: RunCommandOptions): boolean {
  if (options.controller === undefined) return false;
  const local = LOCAL_ONLY.filter((name) => command.getOptionValueSource(name) === 'cli');
  if (local.length === 0) return true;
  if (command.getOptionValueSource('controller') === 'env') return false;
  const [name] = command.options.filter((option) => option.attributeName() === local[0]);
  return command.error(
    `error: ${name?.long ?? ''} is for runs on this machine, not with --controller`,
  );
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
    .option(
      '--connect',
      'ask the brokers, too: one client of each group connects, subscribes and sends, and looks for what comes back',
    )
    .option('--var <key=value>', 'set a variable of the plan (can be repeated)', keyValue)
    .option('--scale <factor>', 'as in run: show the plan at this scale', scaleFactor)
    .addHelpText('after', CHECK_EXAMPLES)
    .action((plan: string, options: CheckOptions) => actions.check(plan, options));
}

function addController(program: Command, actions: Actions): void {
  const command = program
    .command('controller')
    .description(
      'Serve runs over a REST API, or (with --plan) run one plan over agents and end with its exit code.',
    )
    .option('--plan <file>', 'the one plan to run, a YAML or JSON file')
    .option('--agents <n>', 'with --plan: agents to wait for', agentCount)
    .option('--store <file>', 'where runs and plans are kept', 'squall.db')
    .addOption(
      new Option(
        '--agent-token <token>',
        'join token of agents, where not the token of the API',
      ).env('SQUALL_AGENT_TOKEN'),
    )
    .addOption(
      new Option('--agent-token-file <file>', 'a file that holds it').env(
        'SQUALL_AGENT_TOKEN_FILE',
      ),
    )
    .addOption(
      new Option('--retention <duration>', 'how long runs are kept after their end, or "forever"')
        .argParser(retention)
        .default(DEFAULT_RETENTION_US, '90d'),
    );
  addPlanOptions(command);
  addListenOptions(command);
  addOutputOptions(command);
  command.addHelpText('after', CONTROLLER_EXAMPLES).action((options: ControllerCommandOptions) => {
    checkController(command, options);
    return actions.controller(options);
  });
}

const DEFAULT_RETENTION_US = 90 * 24 * 3_600_000_000;
const WITH_PLAN = [
  'agents',
  'var',
  'scale',
  'label',
  'timeout',
  'strict',
  'out',
  'junit',
  'force',
  'quiet',
];
const WITHOUT_PLAN = ['store', 'agentToken', 'agentTokenFile', 'retention'];

/** One command, two uses: options of the other are told, not passed over. */
function checkController(command: Command, options: ControllerCommandOptions): void {
  const wrong = options.plan === undefined ? WITH_PLAN : WITHOUT_PLAN;
  const name = wrong.find((one) => command.getOptionValueSource(one) === 'cli');
  const option = command.options.find((one) => one.attributeName() === name);
  if (option !== undefined) {
    const when = options.plan === undefined ? 'only with' : 'not with';
    command.error(`error: ${option.long ?? ''} is ${when} --plan`);
  }
  if (options.plan !== undefined && options.agents === undefined) {
    command.error('error: --plan needs --agents <n>');
  }
}

function addAgent(program: Command, actions: Actions): void {
  program
    .command('agent')
    .description('Make load for a controller: dial in, take shares of plans, until told to end.')
    .addOption(
      new Option('--controller <ws://host:port>', 'address of the controller')
        .argParser(controllerUrl)
        .env('SQUALL_CONTROLLER')
        .makeOptionMandatory(),
    )
    .addOption(tokenOption())
    .addOption(tokenFileOption('the join token'))
    .option('--id <id>', 'name in the fleet (default: host and process id)')
    .addOption(
      new Option('--workers <n>', 'worker processes (default: one a core)')
        .argParser(workerCount)
        .conflicts('observe'),
    )
    .option('--observe', 'make no load: only tell how this host (of a broker, a sink) fares')
    .option('--label <key=value>', 'a label that plans can ask for (can be repeated)', keyValue)
    .option(
      '--metrics-listen <host:port>',
      'serve /metrics (for Prometheus) and /healthz here',
      hostAndPort,
    )
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
      'where agents dial in (default: 127.0.0.1 and a free port; of a service, port 4747)',
      hostAndPort,
    )
    .addOption(tokenOption())
    .addOption(tokenFileOption('the join token'))
    .option('--tls-cert <file>', 'encrypt the port: certificate (chain) in PEM form')
    .option('--tls-key <file>', 'and its key; agents then dial wss://')
    .option('--unencrypted', 'with a token: listen for other machines without TLS')
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
    .addOption(
      new Option(
        '--redis-password-file <file>',
        'a file that holds the password of Redis, for an address without one',
      ).env('SQUALL_REDIS_PASSWORD_FILE'),
    )
    .option(
      '--agents-timeout <duration>',
      'wait this long for the agents (default: 60s)',
      durationUs,
    );
}

function addOutputOptions(command: Command): void {
  command
    .option(
      '--out <dir>',
      'folder for report.html, .json, .md, .csv, .hlog and junit.xml (default: squall-out/<run id>)',
    )
    .option('--junit <file>', 'write the JUnit report to this file, too (over what is there)')
    .option('--force', 'with --out: write over a report that is there')
    .option('--quiet', 'print the summary only');
}

const TOP_EXAMPLES = `
Examples:
  squall run plans/quickstart.yaml --agents 5 --with-broker   everything on this machine
  squall check my-plan.yaml --connect                         is the plan right, and does the broker do what it wants?
  squall doctor my-plan.yaml --agents 5                       can this host carry its share?
  squall bench pub -h localhost -c 40 -I 10 -t test/%i -q 1   the flags of emqtt_bench, and the plan behind them
  squall import devices.jmx --out devices.yaml                a plan out of one of JMeter or HiveMQ Swarm
  squall clean squall-out/<run id>                            what is left on the broker?
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

  # by a controller that serves runs; the exit code is that of the verdict, 114 if the wait ends first
  squall run plan.yaml --controller http://127.0.0.1:4747 --timeout 30m

  # in CI: JUnit where the CI looks for it, degraded runs do not pass
  squall run plan.yaml --junit reports/load.xml --strict --quiet

Ctrl-C once ends the load and still judges and reports; twice cuts it off and reports; thrice leaves at once.
`;

const CHECK_EXAMPLES = `
Examples:
  squall check plan.yaml                     every problem with line, column and a hint
  squall check plan.yaml --split 5x2         who gets which clients, for 5 agents of 2 workers
  squall check plan.yaml --scale 0.01 --print
  squall check plan.yaml --connect           before any load: does the broker do what the plan wants?

Exit codes: 0 right · 104 the plan is wrong · with --connect: 99 a broker refuses, or a message does not come back
  112 it could not be seen (QoS 0, and nobody may subscribe)
`;

const CONTROLLER_EXAMPLES = `
Examples:
  # serve runs: agents dial in on the same port; plans come by "squall run --controller", or by curl
  SQUALL_TOKEN=secret squall controller --store /var/lib/squall/squall.db

  # run one plan and end
  SQUALL_TOKEN=secret squall controller --plan plan.yaml --agents 3 --listen 127.0.0.1:7000
  SQUALL_TOKEN=secret squall agent --controller ws://127.0.0.1:7000      (three times)
`;

const AGENT_EXAMPLES = `
Examples:
  SQUALL_TOKEN=secret squall agent --controller ws://127.0.0.1:7000
  squall agent --controller ws://127.0.0.1:7000 --token-file /run/secrets/squall --id rack-7 --workers 8
  squall agent --controller ws://127.0.0.1:4747 --metrics-listen 127.0.0.1:9464
  squall agent --controller ws://192.0.2.1:7000 --observe --id broker-1    on the broker's machine
`;
