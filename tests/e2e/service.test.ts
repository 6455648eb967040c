import { chmodSync, mkdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { devicesPlan } from '../fixtures/plans.ts';
import { until } from '../fixtures/process.ts';
import { checkReport, type ReportJson } from '../fixtures/report-laws.ts';
import { serviceTest as test } from '../fixtures/service-test.ts';
import { type TestService, TOKEN } from '../fixtures/service.ts';
import { reportOf, squall } from '../fixtures/squall.ts';

/** Everything may be written by root: such a test needs somebody else. */
const NOBODY = 65_534;

interface RunJson {
  readonly id: string;
  readonly state: string;
  readonly stage: string | null;
  readonly verdict: string | null;
}

describe('a controller that serves runs', { timeout: 90_000 }, () => {
  test('takes a plan by HTTP, is watched over events, judges, gives the report', async ({
    broker,
    serve,
  }) => {
    const service = await serve({ agents: ['north', 'south'] });
    const text = JSON.stringify(
      devicesPlan({ url: broker.url, length: '5s', thresholds: ['publish_failed: count == 0'] }),
    );
    const plan = await service.json<{ id: string }>('/v1/plans', {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: text,
    });
    const run = await service.post<RunJson>('/v1/runs', { plan: plan.id, labels: { by: 'curl' } });
    const events = await watched(service, run.id);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events.map(({ type }) => type)).toContain('progress');
    expect(events.at(-1)?.type).toBe('done');

    const over = await service.json<RunJson>(`/v1/runs/${run.id}?wait=30s`);
    expect(over).toMatchObject({ state: 'done', verdict: 'pass' });
    const report = await service.json<ReportJson>(`/v1/runs/${run.id}/report`);
    checkReport(report, 0);
    expect(report.agents.map(({ id }) => id)).toEqual(['north', 'south']);
    const { sent, acked } = report.groups['devices']?.counters ?? {};
    expect([sent, acked]).toEqual([250, 250]);
    const curve = await service.json<{ series: { count: number[] }[] }>(
      `/v1/runs/${run.id}/metrics?metric=acked`,
    );
    const counted = curve.series.flatMap(({ count }) => count).reduce((sum, n) => sum + n, 0);
    expect(Math.round(counted)).toBe(250);
    const junit = await service.fetch(`/v1/runs/${run.id}/junit`);
    expect(await junit.text()).toContain('publish_failed: count == 0');
  });

  test('carries two runs out at once over agents of their own, and a third in its turn', async ({
    broker,
    serve,
  }) => {
    const service = await serve({ agents: ['north', 'south'] });
    const limits = { agents: { count: 1 } };
    const text = JSON.stringify(
      devicesPlan({ url: broker.url, limits, length: '6s', clients: 20 }),
    );
    const submit = () => service.post<RunJson>('/v1/runs', { text });
    const runs = [await submit(), await submit(), await submit()];
    const states = async () =>
      Promise.all(
        runs.map(async ({ id }) => (await service.json<RunJson>(`/v1/runs/${id}`)).stage ?? 'none'),
      );
    await until('two are in their load', async () => {
      const [first, second] = await states();
      return first === 'publish' && second === 'publish';
    });
    expect(await states()).toEqual(['publish', 'publish', 'none']);
    const reports = [];
    for (const { id } of runs) {
      await service.json(`/v1/runs/${id}?wait=60s`);
      reports.push(await service.json<ReportJson>(`/v1/runs/${id}/report`));
    }
    for (const report of reports) checkReport(report, 0);
    const agents = reports.map((report) => report.agents.map(({ id }) => id).join(' '));
    expect(agents.slice(0, 2).toSorted()).toEqual(['north', 'south']);
    expect(reports.map((report) => report.groups['devices']?.counters['acked'])).toEqual([
      120, 120, 120,
    ]);
    // Three runs over one broker under the same names: each has client ids of its own.
    expect(
      reports.map((report) => report.groups['devices']?.counters['disconnected'] ?? 0),
    ).toEqual([0, 0, 0]);
  });

  test('is commanded from the command line', async ({ broker, serve, workspace }) => {
    const service = await serve({ agents: ['north'] });
    const good = workspace.plan(
      devicesPlan({ url: broker.url, length: '2s', thresholds: ['acked: count > 0'] }),
    );
    const bad = workspace.plan(
      devicesPlan({ url: broker.url, length: '2s', thresholds: ['acked: count == 0'] }),
    );
    const out = workspace.out();
    const passed = await service.command(['run', good, '--label', 'a=b', '--out', out], out).result;
    expect(passed.code).toBe(0);
    expect(reportOf(passed).verdict).toBe('pass');
    expect(passed.junit).toContain('<testsuite');
    const failedOut = workspace.out();
    const failed = await service.command(['run', bad, '--out', failedOut], failedOut).result;
    expect(failed.code).toBe(99);

    const listed = await service.command(['runs', '--label', 'a=b', '--json']).result;
    const [run] = JSON.parse(listed.stdout) as RunJson[];
    expect(run).toMatchObject({ state: 'done', verdict: 'pass' });
    const id = run?.id ?? '';
    const status = await service.command(['status', id]).result;
    expect(status.stdout).toContain('acked: count > 0');
    for (const [format, words] of [
      ['text', 'verdict'],
      ['json', '"schema": "squall.report/1"'],
      ['junit', '<testsuites'],
    ] as const) {
      const report = await service.command(['report', id, '--format', format]).result;
      expect(report.code).toBe(0);
      expect(report.stdout).toContain(words);
    }
    expect((await service.command(['agents']).result).stdout).toContain('north');
    const stopped = await service.command(['stop', id]).result;
    expect(stopped).toMatchObject({ code: 2 });
    expect(stopped.stderr).toContain('SQ_STATE');
  });

  test('goes on with a run that nobody waits for any more', async ({
    broker,
    serve,
    workspace,
  }) => {
    const service = await serve({ agents: ['north'] });
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '1h' }));
    const left = await service.command(['run', plan, '--no-wait', '--quiet']).result;
    expect(left).toMatchObject({ code: 0, stderr: '' });
    const id = left.stdout.trim();
    const impatient = await service.command(['status', id, '--wait', '--timeout', '1s']).result;
    expect(impatient.code).toBe(114);
    expect(await service.json(`/v1/runs/${id}`)).toMatchObject({ verdict: null });
    const out = workspace.out();
    const waits = service.command(['status', id, '--wait', '--out', out], out);
    await waits.seen(/stage publish|publish {2}/);
    expect((await service.command(['stop', id]).result).code).toBe(0);
    const ended = await waits.result;
    expect(ended.code).toBe(103);
    expect(reportOf(ended)).toMatchObject({ verdict: 'cancelled' });
  });

  test('is told by a Ctrl-C of the one who waits', async ({ broker, serve, workspace }) => {
    const service = await serve({ agents: ['north'] });
    const plan = workspace.plan(devicesPlan({ url: broker.url, length: '1h' }));
    const out = workspace.out();
    const run = service.command(['run', plan, '--out', out], out);
    await run.seen(/stage publish/);
    run.child.kill('SIGINT');
    const ended = await run.result;
    expect(ended.code).toBe(103);
    expect(reportOf(ended).stages.at(-1)?.endedBy).toBe('stopped');
  });

  test('ends its runs when it is told to end, and writes their reports', async ({
    broker,
    serve,
  }) => {
    const service = await serve({ agents: ['north'], store: 'ending.db' });
    const text = JSON.stringify(devicesPlan({ url: broker.url, length: '1h' }));
    const { id } = await service.post<RunJson>('/v1/runs', { text });
    await until(
      'it is in its load',
      async () => (await service.json<RunJson>(`/v1/runs/${id}`)).stage === 'publish',
    );
    service.controller.child.kill('SIGINT');
    expect(await service.controller.ended).toMatchObject({ code: 0 });
    const next = await serve({ store: 'ending.db' });
    expect(await next.json(`/v1/runs/${id}`)).toMatchObject({ verdict: 'cancelled' });
    checkReport(await next.json<ReportJson>(`/v1/runs/${id}/report`), 105);
  });
});

