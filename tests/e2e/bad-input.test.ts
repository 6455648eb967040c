import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { devicesPlan } from '../fixtures/plans.ts';
import { freePort, programMissing } from '../fixtures/process.ts';
import { reportOf, squall, startSquall, unwritable, Workspace } from '../fixtures/squall.ts';

/** Input that cannot work: one clear error, the documented exit code, never a stack trace. */
const workspace = new Workspace();
afterAll(() => workspace.dispose());

const URL = 'mqtt://127.0.0.1:1';
const STACK = /\n\s+at .*\.(js|ts):\d+/;

describe.concurrent('plans that are wrong', () => {
  test('malformed YAML: line and column', async () => {
    const file = workspace.plan(
      'squall: 1\nname: x\ngroups:\n  devices: { clients: [1, 2\nstages: 3\n',
    );
    const result = await squall(['check', file]);
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(/:\d+:\d+/);
    expect(result.stderr).not.toMatch(STACK);
  });

  test('an unknown key: place, path and the nearest known key', async () => {
    const text = JSON.stringify(devicesPlan({ url: URL }), null, 2).replace(
      '"payload"',
      '"paylod"',
    );
    const result = await squall(['check', workspace.plan(text)]);
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(/groups\.devices\.publish/);
    expect(result.stderr).toContain('payload');
    expect(result.stderr).toMatch(/:\d+:\d+/);
  });

  test('a wrong unit: the error names the units that fit', async () => {
    const file = workspace.plan(devicesPlan({ url: URL, every: '5' }));
    const result = await squall(['check', file]);
    expect(result.code).toBe(104);
    expect(result.stderr).toContain('groups.devices.publish');
    expect(result.stderr).toMatch(/ms/);
  });

  test('all problems are told at once', async () => {
    const plan = {
      ...devicesPlan({ url: URL, every: '5' }),
      thresholds: ['publish_tim: p(99) < 1s'],
    };
    const result = await squall(['check', workspace.plan(plan)]);
    expect(result.stderr).toMatch(/every/);
    expect(result.stderr).toMatch(/publish_time/);
  });

  test('what is not built yet is refused by name', async () => {
    const plan = {
      ...devicesPlan({ url: URL }),
      limits: { onAgentLoss: 'redistribute' },
    };
    const result = await squall(['check', workspace.plan(plan)]);
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(/redistribute is not supported/i);
  });

  test('a stage that can never end', async () => {
    const plan = devicesPlan({ url: URL });
    plan['stages'] = [{ name: 'forever', run: { devices: 'publish' } }];
    const result = await squall(['check', workspace.plan(plan)]);
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(/forever|stages/);
    expect(result.stderr).toMatch(/for|until/);
  });

  test('a plan that is not there', async () => {
    const result = await squall(['run', 'no-such-plan.yaml']);
    expect(result.code).toBe(104);
    expect(result.stderr).toContain('no-such-plan.yaml');
    expect(result.stderr).not.toMatch(STACK);
  });

  test('`run` refuses the same plans with the same code', async () => {
    const result = await workspace.run([workspace.plan('squall: 1\nname: [\n')]);
    expect(result.code).toBe(104);
    expect(result.report).toBeNull();
  });
});

describe.concurrent('secrets', { timeout: 60_000 }, () => {
  const plan = devicesPlan({ url: URL, connect: { retries: 0 }, length: '1s' });
  const groups = plan['groups'] as Record<string, Record<string, unknown>>;
  const devices = { ...groups['devices'], username: 'user', password: '{{env.BROKER_PASSWORD}}' };
  const file = workspace.plan({ ...plan, groups: { devices } });

  test('one that is not set is told before the run', async () => {
    const result = await workspace.run([file], { env: { BROKER_PASSWORD: undefined } });
    expect(result.code).toBe(104);
    expect(result.stderr).toMatch(
      /:[2-9]\d*:\d+: error: groups\.devices\.password: .*BROKER_PASSWORD/,
    );
    const checked = await squall(['check', file], { env: { BROKER_PASSWORD: undefined } });
    expect(checked.code).toBe(0);
    expect(checked.stderr).toMatch(
      /warning: groups\.devices\.password: .*BROKER_PASSWORD is not set/,
    );
  });

  test('stay out of the report and of the terminal', async () => {
    const result = await workspace.run([file], { env: { BROKER_PASSWORD: 'correct-horse' } });
    expect(JSON.stringify(reportOf(result))).not.toContain('correct-horse');
    expect(JSON.stringify(reportOf(result).plan)).toContain('"password":"***"');
    expect(`${result.output}${result.junit}`).not.toContain('correct-horse');
  });
});

