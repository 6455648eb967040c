import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run, runList, submittedRun } from '../../src/rest/schemas.ts';
import { checkedPlan } from '../../src/rest/schemas.ts';
import { LONG_PLAN, PLAN, RestScene } from './rest-fixture.ts';

let scene: RestScene;
beforeAll(async () => {
  scene = await RestScene.open();
});
afterAll(() => scene.close());

/** A run that waits for agents for as long as it is let. */
function waiting(more: Record<string, unknown> = {}): Promise<string> {
  return scene.run({ text: PLAN, ...more });
}

const base64 = (content: string) => Buffer.from(content).toString('base64');

describe('POST /v1/runs', () => {
  it('starts a run of a plan that is known', async () => {
    const { id: plan } = checkedPlan.parse((await scene.postPlan(PLAN)).json());
    const payload = { plan, labels: { env: 'ci' }, notes: 'a note', strict: true, timeout: '30m' };
    const response = await scene.send('POST', '/v1/runs', { payload });
    expect(response.statusCode).toBe(201);
    const body = submittedRun.parse(response.json());
    expect(response.headers.location).toBe(`/v1/runs/${body.id}`);
    expect(body).toMatchObject({
      plan,
      name: 'small',
      state: 'waiting',
      labels: { team: 'test', env: 'ci' },
      notes: 'a note',
      verdict: null,
      startedAt: null,
      options: { strict: true, scale: 1, timeoutUs: 1_800_000_000, agents: null, vars: {} },
    });
    expect(run.parse((await scene.get(`/v1/runs/${body.id}`)).json()).id).toBe(body.id);
  });

  it('starts a run of a plan that comes with it, and keeps the plan', async () => {
    const id = await waiting();
    const { plan } = run.parse((await scene.get(`/v1/runs/${id}`)).json());
    expect((await scene.get(`/v1/plans/${plan}/text`)).body).toBe(PLAN);
  });

  it('shows no secret variable', async () => {
    const text = PLAN.replace('vars: {', 'vars: { token: x,').replace(
      '{{topic}}',
      '{{topic}}{{token}}',
    );
    const id = await scene.run({ text, vars: { topic: 'a', token: 'hunter2' } });
    const response = await scene.get(`/v1/runs/${id}`);
    expect(run.parse(response.json()).options.vars).toEqual({ topic: 'a', token: '***' });
  });

  it.each([
    [{}, 'one of plan and text'],
    [{ plan: 'p-1', text: PLAN }, 'one of plan and text'],
    [{ text: PLAN, nothing: 1 }, 'nothing'],
    [{ text: PLAN, scale: 0 }, 'scale'],
    [{ text: PLAN, timeout: '30' }, 'timeout'],
    [{ text: PLAN, agents: 0 }, 'agents'],
    [{ text: PLAN, notes: 'a\0b' }, 'NUL'],
    [{ text: PLAN, labels: { 'a\0b': 'c' } }, 'labels'],
    [{ text: PLAN, labels: { a: 1 } }, 'labels'],
    [{ text: ' ' }, 'empty'],
  ])('refuses %j', async (payload, words) => {
    const response = await scene.send('POST', '/v1/runs', { payload });
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'SQ_REQUEST' });
    expect(response.body).toContain(words);
  });

  it('refuses too many labels', async () => {
    const labels = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, 'v']));
    const response = await scene.send('POST', '/v1/runs', { payload: { text: PLAN, labels } });
    expect(response.statusCode).toBe(400);
  });

  it('knows no plan that is not there', async () => {
    const response = await scene.send('POST', '/v1/runs', { payload: { plan: 'p-0' } });
    expect(response.json()).toMatchObject({ status: 404, code: 'SQ_NOT_FOUND', path: 'p-0' });
  });

  it('tells what is wrong with the plan, also by what it is given', async () => {
    const wrong = [
      { text: PLAN.replace('qos: 1', 'qos: 7') },
      { text: PLAN, vars: { nope: '1' } },
      { text: PLAN.replace('clients: 4', 'clients: 4\n    password: "{{env.BROKER_PASSWORD}}"') },
    ];
    for (const payload of wrong) {
      const response = await scene.send('POST', '/v1/runs', { payload });
      expect(response.statusCode).toBe(422);
      expect(response.json<{ errors: unknown[] }>().errors.length).toBeGreaterThan(0);
    }
  });

  it('takes the secrets that the plan needs and keeps them nowhere', async () => {
    const text = PLAN.replace('clients: 4', 'clients: 4\n    password: "{{env.BROKER_PASSWORD}}"');
    const id = await scene.run({ text, env: { BROKER_PASSWORD: 'hunter2', OTHER: 'x' } });
    for (const path of [`/v1/runs/${id}`, '/v1/runs', '/v1/plans']) {
      expect((await scene.get(path)).body).not.toContain('hunter2');
    }
  });

  describe('with files', () => {
    const text = PLAN.replace('clients: 4', 'clients: 2\n    from: devices.csv');

    it('takes those that the plan names and keeps them nowhere', async () => {
      const csv = base64('id,secret\na,hunter3\nb,hunter4\n');
      const id = await scene.run({ text, files: { 'devices.csv': csv, other: base64('x') } });
      for (const path of [`/v1/runs/${id}`, '/v1/runs', '/v1/plans']) {
        const { body } = await scene.get(path);
        expect(body).not.toContain('hunter3');
        expect(body).not.toContain(csv);
      }
    });

    it.each([
      [{}, 'devices.csv did not come with the plan'],
      [{ 'devices.csv': base64('id\na\n') }, 'devices.csv has 1 rows for 2 clients'],
      [{ 'devices.csv': base64('id\na,b\n') }, 'line 2 of the CSV file has 2 fields'],
    ])('says what is wrong with %j', async (files, message) => {
      const payload = { text, files };
      const response = await scene.send('POST', '/v1/runs', { payload });
      expect(response.statusCode).toBe(422);
      const { errors } = response.json<{ errors: { path: string; message: string }[] }>();
      expect(errors).toEqual([
        expect.objectContaining({
          path: 'groups.devices.from',
          message: expect.stringContaining(message),
        }),
      ]);
    });

    it('are base64', async () => {
      const payload = { text, files: { 'devices.csv': 'id,\n' } };
      const response = await scene.send('POST', '/v1/runs', { payload });
      expect(response.statusCode).toBe(400);
    });
  });

  it('is one run, however often it comes with the same key', async () => {
    const headers = { 'idempotency-key': 'key-1' };
    const send = (payload: object) => scene.send('POST', '/v1/runs', { payload, headers });
    const [first, second, third] = await Promise.all([
      send({ text: PLAN }),
      send({ text: PLAN }),
      send({ text: PLAN }),
    ]);
    const later = await send({ text: PLAN });
    const ids = [first, second, third, later].map((response) => response.json<{ id: string }>().id);
    expect(new Set(ids).size).toBe(1);
    expect([first, second, third, later].map(({ statusCode }) => statusCode)).toEqual([
      201, 201, 201, 201,
    ]);
    expect(later.headers['idempotent-replayed']).toBe('true');
    expect(later.headers.location).toBe(first.headers.location);
    const other = await send({ text: PLAN, notes: 'another' });
    expect(other.json()).toMatchObject({ status: 422, code: 'SQ_STATE' });
  });

  it.each(['', 'with space', 'x'.repeat(256)])('refuses the key "%s"', async (key) => {
    const headers = { 'idempotency-key': key };
    const response = await scene.send('POST', '/v1/runs', { payload: { text: PLAN }, headers });
    expect(response.statusCode).toBe(400);
  });

  it('has a queue with an end', async () => {
    const full = await RestScene.open();
    try {
      for (let n = 0; n < 100; n++) await full.run({ text: PLAN });
      const response = await full.send('POST', '/v1/runs', { payload: { text: PLAN } });
      expect(response.json()).toMatchObject({ status: 503, code: 'SQ_BUSY' });
      expect(response.headers['retry-after']).toBe('5');
    } finally {
      await full.close();
    }
  });
});

