import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const read = (file: string): unknown =>
  parse(readFileSync(path.join(root, 'deploy', file), 'utf8'));

/** The script of the action's step, with a program in the place of npx that writes down its words. */
function runStep(inputs: { plan: string; options: string; exitCode: number }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'squall-action-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const npx = `#!/bin/sh\nprintf '%s\\n' "$@"\nexit ${inputs.exitCode}\n`;
  writeFileSync(path.join(folder, 'npx'), npx, { mode: 0o755 });
  const action = read('github-action/action.yml') as { runs: { steps: { run: string }[] } };
  const output = path.join(folder, 'output');
  const result = spawnSync(
    'bash',
    ['-eo', 'pipefail', '-c', action.runs.steps[0]?.run ?? 'false'],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: `${folder}:${process.env['PATH'] ?? ''}`,
        PLAN: inputs.plan,
        OPTIONS: inputs.options,
        VERSION: '1.2.3',
        OUT: 'out',
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: path.join(folder, 'summary'),
      },
    },
  );
  return { ...result, folder, output: readFileSync(output, 'utf8') };
}

describe('the GitHub action', () => {
  test('hands the plan and each option over, and keeps the exit code', () => {
    const step = runStep({
      plan: 'a plan.yaml',
      options: '--agents 2\n\n--strict\n',
      exitCode: 99,
    });
    expect(step.stdout.trimEnd().split('\n')).toEqual(
      ['--yes', 'squall@1.2.3', 'run', 'a plan.yaml', '--out', 'out', '--force'].concat([
        '--agents',
        '2',
        '--strict',
      ]),
    );
    expect(step.output).toBe('exit-code=99\n');
    expect(step.status).toBe(0);
  });

  test('never runs what an input holds as a command', () => {
    const step = runStep({
      plan: '$(touch plan-ran)',
      options: '$(touch ran) ; touch ran',
      exitCode: 0,
    });
    expect(step.stdout).toContain('$(touch plan-ran)');
    expect(['plan-ran', 'ran'].filter((file) => existsSync(path.join(step.folder, file)))).toEqual(
      [],
    );
  });
});

test('the GitLab job keeps its results however it ends', () => {
  const { '.squall': job } = read('gitlab/squall.gitlab-ci.yml') as Record<string, unknown>;
  expect(job).toMatchObject({
    artifacts: { when: 'always', reports: { junit: 'squall-out/ci/junit.xml' } },
  });
});
