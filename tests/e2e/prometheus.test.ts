import { describe, expect } from 'vitest';
import { devicesPlan } from '../fixtures/plans.ts';
import { until } from '../fixtures/process.ts';
import { Prometheus, prometheusMissing } from '../fixtures/prometheus.ts';
import { serviceTest as test } from '../fixtures/service-test.ts';
import { TOKEN } from '../fixtures/service.ts';

describe('a real Prometheus', { timeout: 90_000 }, () => {
  test('sees controller, agent and run', async ({ broker, serve, skip }) => {
    const missing = prometheusMissing();
    if (missing !== null) skip(missing);
    const service = await serve();
    const agent = service.agent('north', '--metrics-listen', '127.0.0.1:0');
    const [, address = ''] = await agent.seen(/metrics on http:\/\/(127\.0\.0\.1:\d+)/);
    await service.fleet(1);
    const prometheus = await Prometheus.start([
      { job: 'controller', address: new URL(service.url).host, token: TOKEN },
      { job: 'stranger', address: new URL(service.url).host, token: 'wrong' },
      { job: 'agent', address },
    ]);
    try {
      const text = JSON.stringify(devicesPlan({ url: broker.url, clients: 20, length: '8s' }));
      const { id } = await service.post<{ id: string }>('/v1/runs', { text });
      const series = `{run="${id}",group="devices",stage="publish"}`;
      const valueOf = async (expression: string) =>
        (await prometheus.query(expression))[0]?.value ?? Number.NaN;
      await until(
        'the load is seen',
        async () => (await valueOf(`squall_run_acked_total${series}`)) > 20,
        30_000,
      );
      expect(await valueOf('up{job="controller"}')).toBe(1);
      expect(await valueOf('up{job="stranger"}')).toBe(0);
      expect(await valueOf('up{job="agent"}')).toBe(1);
      expect(await valueOf('squall_agent_up{agent="north"}')).toBe(1);
      expect(await valueOf(`squall_run_frames_missing{run="${id}",agent="north"}`)).toBe(0);
      await until(
        'the agent is seen at work',
        async () => (await valueOf('squall_agent_run_active{job="agent"}')) === 1,
      );
      expect(await valueOf('squall_agent_workers')).toBe(1);
      const p99 = `histogram_quantile(0.99, sum by (le) (squall_run_publish_time_seconds_bucket${series}))`;
      const seconds = await valueOf(p99);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThan(5);
      await service.json(`/v1/runs/${id}?wait=30s`);
      // The last figures stay long enough to be seen by one who looks now and then.
      await until(
        'the end is seen',
        async () => (await valueOf(`squall_run_acked_total${series}`)) === 160,
      );
    } finally {
      await prometheus.dispose();
    }
  });
});