describe('GET /v1/runs', () => {
  it('filters and pages', async () => {
    const mark = { batch: 'paging' };
    const ids = [];
    for (let n = 0; n < 5; n++) ids.push(await waiting({ labels: { ...mark, n: `${n}` } }));
    const newest = ids.toSorted().toReversed();
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const response = await scene.get(`/v1/runs?label=batch%3Dpaging&limit=2${cursor}`);
      const { runs, next } = runList.parse(response.json());
      seen.push(...runs.map(({ id }) => id));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(seen).toEqual(newest);
    const both = await scene.get('/v1/runs?label=batch%3Dpaging&label=n%3D3');
    expect(runList.parse(both.json()).runs.map(({ id }) => id)).toEqual([ids[3]]);
    const none = await scene.get('/v1/runs?label=batch%3Dpaging&state=done');
    expect(none.json()).toEqual({ runs: [], next: null });
    const named = await scene.get('/v1/runs?name=small&state=active&limit=1');
    expect(runList.parse(named.json()).runs).toHaveLength(1);
  });

  it.each(['label=novalue', 'label==x', 'state=lost', 'verdict=maybe', 'limit=0'])(
    'refuses %s',
    async (query) => {
      expect((await scene.get(`/v1/runs?${query}`)).json()).toMatchObject({ status: 400 });
    },
  );
});

