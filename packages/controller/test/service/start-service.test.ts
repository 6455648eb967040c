import { existsSync, readdirSync } from 'node:fs';
import { readPlan } from '@squall/core/plan';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Service,
  type ServiceOptions,
  startService,
} from '../../src/service/start-service.ts';
import { PLAN } from '../rest/rest-fixture.ts';
import { ScriptedAgent } from '../scripted-agent.ts';
import { StoreFolder } from '../store/store-fixture.ts';

let folder: StoreFolder;
const open = new Set<Service>();
const agents: ScriptedAgent[] = [];

beforeEach(() => {
  folder = new StoreFolder();
});
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.die();
  for (const service of open) await service.close();
  open.clear();
  await folder.dispose();
});

async function start(more: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await startService({
    host: '127.0.0.1',
    port: 0,
    store: folder.file(),
    version: '0.1.0',
    retentionMs: null,
    timing: { leadUs: 150_000, gridUs: 50_000 },
    plans: { read: (text, options) => Promise.resolve(readPlan(text, options)) },
    ...more,
  });
  open.add(service);
  return service;
}

async function close(service: Service): Promise<void> {
  open.delete(service);
  await service.close();
}

/** A request with this token. */
async function ask(
  { port }: Service,
  path: string,
  { token, body }: { readonly token?: string; readonly body?: unknown } = {},
): Promise<{ status: number; json: Record<string, unknown>; text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.status, json, text };
}

async function join(service: Service, token: string): Promise<ScriptedAgent> {
  const agent = new ScriptedAgent({ url: service.url, id: `a${agents.length}`, token });
  agents.push(agent);
  await agent.join();
  return agent;
}

describe('one port', () => {
  it('serves requests and agents by one token', async () => {
    const service = await start({ token: 'both' });
    await join(service, 'both');
    const { json } = await ask(service, '/v1/agents', { token: 'both' });
    expect(json).toMatchObject({ agents: [{ id: 'a0', connected: true }] });
  });

  it('serves them by a token each, where agents have one of their own', async () => {
    const service = await start({ token: 'for the API', agentToken: 'for agents' });
    await join(service, 'for agents');
    expect((await ask(service, '/v1/agents', { token: 'for agents' })).status).toBe(401);
    expect((await ask(service, '/v1/agents', { token: 'for the API' })).status).toBe(200);
    await expect(join(service, 'for the API')).rejects.toThrow('closed before welcome');
  });
});

describe('what cannot be started', () => {
  it.each([
    ['an address that others reach', { host: '0.0.0.0' }, 'SQ_LISTEN'],
    ['a bus that is down', { redis: { url: 'redis://127.0.0.1:1' } }, 'SQ_BUS'],
  ] as const)('leaves no store behind: %s', async (_why, options, code) => {
    await expect(start(options)).rejects.toThrow(expect.objectContaining({ code }));
    expect(readdirSync(folder.folder)).toEqual([]);
  });

  it('leaves a store that was there', async () => {
    await close(await start());
    await expect(start({ host: '0.0.0.0' })).rejects.toThrow(/loopback only/);
    expect(existsSync(folder.file())).toBe(true);
  });
});

describe('the figures of a run', () => {
  it('are in the metrics while it goes on and a moment longer, then they go away', async () => {
    const service = await start({ lingerUs: 500_000 });
    await join(service, '');
    const { json } = await ask(service, '/v1/runs', { body: { text: PLAN } });
    const run = String(json['id']);
    expect((await ask(service, `/v1/runs/${run}?wait=20s`)).json['state']).toBe('done');
    const labels = `{run="${run}",group="devices",stage="publish"}`;
    expect((await ask(service, '/metrics')).text).toContain(`squall_run_acked_total${labels}`);
    await expect.poll(async () => (await ask(service, '/metrics')).text).not.toContain(run);
  }, 20_000);
});

describe('what was served', () => {
  it('is there when the service is started again', async () => {
    const first = await start();
    await join(first, '');
    const { json } = await ask(first, '/v1/runs', { body: { text: PLAN, notes: 'mine' } });
    await ask(first, `/v1/runs/${String(json['id'])}?wait=20s`);
    await close(first);
    const second = await start();
    const run = await ask(second, `/v1/runs/${String(json['id'])}`);
    expect(run.json).toMatchObject({ state: 'done', verdict: 'pass', notes: 'mine' });
    const report = await ask(second, `/v1/runs/${String(json['id'])}/report`);
    expect(report.json).toMatchObject({ verdict: 'pass' });
    const events = await ask(second, `/v1/runs/${String(json['id'])}/events`);
    expect(events.text).toContain('event: done');
  }, 20_000);

  it('is ended with its report when the service closes', async () => {
    const first = await start();
    const { json } = await ask(first, '/v1/runs', { body: { text: PLAN } });
    expect(first.activeRuns).toBe(1);
    await close(first);
    const second = await start();
    const run = await ask(second, `/v1/runs/${String(json['id'])}`);
    expect(run.json).toMatchObject({ state: 'done', verdict: 'cancelled' });
  });

  it('is left to the next one where that is asked for', async () => {
    const first = await start();
    const { json } = await ask(first, '/v1/runs', { body: { text: PLAN } });
    open.delete(first);
    await first.leave();
    const second = await start();
    expect(second.activeRuns).toBe(1);
    const run = await ask(second, `/v1/runs/${String(json['id'])}`);
    expect(run.json).toMatchObject({ state: 'waiting' });
  });

  it('keeps a second service out, which leaves no trace', async () => {
    const first = await start();
    await expect(start()).rejects.toMatchObject({ code: 'SQ_STORE' });
    expect((await ask(first, '/readyz')).status).toBe(200);
    await expect(start({ store: folder.file('other.db'), port: first.port })).rejects.toMatchObject(
      {
        code: 'SQ_LISTEN',
      },
    );
    // The store of the one that could not listen was given back.
    await start({ store: folder.file('other.db') });
  });
});
