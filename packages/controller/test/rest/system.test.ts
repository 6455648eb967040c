import { SquallError } from '@squall/core/errors';
import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/store/store.ts';
import { PLAN, RestScene } from './rest-fixture.ts';

let scene: RestScene | null = null;
afterEach(async () => {
  await scene?.close();
  scene = null;
});

/** A store that stops to take anything, and that takes it again. */
class Sick {
  sick = false;

  /** As the service sees it. */
  wrap(store: Store): Store {
    return new Proxy(store, {
      get: (target, name: keyof Store) => {
        const method = target[name];
        return (...args: never[]) =>
          this.sick && name !== 'close' && !READS.has(name)
            ? Promise.reject(new SquallError('SQ_STORE', 'the store has no room left'))
            : Reflect.apply(method, target, args);
      },
    });
  }
}

const READS = new Set(['plan', 'plans', 'run', 'runs', 'report', 'timeline', 'keyUse']);

describe('a store that fails', () => {
  it('takes no new run, and says why', async () => {
    const store = new Sick();
    scene = await RestScene.open({ wrap: (inner) => store.wrap(inner) });
    store.sick = true;
    const refused = await scene.send('POST', '/v1/runs', { payload: { text: PLAN } });
    expect(refused.json()).toMatchObject({ status: 503, code: 'SQ_STORE' });
    expect(refused.headers['retry-after']).toBeDefined();
    expect((await scene.postPlan(PLAN)).statusCode).toBe(503);
    expect((await scene.get('/v1/agents')).statusCode).toBe(200);
    expect(scene.controller.agents()).toEqual([]);
  });

  it('does no harm to a run; its report is there, and is kept as soon as it can be', async () => {
    const store = new Sick();
    scene = await RestScene.open({ agents: [{}], wrap: (inner) => store.wrap(inner) });
    const id = await scene.run({ text: PLAN });
    store.sick = true;
    expect(await scene.over(id)).toMatchObject({ verdict: 'pass' });
    const report = await scene.get(`/v1/runs/${id}/report`);
    expect(report.statusCode).toBe(200);
    expect(report.body).toContain('no room left');
    expect((await scene.get('/readyz')).json()).toMatchObject({ status: 'not ready' });
    expect((await scene.get('/readyz')).statusCode).toBe(503);
    expect((await scene.get('/healthz')).statusCode).toBe(200);
    const early = await scene.send('DELETE', `/v1/runs/${id}`);
    expect(early.statusCode).toBe(409);
    store.sick = false;
    expect((await scene.get('/readyz')).json()).toEqual({ status: 'ready', troubles: [] });
    const { store: kept } = scene;
    await expect.poll(() => kept.report(id), { timeout: 15_000 }).not.toBeNull();
    expect((await scene.get(`/v1/runs/${id}/report`)).statusCode).toBe(200);
  }, 30_000);
});

describe('what describes itself', () => {
  it('has every route in the document, each with its answers', async () => {
    scene = await RestScene.open();
    const response = await scene.get('/openapi.json');
    const document = response.json<{
      openapi: string;
      paths: Record<string, Record<string, { responses: object; summary?: string }>>;
    }>();
    expect(document.openapi).toBe('3.1.0');
    const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(routes.toSorted()).toEqual([
      'DELETE /v1/runs/{id}',
      'GET /healthz',
      'GET /metrics',
      'GET /readyz',
      'GET /v1/agents',
      'GET /v1/plans',
      'GET /v1/plans/{id}',
      'GET /v1/plans/{id}/text',
      'GET /v1/runs',
      'GET /v1/runs/{id}',
      'GET /v1/runs/{id}/agents',
      'GET /v1/runs/{id}/events',
      'GET /v1/runs/{id}/junit',
      'GET /v1/runs/{id}/ledger',
      'GET /v1/runs/{id}/metrics',
      'GET /v1/runs/{id}/report',
      'GET /v1/runs/{id}/thresholds',
      'PATCH /v1/runs/{id}',
      'POST /v1/plans',
      'POST /v1/runs',
      'POST /v1/runs/{id}/stop',
    ]);
    const silent = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .filter(({ summary }) => summary === undefined);
    expect(silent).toEqual([]);
  });

  it('serves the text for Prometheus', async () => {
    scene = await RestScene.open();
    const response = await scene.get('/metrics');
    expect(response.headers['content-type']).toContain('text/plain');
    expect(response.body).toBe('squall_up 1\n');
  });
});

describe('a fault of ours', () => {
  it('is answered as one, and its details are for the log only', async () => {
    scene = await RestScene.open({
      plans: { read: () => Promise.reject(new Error('a detail')) },
    });
    const response = await scene.postPlan(PLAN);
    expect(response.json()).toMatchObject({ status: 500, code: 'SQ_INTERNAL' });
    expect(response.body).not.toContain('a detail');
    expect(scene.warnings.join('\n')).toContain('a detail');
  });
});

describe('when the API closes', () => {
  it('nobody is kept waiting', async () => {
    const closing = await RestScene.open();
    const id = await closing.run({ text: PLAN });
    const waits = closing.get(`/v1/runs/${id}?wait=5m`);
    const events = closing.get(`/v1/runs/${id}/events`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await closing.close();
    expect((await waits).statusCode).toBe(200);
    expect((await events).body).toContain('event: state');
  });
});
