import { describe, expect } from 'vitest';
import { Exporter, exporterMissing, NODE_EXPORTER } from '../fixtures/exporter.ts';
import { devicesPlan } from '../fixtures/plans.ts';
import { serviceTest as test } from '../fixtures/service-test.ts';
import type { ReportJson } from '../fixtures/report-laws.ts';

describe('a run with probes of the broker and of its host', { timeout: 90_000 }, () => {
  test('is judged by them, and told by report and metrics', async ({ broker, serve, skip }) => {
    const missing = exporterMissing(NODE_EXPORTER.name);
    if (missing !== null) skip(missing);
    const exporter = await Exporter.start(NODE_EXPORTER);
    const service = await serve();
    service.agent('north');
    await service.fleet(1);
    try {
      const plan = {
        ...devicesPlan({ url: broker.url, clients: 20, length: '4s' }),
        probes: {
          broker: { type: 'mosquitto', url: broker.url, interval: '1s' },
          host: { type: 'node', url: exporter.url, interval: '1s' },
          nobody: { type: 'rabbitmq', url: 'http://me:hunter2@127.0.0.1:9', interval: '1s' },
        },
        thresholds: [
          'broker.connections: max == 20',
          'broker.messages_in: rate > 5/s',
          'host.cpu_idle: max <= 100%',
          'host.memory_used_share: max < 0.1%',
        ],
        settle: { quiet: '500ms', max: '10s' },
        balance: { settle: { max: '20s' }, equal: ['devices.acked', 'broker.messages_in'] },
      };
      const text = JSON.stringify(plan);
      const { id } = await service.post<{ id: string }>('/v1/runs', { text });
      await service.json(`/v1/runs/${id}?wait=60s`);
      const page = await (await service.fetch('/metrics')).text();
      const valueOf = (figure: string): number => {
        const series = `squall_run_probe_value{run="${id}",probe="${figure.replace('.', '",figure="')}"} `;
        const line = page.split('\n').find((one) => one.startsWith(series)) ?? '';
        return Number(line.slice(series.length) || Number.NaN);
      };
      expect(valueOf('host.load_per_core')).toBeGreaterThanOrEqual(0);
      expect(valueOf('broker.messages_in')).toBeGreaterThanOrEqual(80);
      const report = await service.json<ReportJson>(`/v1/runs/${id}/report`);
      expect(report.verdict).toBe('fail');
      expect(report.thresholds.map(({ state }) => state)).toEqual(['pass', 'pass', 'pass', 'fail']);
      // What the broker counted is what was acknowledged, and nothing of the probe's own.
      expect(report.balance[0]).toMatchObject({
        values: { 'devices.acked': 80, 'broker.messages_in': 80 },
        holds: true,
      });
      expect(report.probes['host']).toMatchObject({
        errors: 0,
        cpu_user: expect.anything() as object,
      });
      expect(report.probes['nobody']).toMatchObject({ readings: 0 });
      const { errors } = report.probes['nobody'] as { errors: number };
      expect(errors).toBeGreaterThan(0);
      expect(JSON.stringify(report)).not.toContain('hunter2');
      expect(page).not.toContain('hunter2');
      const curve = report.timeline.series.find(
        ({ metric, labels }) => metric === 'messages_in' && labels['probe'] === 'broker',
      );
      expect(curve?.values.length).toBeGreaterThan(0);
    } finally {
      await exporter.dispose();
    }
  });
});
