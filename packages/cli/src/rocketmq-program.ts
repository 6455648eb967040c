import { type Command, Option } from 'commander';
import type { ToolOptions } from './commands/rocketmq.ts';
import { addPlanOfToolOptions } from './plan-of-tool-options.ts';
import { TOOL_FLAGS } from './rocketmq/flag-table.ts';
import { TOOL_KINDS, TOOL_NAMES, type ToolFlag, type ToolKind } from './rocketmq/flags.ts';
import { OUTPUT_STYLES } from './rocketmq/official-lines.ts';
import { textTable } from './terminal/text-table.ts';

export interface RocketmqActions {
  rocketmq(
    kind: ToolKind,
    given: { readonly words: readonly string[]; readonly options: ToolOptions },
  ): Promise<void>;
}

/** One command a tool. */
export function addRocketmq(program: Command, actions: RocketmqActions): void {
  const rocketmq = program
    .command('rocketmq')
    .description(
      'Run what a command line of RocketMQ’s own benchmark tools says, or print the plan that it stands for.',
    )
    .addHelpText('after', ROCKETMQ_EXAMPLES);
  for (const kind of TOOL_KINDS) {
    const command = rocketmq
      .command(kind)
      .description(
        `${ABOUT[kind]} Takes the flags of RocketMQ's benchmark ${TOOL_NAMES[kind]}, 4.8 to 5.x.`,
      )
      .helpOption('-h, --help', 'print this help')
      .option('--print-plan', 'print the plan that this stands for, and end')
      .addOption(
        new Option('--official-output [version]', 'print lines as the tool of that version does')
          .choices(OUTPUT_STYLES)
          .preset('5.x'),
      );
    addPlanOfToolOptions(command, 'flags of the tool')
      .addHelpText('after', () => flagHelp(kind))
      .action((words: string[], options: ToolOptions) =>
        actions.rocketmq(kind, { words, options }),
      );
  }
}

const ABOUT: Readonly<Record<ToolKind, string>> = {
  producer: 'Send messages, each as soon as the last one is answered.',
  consumer: 'Consume as a member of a group.',
  batchproducer: 'Send messages in batches.',
  tproducer: 'Send transactional messages.',
};

function flagHelp(kind: ToolKind): string {
  const flags = TOOL_FLAGS.filter(({ of }) => of.includes(kind));
  const rows = (fated: boolean): string[][] =>
    flags.filter(({ fate }) => (fate !== undefined) === fated).map((flag) => row(flag, kind));
  const lines = [
    '',
    `Flags of ${TOOL_NAMES[kind]}, and what each is in the plan:`,
    ...textTable(rows(false), { indent: 2 }),
    '',
    'Those that mean nothing here (the run says so, and goes on):',
    ...textTable(rows(true), { indent: 2 }),
    '',
    'Examples:',
    ...EXAMPLES[kind],
  ];
  return `${lines.join('\n')}\n`;
}

function row({ short, long, fallback, here, since }: ToolFlag, kind: ToolKind): string[] {
  const usual = typeof fallback === 'string' ? fallback : fallback?.[kind];
  return [
    long === undefined ? `-${short}` : `-${short}, --${long}`,
    usual === undefined ? '' : `[${usual}]`,
    since,
    here,
  ];
}

const EXAMPLES: Readonly<Record<ToolKind, readonly string[]>> = {
  producer: [
    "  squall rocketmq producer -n '10.0.0.1:9876;10.0.0.2:9876' -t topic-01 -s 1024 -w 128 --for 10m",
    '  squall rocketmq producer -n 10.0.0.1:9876 -t topic-01 -a true -ak load -sk secret --print-plan > plan.yaml',
    '  squall rocketmq producer -t topic-01 -q 1000000 --official-output 4.9',
  ],
  consumer: [
    '  squall rocketmq consumer -n 10.0.0.1:9876 -t topic-01 -g group-01 --for 10m',
    '  squall rocketmq consumer -t topic-01 -g group-01 -f TAG -e tags.txt --official-output',
  ],
  batchproducer: [
    '  squall rocketmq batchproducer -n 10.0.0.1:9876 -t topic-01 -b 32 -w 64 --for 10m',
    '  squall rocketmq batchproducer -t topic-01 -a true -c load -e secret --print-plan   (flags of 4.9)',
  ],
  tproducer: [
    '  squall rocketmq tproducer -n 10.0.0.1:9876 -t topic-01 -sr 0.05 -su 0.01 --for 10m',
    '  squall rocketmq tproducer -t topic-01 -w 8 -i 100 --print-plan > plan.yaml',
  ],
};

const ROCKETMQ_EXAMPLES = `
Examples:
  squall rocketmq producer -n 10.0.0.1:9876 -t topic-01 -s 1024 -w 128 --for 10m
  squall rocketmq consumer -n 10.0.0.1:9876 -t topic-01 -g group-01 --print-plan > plan.yaml
  squall rocketmq producer --help                        every flag, and what it is in a plan
`;
