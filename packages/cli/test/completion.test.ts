import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Actions } from '../src/program.ts';
import { buildProgram } from '../src/program.ts';

/** The script as the command prints it. */
async function scriptOf(shell: string): Promise<string> {
  let script = '';
  const actions = { completion: (text: string) => Promise.resolve(void (script = text)) };
  const program = buildProgram('0.0.0', actions as unknown as Actions);
  await program.parseAsync(['node', 'squall', 'completion', shell]);
  return script;
}

/** What bash offers behind these words; the last one is being typed. */
function offered(script: string, words: readonly string[], cwd = '/'): string[] {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const asked = `${script}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _squall; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['-c', asked], { cwd, encoding: 'utf8' });
  return out.split('\n').filter((word) => word !== '');
}

describe('completion, asked of a real bash', () => {
  test.each([
    [
      ['squall', 'ru'],
      ['run', 'runs'],
    ],
    [['squall', 'bench', 'p'], ['pub']],
    [['squall', 'run', 'plan.yaml', '--with-b'], ['--with-broker']],
    [['squall', 'run', '--scale', '0.1', '--junit', 'x', '--stri'], ['--strict']],
    [['squall', 'report', 'RUN', '--format', 'ht'], ['html']],
    [['squall', 'completion', 'f'], ['fish']],
    [['squall', 'rocketmq', 'prod'], ['producer']],
    // What is hidden is offered to nobody.
    [['squall', 'brok'], []],
  ])('%j', async (words, expected) => {
    expect(offered(await scriptOf('bash'), words)).toEqual(expected);
  });

  test('plans are files', async () => {
    const plans = new URL('../../../plans', import.meta.url).pathname;
    expect(offered(await scriptOf('bash'), ['squall', 'run', 'quick'], plans)).toEqual([
      'quickstart.yaml',
    ]);
  });

  test('zsh takes the same script, fish has one of its own with what each word means', async () => {
    expect(await scriptOf('zsh')).toContain('bashcompinit');
    const fish = await scriptOf('fish');
    expect(fish).toContain(
      "complete -c squall -n '__fish_use_subcommand' -f -a run -d 'Run a plan'",
    );
    expect(fish).toMatch(/__squall_at bench pub' -l \w/);
  });
});
