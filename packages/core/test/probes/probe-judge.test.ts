import { describe, expect, test } from 'vitest';
import { type ProbeReading, ProbeJudge } from '../../src/probes/index.ts';
import { accepted, complaints, planOf } from '../plan/plan-fixture.ts';

const PROBES = {
  host: { type: 'node', url: 'http://h/metrics' },
  rows: { type: 'mysql', url: 'mysql://h/d', query: 'SELECT COUNT(*) FROM t' },
  hook: { type: 'nginx', url: 'http://h/s' },
};

const planWith = (...thresholds: readonly string[]) =>
  accepted(planOf({ probes: PROBES, thresholds }));

function reading(
  probe: string,
  atS: number,
  figures: Readonly<Record<string, number>>,
): ProbeReading {
  const kind = probe === 'host' ? 'gauge' : 'counter';
  return {
    probe,
    atUs: atS * 1e6,
    figures: new Map(
      Object.entries(figures).map(([name, value]) => [name, { value, kind, unit: null }]),
    ),
  };
}

/** Readings of `host.cpu_user` at these seconds of stage 0. */
function judged(threshold: string, values: readonly (readonly [atS: number, value: number])[]) {
  const judge = new ProbeJudge(planWith(threshold));
  for (const [atS, value] of values) {
    judge.add(reading('host', atS, { cpu_user: value }), { stage: 0, sinceUs: atS * 1e6 });
  }
  return judge;
}