describe.concurrent('runs that cannot begin', { timeout: 60_000 }, () => {
  test('an output folder that cannot be written: said before any load', async () => {
    const file = workspace.plan(devicesPlan({ url: URL }));
    const out = unwritable(workspace);
    const result = await squall(['run', file, '--out', out]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(out);
    expect(result.stderr).not.toMatch(STACK);
    expect(result.seconds).toBeLessThan(30);
  });

  test('a JUnit file that cannot be written: the option and the file are named', async () => {
    const file = workspace.plan(devicesPlan({ url: URL }));
    const junit = path.join(unwritable(workspace), 'j.xml');
    const result = await workspace.run([file, '--junit', junit]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(`SQ_OUTPUT: nothing can be written to --junit ${junit}`);
    expect(result.stderr).not.toMatch(STACK);
  });

  test('a folder that holds a report: it is kept, unless --force says otherwise', async () => {
    const plan = devicesPlan({ url: URL, connect: { retries: 0 }, length: '1s' });
    const out = workspace.out();
    const args = ['run', workspace.plan(plan), '--out', out];
    const first = await startSquall(args, out).result;
    const [second, ...others] = await Promise.all([
      squall(args),
      squall(['check', workspace.plan(plan)]),
    ]);
    expect(others[0]?.code).toBe(0);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`--out ${out} holds the report of another run`);
    expect(second.stderr).toContain('--force');
    const third = await startSquall([...args, '--force'], out).result;
    expect(reportOf(third).run.id).not.toBe(reportOf(first).run.id);
  });

  test('too few agents: the run ends with what is missing', async () => {
    const file = workspace.plan(devicesPlan({ url: URL }));
    const port = await freePort();
    const listen = `127.0.0.1:${port}`;
    const args = [file, '--agents-external', '2', '--listen', listen, '--agents-timeout', '2s'];
    const result = await workspace.run(args);
    expect(result.code).toBe(113);
    expect(result.output).toMatch(/0 of 2|2 agents/);
    expect(result.seconds).toBeLessThan(30);
  });

  test.for([
    [24, 'squall needs 192, this process may hold 24'],
    [48, 'squall needs 192, this process may hold 48'],
    [100, 'squall needs 192, this process may hold 100'],
    [200, 'a run of 40 agents on this machine needs 224, this process may hold 200'],
  ] as const)(
    '%i descriptors: told before anything is loaded or started for want of them',
    async ([descriptors, words], { skip }) => {
      const missing = programMissing('prlimit', 'util-linux');
      if (missing !== null) skip(missing);
      const file = workspace.plan(devicesPlan({ url: URL }));
      const result = await workspace.run([file, '--agents', '40'], { descriptors });
      expect(result.code).toBe(113);
      expect(result.stderr).toContain(`error SQ_CAPACITY: too few file descriptors: ${words}\n`);
      expect(result.stderr).toContain('ulimit -n');
      expect(result.output).not.toMatch(STACK);
      expect(result.output).not.toContain('pid');
    },
  );

  test('too few descriptors: the agent refuses its share and says how many it needs', async ({
    skip,
  }) => {
    const missing = programMissing('prlimit', 'util-linux');
    if (missing !== null) skip(missing);
    const file = workspace.plan(devicesPlan({ url: URL, clients: 2_000 }));
    const result = await workspace.run([file], { descriptors: 256 });
    expect(result.code).toBe(113);
    expect(result.output).toMatch(/descriptor/);
    expect(result.output).toMatch(/2[, ]?0\d\d|256/);
    // Who it was is said once, and a table of no figures is none.
    expect(result.output).not.toMatch(/agent-1.*agent agent-1/);
    expect(result.output).not.toMatch(/^group/m);
  });

  test('a wrong token: the agent says so and leaves', async () => {
    const file = workspace.plan(devicesPlan({ url: URL }));
    const port = await freePort();
    const running = workspace.start(
      [file, '--agents-external', '1', '--listen', `127.0.0.1:${port}`, '--agents-timeout', '15s'],
      { env: { SQUALL_TOKEN: 'right' } },
    );
    await running.seen(/ws:\/\/127\.0\.0\.1:\d+/);
    const agent = await squall(['agent', '--controller', `ws://127.0.0.1:${port}`], {
      env: { SQUALL_TOKEN: 'wrong' },
    });
    const none = await squall(['agent', '--controller', `ws://127.0.0.1:${port}`], {
      env: { SQUALL_TOKEN: undefined },
    });
    expect(none.code).toBe(113);
    expect(none.stderr).toMatch(/SQ_TOKEN: no join token was given/);
    expect(none.stderr).toContain('set SQUALL_TOKEN');
    expect(agent.code).toBe(113);
    expect(agent.stderr).toMatch(/SQ_TOKEN: the join token is wrong/);
    expect(agent.output).not.toContain('right');
    running.child.kill('SIGTERM');
    await running.result;
  });

  test('a port that is taken', async () => {
    const file = workspace.plan(devicesPlan({ url: URL }));
    const port = await freePort();
    const args = [file, '--agents-external', '1', '--listen', `127.0.0.1:${port}`];
    const first = workspace.start(args);
    await first.seen(/ws:\/\/127\.0\.0\.1:\d+/);
    const second = await workspace.run(args);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain(`${port}`);
    first.child.kill('SIGTERM');
    await first.result;
  });
});

describe.concurrent('command lines', () => {
  test('help teaches by examples', async () => {
    for (const command of [[], ['run'], ['check'], ['agent'], ['controller']]) {
      const result = await squall([...command, '--help']);
      expect(result.code).toBe(0);
      expect(result.stdout).toMatch(/Examples:/);
    }
  });

  test.for([
    [['run', 'p.yaml', '--agnets', '3'], '--agents'],
    [['rum', 'p.yaml'], 'run'],
    [['run'], 'plan'],
    [['run', 'p.yaml', '--agents', 'many'], 'whole number'],
    [['run', 'p.yaml', '--timeout', '5'], 'ms'],
    [['run', 'p.yaml', '--var', 'novalue'], 'key=value'],
    [['run', 'p.yaml', '--scale', '-1'], 'scale'],
    [['agent'], '--controller'],
  ] as const)('%j is a usage error that says %s', async ([args, words]) => {
    const result = await squall([...args]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(words);
    expect(result.stderr).not.toMatch(STACK);
  });

  test('check prints the plan and the split, exactly and without a run', async () => {
    const file = workspace.plan(devicesPlan({ url: URL, clients: 10 }));
    const result = await squall(['check', file, '--split', '3', '--print']);
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(/agent-1.*devices.*4/);
    expect(result.stdout).toContain('"clients": 10');
    expect(result.stdout).toMatch(/agent-1\s+1\s+devices\s+4\s+1\s+4\n/);
    expect(result.stdout).toContain(
      'count clients from 1, as {{n}} does; report.json counts them from 0',
    );
  });

  test('no colours where nobody sees them', async () => {
    const result = await squall(['check', 'no-such-plan.yaml'], { env: { NO_COLOR: undefined } });
    expect(result.output).not.toContain('\u001B');
  });
});

test('a report is written whenever a run had begun', { timeout: 60_000 }, async () => {
  const plan = devicesPlan({ url: URL, connect: { retries: 0 }, length: '1s' });
  const result = await workspace.run([workspace.plan(plan)]);
  expect(reportOf(result).groups['devices']?.counters).toMatchObject({ connected: 0 });
});
