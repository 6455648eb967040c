import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkedPlan, plan, planList } from '../../src/rest/schemas.ts';
import { PLAN, RestScene } from './rest-fixture.ts';

let scene: RestScene;
beforeAll(async () => {
  scene = await RestScene.open();
});
afterAll(() => scene.close());

describe('POST /v1/plans', () => {
  it('keeps a plan and names its place', async () => {
    const response = await scene.postPlan(`${PLAN}# one\n`);
    expect(response.statusCode).toBe(201);
    const body = checkedPlan.parse(response.json());
    expect(body).toMatchObject({ name: 'small', format: 'yaml', warnings: [], secrets: [] });
    expect(body.id).toBe(`p-${body.hash.slice(0, 20)}`);
    expect(response.headers.location).toBe(`/v1/plans/${body.id}`);
  });

  it('knows a plan that it has', async () => {
    const first = await scene.postPlan(`${PLAN}# twice\n`);
    const second = await scene.postPlan(`${PLAN}# twice\n`);
    expect([first.statusCode, second.statusCode]).toEqual([201, 200]);
    expect(second.json()).toEqual(first.json());
    expect(second.headers.location).toBeUndefined();
  });

  it('takes JSON, and keeps it as it was sent', async () => {
    const text = `{ "squall": 1,\n  "name": "json", "targets": { "b": { "protocol": "mqtt", "urls": ["mqtt://h"] } },
      "groups": { "g": { "target": "b", "clients": 1 } }, "stages": [ { "name": "c", "run": { "g": "connect" } } ] }`;
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    const response = await scene.send('POST', '/v1/plans', { payload: text, headers });
    expect(response.statusCode).toBe(201);
    const { id } = checkedPlan.parse(response.json());
    const got = await scene.get(`/v1/plans/${id}/text`);
    expect(got.body).toBe(text);
    expect(got.headers['content-type']).toContain('application/json');
  });

  it('only checks where that is asked for', async () => {
    const response = await scene.postPlan(`${PLAN}# checked\n`, '?validate=true');
    expect(response.statusCode).toBe(200);
    const { id } = checkedPlan.parse(response.json());
    expect((await scene.get(`/v1/plans/${id}`)).statusCode).toBe(404);
  });

  it('tells all that is wrong, with its place', async () => {
    for (const query of ['', '?validate=true']) {
      const wrong = PLAN.replace('clients: 4', 'clients: many').replace('for: 1s', 'for: 1');
      const response = await scene.postPlan(wrong, query);
      expect(response.statusCode).toBe(422);
      expect(response.headers['content-type']).toContain('application/problem+json');
      const body = response.json<{ errors: { path: string; line: number }[] }>();
      expect(body).toMatchObject({ status: 422, path: 'groups.devices.clients' });
      expect(body.errors.map(({ path }) => path)).toEqual([
        'groups.devices.clients',
        'stages[0].for',
      ]);
      expect(body.errors[0]?.line).toBe(11);
    }
  });

  it('names the secrets that a run will need', async () => {
    const text = PLAN.replace('clients: 4', 'clients: 4\n    password: "{{env.BROKER_PASSWORD}}"');
    const response = await scene.postPlan(text);
    expect(checkedPlan.parse(response.json()).secrets).toEqual(['BROKER_PASSWORD']);
  });

  it('names the files that a run will need, without looking at them', async () => {
    const text = PLAN.replace('clients: 4', 'clients: 4\n    from: devices.csv');
    const response = await scene.postPlan(text);
    expect(response.statusCode).toBe(201);
    expect(checkedPlan.parse(response.json())).toMatchObject({ files: ['devices.csv'] });
  });

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['text/yaml', 201],
    ['application/x-yaml', 201],
  ])('of the type %s is answered with %i', async (type, status) => {
    const payload = `${PLAN}# ${type}\n`;
    const headers = { 'content-type': type };
    const response = await scene.send('POST', '/v1/plans', { payload, headers });
    expect(response.statusCode).toBe(status);
  });

  it('says how it wants to be sent', async () => {
    const headers = { 'content-type': 'text/plain' };
    const response = await scene.send('POST', '/v1/plans', { payload: PLAN, headers });
    expect(response.json<{ hint: string }>().hint).toContain('curl');
  });

  it('says so when there is no body, or one with a NUL', async () => {
    expect((await scene.postPlan(' \n')).json()).toMatchObject({ status: 400, code: 'SQ_REQUEST' });
    expect((await scene.postPlan(`${PLAN}\0`)).json()).toMatchObject({ status: 400 });
    expect((await scene.send('POST', '/v1/plans')).statusCode).toBe(400);
  });

  it('refuses what is too long, at once', async () => {
    const response = await scene.postPlan('#'.repeat(50 * 1024 * 1024));
    expect(response.statusCode).toBe(413);
    expect(response.json()).toMatchObject({ code: 'SQ_REQUEST', detail: 'the body is too long' });
  });

  it('refuses a parameter that it does not know the value of', async () => {
    const response = await scene.postPlan(PLAN, '?validate=maybe');
    expect(response.json()).toMatchObject({
      status: 400,
      errors: [{ path: 'querystring.validate' }],
    });
  });
});

describe('GET /v1/plans', () => {
  it('lists page by page, and gives each as it is understood', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const response = await scene.get(`/v1/plans?limit=2${cursor}`);
      const { plans, next } = planList.parse(response.json());
      seen.push(...plans.map(({ id }) => id));
      if (next === null) break;
      cursor = `&cursor=${next}`;
    }
    expect(seen.length).toBeGreaterThan(4);
    expect(new Set(seen).size).toBe(seen.length);
    const one = plan.parse((await scene.get(`/v1/plans/${seen[0]}`)).json());
    expect(one.id).toBe(seen[0]);
    expect(one.plan['squall']).toBe(1);
  });

  it.each(['0', '501', 'x', '1.5'])('refuses the limit %s', async (limit) => {
    expect((await scene.get(`/v1/plans?limit=${limit}`)).statusCode).toBe(400);
  });

  it.each(['p-00000000000000000000', 'x', '%00', '..%2f..%2fetc'])(
    'knows no plan %s',
    async (id) => {
      for (const path of [`/v1/plans/${id}`, `/v1/plans/${id}/text`]) {
        const response = await scene.get(path);
        expect(response.json()).toMatchObject({ status: 404, code: 'SQ_NOT_FOUND' });
      }
    },
  );

  it('shows no password, but in the text that was sent', async () => {
    const text = PLAN.replace('clients: 4', 'clients: 4\n    password: hunter2');
    const { id } = checkedPlan.parse((await scene.postPlan(text)).json());
    expect((await scene.get(`/v1/plans/${id}`)).body).not.toContain('hunter2');
    expect((await scene.get(`/v1/plans/${id}/text`)).body).toBe(text);
  });
});