describe('thresholds on probes', () => {
  test('over the whole run, from the reading before the load to the last one in settle', () => {
    const judge = new ProbeJudge(planWith('rows: delta >= 100', 'rows: delta >= 101'));
    judge.add(reading('rows', -1, { value: 50 }), null);
    judge.add(reading('rows', 12, { value: 150 }), null);
    const [holds, fails] = [...judge.results().values()];
    expect(holds).toMatchObject({ state: 'pass', observed: 100, observedText: 'delta = 100' });
    expect(fails).toMatchObject({ state: 'fail', leadsTo: 'fail', observed: 100 });
  });

  test('in windows: the worst one is told, and how many did not hold', () => {
    const judge = judged('host.cpu_user: max < 80% over 2s', [
      [0.5, 0.3],
      [1.5, 0.9],
      [2.5, 0.4],
      [4.5, 0.95],
      [6.5, 0.1],
    ]);
    expect([...judge.results().values()][0]).toMatchObject({
      state: 'fail',
      unit: 'share',
      observed: 0.95,
      observedText: 'max = 95%',
      windows: 4,
      failedWindows: 2,
    });
  });

  test('a window that is broken so often in a row ends the run, once it is over', () => {
    const judge = judged('host.cpu_user: max < 80% over 1s for 2, abort', [
      [0.5, 0.9],
      [1.5, 0.9],
    ]);
    expect(judge.broken()).toBeNull();
    judge.add(reading('host', 2.5, { cpu_user: 0.9 }), { stage: 0, sinceUs: 2.5e6 });
    expect(judge.broken()).toMatchObject({ reason: expect.stringContaining('ended the run') });
    expect(judge.broken()).toBeNull();
    expect([...judge.results().values()][0]).toMatchObject({ aborted: true, state: 'fail' });
  });

  test('windows before `after` are not judged', () => {
    const judge = judged('host.cpu_user: max < 80% over 1s, abort after 2s', [
      [0.5, 0.9],
      [1.5, 0.9],
      [2.5, 0.1],
      [3.5, 0.1],
    ]);
    expect([...judge.results().values()][0]).toMatchObject({ state: 'pass', windows: 2 });
  });

  test('the rate of a counter counts from the reading before the stage', () => {
    const judge = new ProbeJudge(planWith('hook.requests: rate > 9/s in load'));
    judge.add(reading('hook', -1, { requests: 1_000 }), null);
    judge.add(reading('hook', 4, { requests: 1_050 }), { stage: 0, sinceUs: 4e6 });
    judge.add(reading('hook', 9, { requests: 1_100 }), { stage: 0, sinceUs: 9e6 });
    expect([...judge.results().values()][0]).toMatchObject({ state: 'pass', observed: 10 });
  });

  test('a probe that gave nothing is no data, which leads where the line says', () => {
    const plan = accepted(
      planOf({
        probes: PROBES,
        thresholds: [
          'host.cpu_user: max < 80%',
          { metric: 'host.cpu_user', expect: 'max < 80%', no_data: 'pass' },
          'host.cpu_user: max < 80% over 1s, warn',
        ],
      }),
    );
    const results = [...new ProbeJudge(plan).results().values()];
    expect(results.map(({ state, leadsTo }) => [state, leadsTo])).toEqual([
      ['no_data', 'fail'],
      ['no_data', 'pass'],
      ['no_data', 'warn'],
    ]);
  });

  test('of a day of readings no growth, extreme or restart is lost, and means lean to no part', () => {
    const lines = [
      'rows: delta == 86498',
      'rows: max == 50000',
      'host.cpu_user: avg > 51.3%',
      'host.cpu_user: avg < 51.7%',
      'host.cpu_user: max == 99%',
      'host.cpu_user: p(48) < 27%',
      'host.cpu_user: p(52) == 80%',
    ];
    const judge = new ProbeJudge(accepted(planOf({ probes: PROBES, thresholds: lines })));
    for (let second = 0; second < 86_400; second++) {
      // Emptied at 50,000; what it holds then has come since.
      const value = second <= 50_000 ? second : second - 49_901;
      judge.add(reading('rows', second, { value }), null);
      const cpu = second === 40_001 ? 0.99 : second < 43_200 ? 0.2 + (second % 7) / 100 : 0.8;
      judge.add(reading('host', second, { cpu_user: cpu }), null);
    }
    const results = [...judge.results().values()];
    expect(results.filter(({ state }) => state !== 'pass')).toEqual([]);
    expect(results).toHaveLength(lines.length);
    expect(results[0]?.remark).toMatch(/readings were more than are kept/);
    expect(JSON.stringify(judge).length).toBeLessThan(lines.length * 5_000 * 60);
  });

  test('goes on from its JSON as if it had never stopped', () => {
    const values = [0.2, 0.9, 0.5, 0.85, 0.1].map((value, n) => [n + 0.5, value] as const);
    const whole = judged('host.cpu_user: avg < 80% over 2s', values);
    const first = judged('host.cpu_user: avg < 80% over 2s', values.slice(0, 3));
    const plan = planWith('host.cpu_user: avg < 80% over 2s');
    const second = new ProbeJudge(plan, JSON.parse(JSON.stringify(first)));
    for (const [atS, value] of values.slice(3)) {
      second.add(reading('host', atS, { cpu_user: value }), { stage: 0, sinceUs: atS * 1e6 });
    }
    expect([...second.results().values()]).toEqual([...whole.results().values()]);
  });
});

describe('thresholds on probes that cannot be judged are told with their place', () => {
  test.each([
    ['host.cpu_usr: max < 80%', 'the probe host has no figure "cpu_usr"'],
    ['host: max < 80%', 'the probe host has several figures'],
    ['host.cpu_user: max < 80', '80: a share such as 80% is expected'],
    ['host.cpu_user: rate < 80/s', 'rate does not fit host.cpu_user, which is a gauge'],
    ['rows: p(99) < 3', 'p does not fit rows, which is a counter'],
    ['rows: delta < 3 in lod', 'there is no stage "lod"'],
    ['rows{group=devices}: delta < 3', 'rows has no tag "group"'],
  ])('%s', (threshold, message) => {
    expect(complaints(planOf({ probes: PROBES, thresholds: [threshold] }))).toEqual([
      `thresholds[0]: ${message}`,
    ]);
  });

  test('a probe that is wrong itself is told once, and not its thresholds', () => {
    const probes = { host: { type: 'node' } };
    expect(complaints(planOf({ probes, thresholds: ['host.cpu_user: max < 80%'] }))).toEqual([
      'probes.host: a probe of type node needs url',
    ]);
  });
});