describe('what is asked wrongly', { timeout: 60_000 }, () => {
  test('over HTTP has a clear answer', async ({ serve }) => {
    const service = await serve();
    const big = await service.fetch('/v1/plans', {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: '#'.repeat(50 * 1024 * 1024),
    });
    expect(big.status).toBe(413);
    expect(await big.json()).toMatchObject({ code: 'SQ_REQUEST' });
    const stranger = await fetch(new URL('/v1/runs', service.url));
    expect(stranger.status).toBe(401);
    // The keys of a map are looked through for each further one: a text made to keep a reader busy.
    const slow = Array.from({ length: 80_000 }, (_, n) => `k${n}: v`).join('\n');
    const startedAt = performance.now();
    const [answer, alive] = await Promise.all([
      service.fetch('/v1/plans', {
        method: 'POST',
        headers: { 'content-type': 'application/yaml' },
        body: slow,
      }),
      aliveThrough(service, 3_000),
    ]);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: 'SQ_PLAN' });
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    expect(alive).toBeLessThan(1_000);
  });

  test('on the command line says what to do next', async ({ serve, workspace }) => {
    const plan = workspace.plan(devicesPlan({ url: 'mqtt://127.0.0.1:1' }));
    const nobody = { env: { SQUALL_TOKEN: TOKEN } };
    const missing = await squall(['runs'], nobody);
    expect(missing).toMatchObject({ code: 2 });
    expect(missing.stderr).toContain('SQUALL_CONTROLLER');
    const away = await squall(['run', plan, '--controller', 'http://127.0.0.1:1'], nobody);
    expect(away.code).toBe(2);
    expect(away.stderr).toContain('SQ_REMOTE');
    const both = await squall(
      ['run', plan, '--controller', 'http://127.0.0.1:1', '--with-broker'],
      nobody,
    );
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('--with-broker');
    const store = `${workspace.folder}/open.db`;
    const open = await squall(['controller', '--listen', '0.0.0.0:0', '--store', store], {
      env: { SQUALL_TOKEN: undefined },
    });
    expect(open.code).toBe(2);
    expect(open.stderr).toContain('SQUALL_TOKEN');
    const mixed = await squall(['controller', '--plan', plan, '--agents', '1', '--store', 'x.db']);
    expect(mixed.code).toBe(2);
    expect(mixed.stderr).toContain('--store');
    const service = await serve({ store: 'wrong.db' });
    const wrong = await squall(['runs', '--controller', service.url], {
      env: { SQUALL_TOKEN: 'wrong' },
    });
    expect(wrong.code).toBe(113);
    expect(wrong.stderr).toContain('SQ_TOKEN');
    const faulty = workspace.plan('squall: 1\nname: x\n');
    const refused = await service.command(['run', faulty]).result;
    expect(refused.code).toBe(104);
    expect(refused.stderr).toContain(faulty);
  });

  test('a store is of one controller, and of one that may write to it', async ({
    serve,
    workspace,
  }) => {
    await serve({ store: 'mine.db' });
    const file = `${workspace.folder}/mine.db`;
    const second = await squall(['controller', '--listen', '127.0.0.1:0', '--store', file]);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('SQ_STORE');
    expect(second.stderr).toContain('another controller');
    const nowhere = await squall(['controller', '--store', `${workspace.folder}/no/such/x.db`]);
    expect(nowhere.code).toBe(2);
    expect(nowhere.stderr).toContain('cannot be opened');
    const readOnly = `${workspace.folder}/read-only`;
    mkdirSync(readOnly);
    chmodSync(readOnly, 0o555);
    chmodSync(workspace.folder, 0o755);
    const refused = await squall(['controller', '--store', `${readOnly}/x.db`], {
      user: NOBODY,
    });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('the store is read-only');
  });
});

interface SeenEvent {
  readonly id: string;
  readonly type: string;
}

/** Reads a run's events to the end, leaving after every tenth and coming back behind it. */
async function watched(own: TestService, run: string): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  for (;;) {
    const leaving = new AbortController();
    const last = seen.at(-1)?.id;
    const response = await own.fetch(`/v1/runs/${run}/events`, {
      headers: last === undefined ? {} : { 'last-event-id': last },
      signal: leaving.signal,
    });
    if (response.status === 204 || response.body === null) return seen;
    let text = '';
    let count = 0;
    try {
      for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
        text += bytes;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const match = /^id: (\S+)\nevent: (\S+)\n/.exec(block);
          if (match === null) continue;
          seen.push({ id: match[1] ?? '', type: match[2] ?? '' });
          if (++count === 10) leaving.abort();
        }
      }
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
  }
}

/** The longest time that an answer took, ms. */
async function aliveThrough(own: TestService, ms: number): Promise<number> {
  const endMs = performance.now() + ms;
  let longest = 0;
  while (performance.now() < endMs) {
    const startedAt = performance.now();
    await own.fetch('/healthz');
    longest = Math.max(longest, performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return longest;
}
