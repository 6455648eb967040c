import type { CommandWords } from './command-tree.ts';

/** For fish 3 and newer, with what each word means. */
export function fishCompletion(words: readonly CommandWords[]): string {
  return [
    '# Completion of squall. squall completion fish > ~/.config/fish/completions/squall.fish',
    '# Whether these commands, and no others, stand on the line so far.',
    'function __squall_at',
    '  set -l words',
    '  for word in (commandline -opc)[2..]',
    '    string match -q -- "-*" $word; or set -a words $word',
    '  end',
    '  test (count $words) -ge (count $argv); or return 1',
    '  for i in (seq (count $argv))',
    '    test "$words[$i]" = "$argv[$i]"; or return 1',
    '  end',
    'end',
    ...words.flatMap(linesOf),
    '',
  ].join('\n');
}

function linesOf({ path, commands, choices: own, options }: CommandWords): string[] {
  const at = path === '' ? '__fish_use_subcommand' : `__squall_at ${path}`;
  return [
    ...commands.map(
      ({ name, text }) =>
        `complete -c squall -n ${quoted(at)} -f -a ${name} -d ${quoted(short(text))}`,
    ),
    ...(own.length === 0
      ? []
      : [`complete -c squall -n ${quoted(at)} -f -a ${quoted(own.join(' '))}`]),
    ...options.map(({ long, text, takesValue, choices }) => {
      const values = choices.length === 0 ? '' : ` -f -a ${quoted(choices.join(' '))}`;
      const value = takesValue ? ` -r${values}` : '';
      return `complete -c squall -n ${quoted(at)} -l ${long.slice(2)}${value} -d ${quoted(short(text))}`;
    }),
  ];
}

/** The first sentence. */
function short(text: string): string {
  return (text.split(/(?<=[.:;])\s/)[0] ?? '').replace(/[.:;]$/, '');
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, (letter) => `\\${letter}`)}'`;
}
