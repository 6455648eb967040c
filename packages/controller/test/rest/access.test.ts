import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLAN, RestScene, TOKEN } from './rest-fixture.ts';

describe('with a token', () => {
  let scene: RestScene;
  beforeAll(async () => {
    scene = await RestScene.open();
  });
  afterAll(() => scene.close());

  const PATHS = ['/v1/plans', '/v1/runs', '/v1/agents', '/metrics', '/openapi.json', '/nothing'];

  it.each(PATHS)('%s wants it', async (url) => {
    for (const authorization of ['', 'Bearer wrong', `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`]) {
      const headers = authorization === '' ? {} : { authorization };
      const response = await scene.app.inject({ method: 'GET', url, headers });
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toContain('Bearer');
      expect(response.json()).toMatchObject({ code: 'SQ_TOKEN', status: 401 });
    }
  });

  it('nothing is read of a body before it is shown', async () => {
    const headers = { 'content-type': 'application/yaml' };
    const response = await scene.app.inject({
      method: 'POST',
      url: '/v1/plans',
      payload: PLAN,
      headers,
    });
    expect(response.statusCode).toBe(401);
    expect((await scene.get('/v1/plans')).json()).toEqual({ plans: [], next: null });
  });

  it('the word before it may be in any case', async () => {
    const headers = { authorization: `bearer ${TOKEN}` };
    expect((await scene.app.inject({ url: '/v1/plans', headers })).statusCode).toBe(200);
  });

  it.each(['/healthz', '/readyz'])('%s answers without it', async (url) => {
    const response = await scene.app.inject({ url });
    expect(response.statusCode).toBe(200);
  });

  it('a web page of another place is turned away even with it', async () => {
    const other = await scene.get('/v1/plans', { origin: 'http://evil.example' });
    expect(other.json()).toMatchObject({ status: 403 });
    const own = await scene.get('/v1/plans', { origin: 'http://localhost:80', host: 'localhost' });
    expect(own.statusCode).toBe(200);
  });

  it('what there is not is not there', async () => {
    const response = await scene.get('/v2/runs?a=b');
    expect(response.json()).toMatchObject({ status: 404, detail: 'there is no GET /v2/runs' });
  });

  it('a body that is no JSON is refused', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await scene.send('POST', '/v1/runs', { payload: '{"plan":', headers });
    expect(response.json()).toMatchObject({ status: 400, code: 'SQ_REQUEST' });
    const proto = '{"__proto__":{"plan":"x"}}';
    const poisoned = await scene.send('POST', '/v1/runs', { payload: proto, headers });
    expect(poisoned.statusCode).toBe(400);
  });
});

describe('without a token', () => {
  let scene: RestScene;
  beforeAll(async () => {
    scene = await RestScene.open({ token: null });
  });
  afterAll(() => scene.close());

  it.each(['localhost', '127.0.0.1:4747', '[::1]:4747'])('%s is answered', async (host) => {
    expect((await scene.get('/v1/plans', { host })).statusCode).toBe(200);
  });

  it.each(['evil.example', 'evil.example:4747', '192.0.2.1'])(
    'whoever calls it %s is turned away: names can be made to lead here',
    async (host) => {
      expect((await scene.get('/v1/plans', { host })).json()).toMatchObject({ status: 403 });
    },
  );
});
