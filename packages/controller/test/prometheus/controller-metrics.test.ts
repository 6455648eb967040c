import { spawnSync } from 'node:child_process';
import { Histogram, RunAggregate } from '@squall/core/metrics';
import { ProbeBook } from '@squall/core/probes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controllerMetrics } from '../../src/prometheus/controller-metrics.ts';
import { BUCKETS_S, histogramText } from '../../src/prometheus/histogram-text.ts';
import { inStage, runScene, type Scene } from '../run-fixture.ts';
import { planOf } from '../plans.ts';

describe('a histogram as text', () => {
  const DESCRIBED = { name: 'a_seconds', help: 'Help.' };

  it('has the counts of the merged buckets, rising, and their sum', () => {
    const times = new Histogram();
    for (const us of [50, 100, 900, 2_000, 70_000_000]) times.record(us);
    const text = histogramText(DESCRIBED, [{ labels: { run: 'r"1' }, times }]);
    expect(text).toContain('# TYPE a_seconds histogram');
    expect(text).toContain(String.raw`a_seconds_bucket{le="0.0001",run="r\"1"} 2`);
    expect(text).toContain(String.raw`a_seconds_bucket{le="0.001",run="r\"1"} 3`);
    expect(text).toContain(String.raw`a_seconds_bucket{le="60",run="r\"1"} 4`);
    expect(text).toContain(String.raw`a_seconds_bucket{le="+Inf",run="r\"1"} 5`);
    expect(text).toContain(String.raw`a_seconds_count{run="r\"1"} 5`);
    expect(text).toContain(String.raw`a_seconds_sum{run="r\"1"} 70.00305`);
    const counts = [...text.matchAll(/_bucket\S+ (\d+)/g)].map((match) => Number(match[1]));
    expect(counts).toHaveLength(BUCKETS_S.length + 1);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });

  it('is empty where nothing was measured', () => {
    const text = histogramText(DESCRIBED, [{ labels: {}, times: new Histogram() }]);
    expect(text).toContain('a_seconds_bucket{le="+Inf"} 0');
    expect(histogramText(DESCRIBED, [])).toBe(
      '# HELP a_seconds Help.\n# TYPE a_seconds histogram\n',
    );
  });
});

describe('delivery times between hosts', () => {
  it('have their bound, where there are different clocks', async () => {
    expect(await boundsToldOf(310)).toEqual([
      'squall_run_delivery_time_bound_seconds{run="run-1",group="readers",stage="load"} 0.00031',
    ]);
    expect(await boundsToldOf(0)).toEqual([]);
  });
});

describe('the metrics of the controller', () => {
  let scene: Scene;
  let lines: ReadonlyMap<string, number>;
  let text: string;

  beforeAll(async () => {
    scene = await runScene({
      plan: planOf({ stages: [{ name: 'load', forUs: 2_000_000 }] }),
      scripts: [
        { perSlice: 10, latencyUs: 4_000 },
        { perSlice: 10, latencyUs: 4_000 },
      ],
    });
    await scene.seen(inStage('load'));
    await scene.seen(
      (event) => event.type === 'progress' && (event.progress.totals.acked ?? 0) >= 20,
    );
    text = await metricsOf([scene.handle]).text();
    lines = samplesOf(text);
  }, 20_000);
  afterAll(async () => {
    await scene.report();
    await scene.close();
  });

  function metricsOf(runs: Scene['handle'][]) {
    return controllerMetrics({
      version: '0.1.0',
      agents: () => scene.controller.agents(),
      runs: () => runs,
      storeHealthy: () => true,
    });
  }

  it('tell of the run by group and stage', () => {
    const labels = `run="${scene.handle.id}",group="devices",stage="load"`;
    const acked = lines.get(`squall_run_acked_total{${labels}}`) ?? 0;
    expect(acked).toBeGreaterThanOrEqual(20);
    expect(lines.get(`squall_run_publish_time_seconds_count{${labels}}`)).toBe(acked);
    expect(lines.get(`squall_run_publish_time_seconds_bucket{le="0.0025",${labels}}`)).toBe(0);
    expect(lines.get(`squall_run_publish_time_seconds_bucket{le="0.005",${labels}}`)).toBe(acked);
    const gauge = `squall_run_connections{run="${scene.handle.id}",group="devices"}`;
    expect(lines.has(gauge)).toBe(true);
  });

  it('tell of the agents and their frames', () => {
    for (const agent of ['agent-1', 'agent-2']) {
      expect(lines.get(`squall_agent_up{agent="${agent}"}`)).toBe(1);
      expect(lines.get(`squall_agent_busy{agent="${agent}"}`)).toBe(1);
      const labels = `{run="${scene.handle.id}",agent="${agent}"}`;
      expect(lines.get(`squall_run_frames_received_total${labels}`)).toBeGreaterThan(0);
      expect(lines.get(`squall_run_frames_missing${labels}`)).toBe(0);
    }
    expect(lines.get('squall_store_up')).toBe(1);
    expect(lines.get('process_resident_memory_bytes')).toBeGreaterThan(0);
  });

  it('tell of the hosts of the agents', () => {
    const agent = '{agent="agent-1"}';
    expect(lines.get(`squall_agent_host_cpu_used_ratio${agent}`)).toBe(0.25);
    expect(lines.get(`squall_agent_host_net_in_bytes_per_second${agent}`)).toBe(1_000);
    expect(lines.get(`squall_agent_host_load${agent}`)).toBe(2);
    expect(lines.has(`squall_agent_host_net_out_bytes_per_second${agent}`)).toBe(false);
  });

  it('forget a run with it', async () => {
    const metrics = metricsOf([]);
    expect(await metrics.text()).not.toContain(scene.handle.id);
  });

  it('are what Prometheus finds no fault with', ({ skip }) => {
    const check = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    if (check.error !== undefined) skip('promtool is not on PATH (apt-get install prometheus)');
    expect(check.stdout + check.stderr).toBe('');
    expect(check.status).toBe(0);
  });
});

function samplesOf(text: string): Map<string, number> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const match = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line);
      return match === null ? [] : [[match[1] ?? '', Number(match[2])] as const];
    }),
  );
}

/** Bounds that are told of a run whose deliveries have this one. */
async function boundsToldOf(boundUs: number): Promise<string[]> {
  const times = new Histogram();
  times.record(40_000);
  times.widen(boundUs);
  const histogram = times.toSparse();
  if (histogram === null) throw new Error('nothing was recorded');
  const aggregate = new RunAggregate('run-1');
  const series = [{ metric: 'delivery_time', subject: 'readers', stage: 0, histogram }] as const;
  const slice = { stage: 0, phase: 'main', n: 0, span: 1, fromUs: 0, toUs: 1 } as const;
  const slices = [{ ...slice, series, examples: [] }];
  aggregate.fold({ run: 'run-1', agent: 'a', epoch: 1, seqFrom: 1, seqTo: 1, slices });
  const figures = { aggregate, probes: new ProbeBook([]) };
  const run: object = {
    id: 'run-1',
    plan: planOf({ stages: [{ name: 'load', forUs: 2_000_000 }] }),
    figures,
    state: 'running',
    agents: () => [],
  };
  const metrics = controllerMetrics({
    version: '0.1.0',
    agents: () => [],
    runs: () => [run as Scene['handle']],
    storeHealthy: () => true,
  });
  const text = await metrics.text();
  return text.split('\n').filter((line) => line.startsWith('squall_run_delivery_time_bound'));
}
