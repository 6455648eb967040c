import { Argument, type Command } from 'commander';
import { bashCompletion, zshCompletion } from './completion/bash.ts';
import { commandWords } from './completion/command-tree.ts';
import { fishCompletion } from './completion/fish.ts';

export interface CompletionActions {
  /** Prints the script of a shell. */
  completion(script: string): Promise<void>;
}

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof SHELLS;

export function addCompletion(program: Command, actions: CompletionActions): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'whose completion').choices(Object.keys(SHELLS)))
    .description('Print the script that lets a shell complete commands and options.')
    .addHelpText('after', COMPLETION_EXAMPLES)
    .action((shell: Shell) => actions.completion(SHELLS[shell](commandWords(program))));
}

const COMPLETION_EXAMPLES = `
Examples:
  source <(squall completion bash)                                    now, or in ~/.bashrc
  source <(squall completion zsh)                                     now, or in ~/.zshrc
  squall completion fish > ~/.config/fish/completions/squall.fish
`;