describe('GET /v1/runs/{id}', () => {
  it('knows no run that is not there', async () => {
    for (const path of [
      '',
      '/events',
      '/metrics',
      '/thresholds',
      '/ledger',
      '/agents',
      '/report',
      '/junit',
    ]) {
      const response = await scene.get(`/v1/runs/20261130t000000-aaaaaaaa${path}`);
      expect(response.json(), path).toMatchObject({ status: 404, code: 'SQ_NOT_FOUND' });
    }
    const wait = await scene.get('/v1/runs/nothing?wait=10s');
    expect(wait.statusCode).toBe(404);
  });

  it('says by its tag that nothing has changed', async () => {
    const id = await waiting();
    const first = await scene.get(`/v1/runs/${id}`);
    const etag = String(first.headers.etag);
    const same = await scene.get(`/v1/runs/${id}`, { 'if-none-match': etag });
    expect(same.statusCode).toBe(304);
    expect(same.body).toBe('');
    await scene.send('PATCH', `/v1/runs/${id}`, { payload: { notes: 'new' } });
    const other = await scene.get(`/v1/runs/${id}`, { 'if-none-match': etag });
    expect(other.statusCode).toBe(200);
    expect(other.headers.etag).not.toBe(etag);
  });

  it('waits for the end, and no longer than asked', async () => {
    const id = await waiting();
    const startedAt = performance.now();
    const early = await scene.get(`/v1/runs/${id}?wait=200ms`);
    expect(performance.now() - startedAt).toBeGreaterThan(190);
    expect(early.json()).toMatchObject({ state: 'waiting' });
    const waits = scene.get(`/v1/runs/${id}?wait=20s`);
    await scene.send('POST', `/v1/runs/${id}/stop`);
    expect((await waits).json()).toMatchObject({ state: 'done', verdict: 'cancelled' });
    const over = await scene.get(`/v1/runs/${id}?wait=20s`);
    expect(over.json()).toMatchObject({ state: 'done' });
  });

  it('waits for a change, where the reader says what it knows', async () => {
    const id = await waiting();
    const { etag } = (await scene.get(`/v1/runs/${id}`)).headers;
    const known = { 'if-none-match': String(etag) };
    const nothing = await scene.get(`/v1/runs/${id}?wait=100ms`, known);
    expect(nothing.statusCode).toBe(304);
    const waits = scene.get(`/v1/runs/${id}?wait=20s`, known);
    await scene.send('PATCH', `/v1/runs/${id}`, { payload: { labels: { a: 'b' } } });
    expect((await waits).json()).toMatchObject({ state: 'waiting', labels: { a: 'b' } });
  });

  it.each(['60', '-1s', '6m', 'x'])('refuses to wait %s', async (wait) => {
    const id = await waiting();
    expect((await scene.get(`/v1/runs/${id}?wait=${wait}`)).json()).toMatchObject({
      status: 400,
      errors: [{ path: 'querystring.wait' }],
    });
  });
});

