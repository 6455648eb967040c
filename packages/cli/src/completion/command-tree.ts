import type { Command } from 'commander';

/** What can stand behind a command, for the completion of a shell. */
export interface CommandWords {
  /** `bench pub`; empty for `squall` itself. */
  readonly path: string;
  readonly text: string;
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly OptionWord[];
  /** What its argument may be, where that is known. */
  readonly choices: readonly string[];
  /** Whether it takes arguments that may be anything, files mostly. */
  readonly takesFiles: boolean;
}

interface OptionWord {
  /** `--agents`; short forms are quicker typed than completed. */
  readonly long: string;
  readonly text: string;
  readonly takesValue: boolean;
  /** Values that it may have, where these are known. */
  readonly choices: readonly string[];
}

/** Every command with its words, the outermost first. What is hidden stays hidden. */
export function commandWords(command: Command, path = ''): CommandWords[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const own: CommandWords = {
    path,
    text: command.description(),
    commands: commands.map((one) => ({ name: one.name(), text: one.description() })),
    options: help.visibleOptions(command).flatMap((option) => {
      const { long, description, argChoices } = option;
      if (long === undefined || long === null) return [];
      const takesValue = option.required || option.optional;
      return [{ long, text: description, takesValue, choices: argChoices ?? [] }];
    }),
    choices,
    takesFiles: choices.length === 0 && command.registeredArguments.length > 0,
  };
  const inner = commands.flatMap((one) =>
    one.name() === 'help'
      ? []
      : commandWords(one, path === '' ? one.name() : `${path} ${one.name()}`),
  );
  return [own, ...inner];
}
