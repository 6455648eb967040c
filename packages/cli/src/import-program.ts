import type { Command } from 'commander';
import type { ImportOptions } from './commands/import.ts';

export interface ImportActions {
  import(file: string, options: ImportOptions): Promise<void>;
}

export function addImport(program: Command, actions: ImportActions): void {
  program
    .command('import')
    .argument(
      '<file>',
      'a JMeter plan (.jmx) with MQTT samplers, or a HiveMQ Swarm scenario (.xml)',
    )
    .description(
      'Make a plan of a JMeter plan or a HiveMQ Swarm scenario, and name what could not be carried over.',
    )
    .option('--out <file>', 'write the plan there (default: standard output)')
    .option('--force', 'with --out: write over a file that is there')
    .addHelpText('after', IMPORT_EXAMPLES)
    .action((file: string, options: ImportOptions) => actions.import(file, options));
}

const IMPORT_EXAMPLES = `
Examples:
  squall import devices.jmx > devices.yaml            what was lost or changed is told beside it, with its line
  squall import devices.jmx --out devices.yaml
  squall import scenario.xml --out scenario.yaml      of HiveMQ Swarm
  squall check devices.yaml                           then look at it, and run it

Exit codes: 0 all of it was carried over (what is changed is told) · 112 not all of it: the plan is written,
  and names what is missing · 104 nothing that can be imported, or the plan is not right yet · 2 usage
`;
