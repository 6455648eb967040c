import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentStatus } from '../../src/main/options.ts';
import { type MetricsServer, serveMetrics } from '../../src/metrics/serve-metrics.ts';

const IDLE: AgentStatus = {
  id: 'north',
  version: '0.1.0',
  linkUp: true,
  run: null,
  workers: 0,
  health: null,
  refusal: null,
  refusals: 0,
};
const BUSY: AgentStatus = {
  ...IDLE,
  run: 'r1',
  workers: 2,
  health: { cpuSeconds: 1.5, rssBytes: 1_000, loopDelayP99Us: 2_000, outboxFrames: 3 },
};

let server: MetricsServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function get(path: string, status: AgentStatus, method = 'GET'): Promise<Response> {
  server ??= await serveMetrics({ host: '127.0.0.1', port: 0 }, () => status);
  return fetch(`http://127.0.0.1:${server.port}${path}`, { method });
}

describe('the metrics of an agent', () => {
  it('tell of its health', async () => {
    const response = await get('/metrics', BUSY);
    expect(response.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    const text = await response.text();
    expect(text).toContain('squall_agent_info{agent="north",version="0.1.0"} 1');
    expect(text).toContain('\nsquall_agent_link_up 1\n');
    expect(text).toContain('\nsquall_agent_run_active 1\n');
    expect(text).toContain('\nsquall_agent_workers 2\n');
    expect(text).toContain('\nsquall_agent_outbox_frames 3\n');
    expect(text).toContain('\nsquall_agent_loop_delay_seconds 0.002\n');
    expect(text).toContain('\nsquall_agent_run_cpu_seconds_total 1.5\n');
    expect(text).toMatch(/\nprocess_resident_memory_bytes \d+/);
  });

  it('are there before the first heartbeat, too', async () => {
    const text = await (await get('/metrics', IDLE)).text();
    expect(text).toContain('\nsquall_agent_run_active 0\n');
    expect(text).toContain('\nsquall_agent_outbox_frames 0\n');
  });

  it.for([
    ['busy', BUSY],
    ['idle', IDLE],
  ] as const)('are what Prometheus finds no fault with: %s', async ([_name, status], { skip }) => {
    const input = await (await get('/metrics', status)).text();
    const check = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    if (check.error !== undefined) skip('promtool is not on PATH (apt-get install prometheus)');
    expect(`${check.stdout}${check.stderr}`).toBe('');
  });
});

describe('the health of an agent', () => {
  it('is that of its link', async () => {
    expect((await get('/healthz', IDLE)).status).toBe(200);
    await server?.close();
    server = null;
    expect((await get('/healthz', { ...IDLE, linkUp: false })).status).toBe(503);
  });

  it('tells why the last share could not be carried', async () => {
    const refusal = 'share of run r1 refused: descriptors: 300, needed: 1,064';
    const response = await get('/healthz', { ...IDLE, refusal, refusals: 1 });
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(`${refusal}\n`);
    expect(await (await get('/metrics', IDLE)).text()).toContain(
      '\nsquall_agent_refused_shares_total 1\n',
    );
  });
});

describe('other requests', () => {
  it('are told what there is', async () => {
    expect((await get('/', IDLE)).status).toBe(404);
    expect((await get('/metrics', IDLE, 'POST')).status).toBe(405);
  });

  it('fail to start on an address that is taken, with a hint', async () => {
    await get('/', IDLE);
    const taken = serveMetrics({ host: '127.0.0.1', port: server?.port ?? 0 }, () => IDLE);
    await expect(taken).rejects.toMatchObject({ code: 'SQ_LISTEN' });
  });
});
