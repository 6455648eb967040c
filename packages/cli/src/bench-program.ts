import type { Command } from 'commander';
import { BENCH_FLAGS, BENCH_KINDS, type BenchFlag, type BenchKind } from './bench/flags.ts';
import { addPlanOfToolOptions, type PlanOfToolOptions } from './plan-of-tool-options.ts';
import { textTable } from './terminal/text-table.ts';

export interface BenchActions {
  bench(
    kind: BenchKind,
    given: { readonly words: readonly string[]; readonly options: PlanOfToolOptions },
  ): Promise<void>;
}

/** One command a kind. */
export function addBench(program: Command, actions: BenchActions): void {
  const bench = program
    .command('bench')
    .description(
      'Run what a command line of emqtt_bench says, or print the plan that it stands for.',
    )
    .addHelpText('after', BENCH_EXAMPLES);
  for (const kind of BENCH_KINDS) {
    const command = bench
      .command(kind)
      .description(`${ABOUT[kind]} Takes the flags of emqtt_bench ${kind}.`)
      // -h is the broker's host there.
      .helpOption('--help', 'print this help')
      .option('--print-plan', 'print the plan that this stands for, and end');
    addPlanOfToolOptions(command, 'flags of emqtt_bench')
      .addHelpText('after', () => flagHelp(kind))
      .action((words: string[], options: PlanOfToolOptions) =>
        actions.bench(kind, { words, options }),
      );
  }
}

const ABOUT: Readonly<Record<BenchKind, string>> = {
  conn: 'Connect clients and hold them.',
  pub: 'Connect clients that publish.',
  sub: 'Connect clients that subscribe.',
};

function flagHelp(kind: BenchKind): string {
  const flags = BENCH_FLAGS.filter(({ only }) => only === undefined || only.includes(kind));
  const [here, passedOver] = [flags.filter(isPlain), flags.filter((flag) => !isPlain(flag))];
  const lines = [
    '',
    'Flags of emqtt_bench, and what each is in the plan:',
    ...textTable(here.map(row), { indent: 2 }),
    '',
    'Those that mean nothing here (the run says so, and goes on; --quic is refused):',
    ...textTable(passedOver.map(row), { indent: 2 }),
    '',
    ...EXAMPLES[kind],
  ];
  return `${lines.join('\n')}\n`;
}

function isPlain({ fate }: BenchFlag): boolean {
  return fate === undefined;
}

function row({ long, short, fallback, here }: BenchFlag): string[] {
  const name = `${short === undefined ? '    ' : `-${short}, `}--${long}`;
  const usual = fallback === undefined || fallback === '' ? '' : `[${fallback}]`;
  return [name, usual, here];
}

const EXAMPLES: Readonly<Record<BenchKind, readonly string[]>> = {
  conn: [
    'Examples:',
    '  squall bench conn -h 192.0.2.7 -c 50000 -R 1000 --for 10m --agents 4',
    '  squall bench conn -c 1000 -S --cacertfile ca.pem --print-plan > plan.yaml',
  ],
  pub: [
    'Examples:',
    '  squall bench pub -h localhost -c 40 -i 10 -I 10 -t test/%i -q 1 --for 10m',
    '  squall bench pub -c 100 -I 100 -t bench/%i -s 256 -V 4 --print-plan > plan.yaml',
  ],
  sub: [
    'Examples:',
    '  squall bench sub -h localhost -p 1883 -c 50000 -i 5 -t test/%i -q 1 --for 10m',
    "  squall bench sub -c 100 -t '$share/g/bench/#' --print-plan > plan.yaml",
  ],
};

const BENCH_EXAMPLES = `
Examples:
  squall bench sub -c 50000 -i 5 -t test/%i -q 1 --for 10m
  squall bench pub -c 40 -i 10 -I 10 -t test/%i -q 1 --print-plan > plan.yaml
  squall bench pub --help                                every flag, and what it is in a plan
`;
