import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Plan, ProbeSpec } from '@squall/core/plan';
import { expect, it } from 'vitest';
import { Lives } from './lives.ts';
import { probedPlan } from './probed-plan.ts';
import { inStage } from './run-fixture.ts';

const SECOND = 1_000_000;

it('a controller that is started again goes on with what its probes had read', async (test) => {
  let count = 100;
  const server = createServer((_request, response) => response.end(JSON.stringify({ count })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const lives = await Lives.begin({ plan: planWith(`http://127.0.0.1:${port}/`) });
  test.onTestFinished(() => lives.close());
  await lives.seen(inStage('publish'));
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  count = 110;
  // What is counted while nobody reads is counted all the same.
  lives.kill();
  count = 120;
  await lives.rebirth(300);
  const report = await lives.report();

  expect(report.groups['devices']?.counters['acked']).toBe(20);
  expect(report.probes['api']).toMatchObject({
    errors: 0,
    count: { min: 100, last: 120, increase: 20, decreases: 0 },
  });
  expect(report.balance[0]).toMatchObject({
    values: { 'devices.acked': 20, 'api.count': 20 },
    holds: true,
    state: 'pass',
  });
  expect(report.thresholds.map(({ state }) => state)).toEqual(['pass', 'fail']);
  // Secrets stand in no checkpoint: a probe that needs one is told, and only it stands still.
  expect(JSON.stringify(lives.store.newest)).not.toContain('hush');
  expect(report.probes['closed']?.reasons).toEqual({ 'secret not known': expect.any(Number) });
  expect(report.probes['closed']?.readings).toBeGreaterThan(0);
  expect(report.notes.join('\n')).toContain('secret not known');
});

function planWith(url: string): Plan {
  const api = {
    name: 'api',
    source: { type: 'http', url, headers: {}, values: { count: '/count' }, counters: ['count'] },
    intervalUs: SECOND / 5,
    timeoutUs: SECOND,
  } satisfies ProbeSpec;
  const headers = { authorization: '{{env.SECRET}}' };
  return probedPlan({
    probes: [api, { ...api, name: 'closed', source: { ...api.source, headers } }],
    figure: { probe: 'api', figure: 'count' },
    settleS: 5,
    more: {
      thresholds: ['api.count: delta == 20', 'api.count: max < 120'],
      limits: { agentGraceUs: 10 * SECOND },
    },
  });
}
