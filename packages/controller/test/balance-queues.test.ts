import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Plan, ProbeSpec } from '@squall/core/plan';
import { expect, it } from 'vitest';
import { Lives } from './lives.ts';
import { probedPlan } from './probed-plan.ts';
import { inStage } from './run-fixture.ts';

const SECOND = 1_000_000;
/** Pages on which the sink still holds messages, once the load has begun. */
const BUSY_PAGES = 2;

it('a queue of a sink is waited for, though all sides agree', { timeout: 30_000 }, async (test) => {
  let [success, pages] = [100, 0];
  const server = createServer((_request, response) => {
    if (success > 100) pages++;
    const inflight = success > 100 && pages <= BUSY_PAGES ? 3 : 0;
    response.end(
      `emqx_action_success{id="a"} ${success}\nemqx_action_inflight{id="a"} ${inflight}\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const lives = await Lives.begin({ plan: planWith(`http://127.0.0.1:${port}/`) });
  test.onTestFinished(() => lives.close());
  await lives.seen(inStage('publish'));
  success = 120;
  const report = await lives.report();

  expect(report.balance[0]).toMatchObject({
    values: { 'devices.acked': 20, 'page.sink.success': 20 },
    state: 'pass',
  });
  expect(pages).toBeGreaterThan(BUSY_PAGES);
  expect(report.probes['page']).toMatchObject({ 'sink.inflight': { max: 3, last: 0 } });
});

function planWith(url: string): Plan {
  const page = {
    name: 'page',
    source: { type: 'prometheus', url, headers: {}, preset: 'emqx', series: {}, counters: [] },
    intervalUs: null,
    timeoutUs: SECOND,
  } satisfies ProbeSpec;
  return probedPlan({
    probes: [page],
    figure: { probe: 'page', figure: 'sink.success' },
    settleS: 20,
  });
}
