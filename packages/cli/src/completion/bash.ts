import type { CommandWords } from './command-tree.ts';

/** For bash 4 and newer, and by its `bashcompinit` for zsh, too. */
export function bashCompletion(words: readonly CommandWords[]): string {
  return [
    '# Completion of squall. In ~/.bashrc: source <(squall completion bash)',
    '_squall() {',
    '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path="" next i words="" files=1',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    '    next="${path:+$path }${COMP_WORDS[i]}"',
    '    case "$next" in',
    `      ${paths(words).map(quoted).join('|')}) path="$next" ;;`,
    '    esac',
    '  done',
    '  case "$path $prev" in',
    ...words.flatMap(choiceCases),
    '  esac',
    '  if [[ -z "$words" ]]; then',
    '    case "$path" in',
    ...words.map(
      (one) =>
        `      ${quoted(one.path)}) words=${quoted(wordsOf(one))}; files=${one.takesFiles ? 1 : 0} ;;`,
    ),
    '    esac',
    '    [[ "$prev" == --* && "$cur" != -* ]] && files=1',
    '  else',
    '    files=0',
    '  fi',
    '  COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '  if [[ $files == 1 && "$cur" != -* ]]; then COMPREPLY+=($(compgen -f -- "$cur")); fi',
    '}',
    'complete -o filenames -F _squall squall',
    '',
  ].join('\n');
}

/** zsh takes the same by its own means. */
export function zshCompletion(words: readonly CommandWords[]): string {
  const [first = '', ...rest] = bashCompletion(words).split('\n');
  return [
    '#compdef squall',
    first.replace('~/.bashrc', '~/.zshrc').replace('bash)', 'zsh)'),
    'autoload -U +X compinit && compinit -u',
    'autoload -U +X bashcompinit && bashcompinit',
    ...rest,
  ].join('\n');
}

function paths(words: readonly CommandWords[]): string[] {
  return words.flatMap(({ path }) => (path === '' ? [] : [path]));
}

function wordsOf({ commands, choices, options }: CommandWords): string {
  return [...commands.map(({ name }) => name), ...choices, ...options.map(({ long }) => long)].join(
    ' ',
  );
}

function choiceCases({ path, options }: CommandWords): string[] {
  return options.flatMap(({ long, choices }) =>
    choices.length === 0
      ? []
      : [`    ${quoted(`${path} ${long}`)}) words=${quoted(choices.join(' '))} ;;`],
  );
}

/** Names of commands and options have no quotes in them. */
function quoted(text: string): string {
  return `'${text}'`;
}
