import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { devicesPlan } from '../../fixtures/plans.ts';
import { programMissing } from '../../fixtures/process.ts';
import { squall, Workspace } from '../../fixtures/squall.ts';

/** Nobody listens there: it is not asked. */
const URL = 'mqtt://127.0.0.1:1';

describe.concurrent('squall doctor', () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = new Workspace();
  });
  afterAll(() => workspace.dispose());

  test('names the limit of 20,000 descriptors for a plan of 100,000 clients', async ({ skip }) => {
    const missing = programMissing('prlimit', 'util-linux');
    if (missing !== null) skip(missing);
    const file = workspace.plan(devicesPlan({ url: URL, clients: 100_000 }));
    const args = ['doctor', file, '--workers', '2'];
    const result = await squall(args, { descriptors: 20_000 });
    expect(result.code).toBe(113);
    expect(result.stdout).toContain('fail  descriptors: 20,000 file descriptors a process');
    expect(result.stdout).toContain('needs 50,064 in worker 0, for 50,000 clients');
    expect(result.stdout).toMatch(/mend {2}(ulimit -n 1048576|\/etc\/security\/limits\.d)/);
    expect(result.stdout).toContain('an agent on this host refuses its share');

    // What the doctor says is what the agent does.
    const run = await workspace.run([file, '--workers', '2'], { descriptors: 20_000 });
    expect(run.code).toBe(113);
    expect(run.output).toContain('20,000 file descriptors a process');
  });

  test('shares the plan over agents, those of this host together', async () => {
    const file = workspace.plan(devicesPlan({ url: URL, clients: 100_000 }));
    const of = async (...args: string[]) => {
      const result = await squall(['doctor', file, '--json', ...args]);
      const { clientsHere, findings } = JSON.parse(result.stdout) as {
        readonly clientsHere: number;
        readonly findings: readonly { readonly check: string; readonly needs: string }[];
      };
      return { clientsHere, ports: findings.find(({ check }) => check === 'ports')?.needs };
    };
    expect(await of('--agents', '3')).toEqual({
      clientsHere: 33_334,
      ports: '33,334, one a client',
    });
    expect(await of('--agents', '3', '--agents-here', '2')).toEqual({
      clientsHere: 66_667,
      ports: '66,667, one a client',
    });
  });

  test('is content with a plan that fits', async () => {
    const file = workspace.plan(devicesPlan({ url: URL, clients: 100 }));
    const result = await squall(['doctor', file]);
    expect(result.code).toBe(0);
    expect(result.stdout).not.toContain('fail');
  });

  test('applies the script where it is told to, and says what cannot be set', async () => {
    // A copy of the settings: nothing of this host is changed.
    const folder = path.join(workspace.folder, 'host');
    const file = path.join(folder, 'sys', 'net', 'core', 'somaxconn');
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, '4096\n');
    const env = { SQUALL_TUNE_ROOT: folder, SQUALL_TUNE_PROC: folder };
    const result = await squall(['doctor', '--fix', '--apply'], { env });
    expect(result.stdout).toContain('set      net.core.somaxconn = 32768 (was 4096)\n');
    expect(result.stdout).toContain('refused  net.ipv4.tcp_fin_timeout: not to be seen here');
    expect(readFileSync(file, 'utf8').trim()).toBe('32768');
    expect(result.code).toBe(113);
  });

  test('prints the script, and runs nothing unless it is told to', async () => {
    const result = await squall(['doctor', '--fix']);
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/^#!\/bin\/sh/);
    expect(result.stdout).toContain('net.core.somaxconn at-least 32768');
    const alone = await squall(['doctor', '--apply']);
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain('--apply belongs to --fix');
  });
});
