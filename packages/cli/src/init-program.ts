import type { Command } from 'commander';
import type { InitOptions } from './commands/init.ts';
import { QUESTIONS } from './init/questions.ts';

export interface InitActions {
  init(file: string, options: InitOptions): Promise<void>;
}

export function addInit(program: Command, actions: InitActions): void {
  const command = program
    .command('init')
    .argument('[file]', 'where the plan goes', 'plan.yaml')
    .description('Write a first plan: asks a few questions, or takes them as options.');
  for (const { flag, text, usual } of QUESTIONS) {
    command.option(flag, `${text} (default: ${usual({})})`);
  }
  command
    .option('--yes', 'ask nothing: what is not given is as usual')
    .option('--force', 'write over a file that is there')
    .addHelpText('after', INIT_EXAMPLES)
    .action((file: string, options: InitOptions) => actions.init(file, options));
}

const INIT_EXAMPLES = `
Examples:
  squall init                                         asks, and writes plan.yaml
  squall init load.yaml --broker mqtt://10.0.0.1 --clients 10k --every 2s --for 10m
  squall init mq.yaml --protocol rocketmq --broker 10.0.0.1:9876 --yes
`;