describe('PATCH /v1/runs/{id}', () => {
  it('merges labels and replaces notes, in the run and in the store', async () => {
    const id = await waiting({ labels: { a: '1', b: '2' }, notes: 'old' });
    const headers = { 'content-type': 'application/merge-patch+json' };
    const payload = JSON.stringify({ labels: { a: null, c: '3' } });
    const first = await scene.send('PATCH', `/v1/runs/${id}`, { payload, headers });
    expect(first.json()).toMatchObject({ labels: { b: '2', c: '3', team: 'test' }, notes: 'old' });
    expect(first.json<{ labels: object }>().labels).not.toHaveProperty('a');
    await scene.send('PATCH', `/v1/runs/${id}`, { payload: { notes: '' } });
    await scene.send('POST', `/v1/runs/${id}/stop`);
    await scene.over(id);
    expect(await scene.store.run(id)).toMatchObject({ notes: '', labels: { b: '2', c: '3' } });
    const after = await scene.send('PATCH', `/v1/runs/${id}`, { payload: { notes: 'late' } });
    expect(after.json()).toMatchObject({ notes: 'late', state: 'done' });
    const found = await scene.get('/v1/runs?label=c%3D3');
    expect(runList.parse(found.json()).runs).toHaveLength(1);
  });

  it('does not change what somebody else has changed', async () => {
    const id = await waiting();
    const { etag } = (await scene.get(`/v1/runs/${id}`)).headers;
    const headers = { 'if-match': String(etag) };
    const first = await scene.send('PATCH', `/v1/runs/${id}`, { payload: { notes: '1' }, headers });
    const second = await scene.send('PATCH', `/v1/runs/${id}`, {
      payload: { notes: '2' },
      headers,
    });
    expect([first.statusCode, second.statusCode]).toEqual([200, 412]);
    expect(second.json()).toMatchObject({ code: 'SQ_STATE' });
    const any = { 'if-match': '*' };
    const third = await scene.send('PATCH', `/v1/runs/${id}`, {
      payload: { notes: '3' },
      headers: any,
    });
    expect(third.statusCode).toBe(200);
  });

  it('refuses what cannot be changed, and runs that are not there', async () => {
    const id = await waiting();
    const wrong = await scene.send('PATCH', `/v1/runs/${id}`, { payload: { verdict: 'pass' } });
    expect(wrong.statusCode).toBe(400);
    const missing = await scene.send('PATCH', '/v1/runs/nothing', { payload: { notes: 'x' } });
    expect(missing.statusCode).toBe(404);
  });
});

describe('POST /v1/runs/{id}/stop', () => {
  it('ends a run that waits; then it is over', async () => {
    const id = await waiting();
    const response = await scene.send('POST', `/v1/runs/${id}/stop`, { payload: { mode: 'hard' } });
    expect(response.statusCode).toBe(202);
    expect(run.parse(response.json()).id).toBe(id);
    expect(await scene.over(id)).toMatchObject({ verdict: 'cancelled', exitCode: 103 });
    const again = await scene.send('POST', `/v1/runs/${id}/stop`);
    expect(again.json()).toMatchObject({ status: 409, code: 'SQ_STATE' });
  });

  it('refuses other modes, and runs that are not there', async () => {
    const id = await waiting();
    const wrong = await scene.send('POST', `/v1/runs/${id}/stop`, { payload: { mode: 'soft' } });
    expect(wrong.statusCode).toBe(400);
    expect((await scene.send('POST', '/v1/runs/nothing/stop')).statusCode).toBe(404);
  });

  it('is not done by GET', async () => {
    const id = await waiting();
    expect((await scene.get(`/v1/runs/${id}/stop`)).statusCode).toBe(404);
    expect((await scene.get(`/v1/runs/${id}`)).json()).toMatchObject({ state: 'waiting' });
  });
});

describe('DELETE /v1/runs/{id}', () => {
  it('deletes a run that is over, not one that goes on', async () => {
    const id = await waiting();
    const early = await scene.send('DELETE', `/v1/runs/${id}`);
    expect(early.json()).toMatchObject({ status: 409, code: 'SQ_STATE' });
    await scene.send('POST', `/v1/runs/${id}/stop`);
    await scene.over(id);
    await expect
      .poll(async () => (await scene.send('DELETE', `/v1/runs/${id}`)).statusCode)
      .toBe(204);
    expect((await scene.get(`/v1/runs/${id}`)).statusCode).toBe(404);
    expect((await scene.get(`/v1/runs/${id}/events`)).statusCode).toBe(404);
    expect((await scene.send('DELETE', `/v1/runs/${id}`)).statusCode).toBe(404);
  });
});

it('runs go side by side over agents of their own, and wait for their turn', async () => {
  const own = await RestScene.open({ agents: [{}, {}] });
  try {
    const first = await own.run({ text: LONG_PLAN });
    const second = await own.run({ text: LONG_PLAN });
    const third = await own.run({ text: PLAN });
    await expect
      .poll(async () => (await own.get(`/v1/runs/${second}`)).json())
      .toMatchObject({
        state: 'running',
      });
    expect((await own.get(`/v1/runs/${third}`)).json()).toMatchObject({ state: 'waiting' });
    const agents = (await own.get('/v1/agents')).json<{ agents: { run: string }[] }>().agents;
    expect(agents.map((agent) => agent.run)).toEqual([first, second]);
    await own.send('POST', `/v1/runs/${first}/stop`);
    await own.over(first);
    await expect
      .poll(async () => (await own.get(`/v1/runs/${third}`)).json())
      .toMatchObject({
        state: 'assigning',
      });
  } finally {
    await own.close();
  }
});
