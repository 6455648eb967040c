import { createHash } from 'node:crypto';
import { reportSchema } from '@squall/core/report';
import { CONTENT_SECURITY_POLICY, REPORT_FORMATS } from '@squall/report';
import { describe, expect, test } from 'vitest';
import { rate, reportOf } from './report-of.ts';

const draw = (more: Parameters<typeof reportOf>[0] = {}) =>
  REPORT_FORMATS.html.draw(reportOf(more));
const { timeline, run } = reportOf();
const withSeries = (series: (typeof timeline)['series']) =>
  draw({ timeline: { ...timeline, series } });
const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&\u202E`;

/** An hour of a curve that no thinning makes smooth. */
function noise(seed: number): number[] {
  return Array.from({ length: 3_600 }, (_, n) => ((n * 7_919 + seed * 104_729) % 100_003) / 7);
}

describe('the page of a report', () => {
  test('has the verdict before everything else that is told', () => {
    const page = draw({ verdict: 'fail', reasons: ['too slow'], notes: ['a note'] });
    const places = [
      'class="verdict bad"',
      'too slow',
      'a note',
      'id="validity"',
      'id="thresholds"',
    ];
    const found = places.map((part) => page.indexOf(part));
    expect(found).not.toContain(-1);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });

  test('asks for nothing outside itself, and allows its own script only', () => {
    const page = draw();
    expect(page).not.toMatch(/(?:src|href)="(?!#)/);
    expect(page).not.toMatch(/@import|url\((?!#)/);
    const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
      ([, text]) => text ?? '',
    );
    expect(scripts).toHaveLength(1);
    const hash = createHash('sha256')
      .update(scripts[0] ?? '')
      .digest('base64');
    expect(CONTENT_SECURITY_POLICY).toContain(`script-src 'sha256-${hash}'`);
    expect(page).toContain(hash);
  });

  test('escapes names, reasons, hints, remarks and the plan itself, wherever they stand', () => {
    const page = draw({
      run: { ...run, name: HOSTILE, description: HOSTILE, labels: { [HOSTILE]: HOSTILE } },
      reasons: [HOSTILE],
      notes: [HOSTILE],
      plan: { name: HOSTILE },
      validity: {
        state: 'degraded',
        findings: [
          {
            check: 'lateness',
            state: 'degraded',
            observed: HOSTILE,
            limit: 1,
            agent: HOSTILE,
            hint: HOSTILE,
          },
        ],
      },
      failures: [
        {
          metric: 'connect_failed',
          subject: HOSTILE,
          reason: HOSTILE,
          count: 1,
          examples: [{ client: HOSTILE, address: HOSTILE, at: run.startedAt }],
        },
      ],
      timeline: { ...timeline, series: [rate('sent', [1, 2], HOSTILE)] },
    });
    expect(page).not.toContain('<img');
    expect(page).not.toContain('alert(1)</script>');
    // One script of ours, the rest is data.
    expect(page.match(/<script/g)).toHaveLength(
      1 + (page.match(/application\/json/g)?.length ?? 0),
    );
    const title = /<title>(.*)<\/title>/.exec(page)?.[1];
    expect(title).not.toContain('\u202E');
  });

  test('isolates names, so that their marks of direction turn nothing else around', () => {
    expect(draw({ run: { ...run, name: 'a\u202Eb' } })).toContain('<h1><bdi>a\u202Eb</bdi></h1>');
  });

  test('replaces what HTML cannot hold', () => {
    const page = draw({ reasons: ['a\u0000b\uD800c\u001Bd'] });
    expect(page).toContain('a\uFFFDb\uFFFDc\uFFFDd');
  });

  test('has all its words in both languages', () => {
    const page = draw();
    const english = page.match(/<span lang="en">/g)?.length;
    expect(english).toBeGreaterThan(10);
    expect(page.match(/<span lang="zh-Hans">/g)?.length).toBe(english);
    expect(page).toContain('全部 2 条阈值成立');
  });

  test('a run that passed and yet is no success is not green', () => {
    expect(draw({ verdict: 'pass', exitCode: 111 })).not.toContain('class="verdict good"');
    expect(draw()).toContain('class="verdict good"');
  });

  test('says on its first screen that the run was scaled', () => {
    expect(draw({ run: { ...run, scale: 0.01 } })).toContain('class="scaled"');
    expect(draw()).not.toContain('class="scaled"');
  });

  test('a curve of zeros, of one value, of holes and of nothing is drawn without a number that is none', () => {
    const page = withSeries([
      rate('sent', [0, 0, 0]),
      { metric: 'publish_time', labels: { group: 'g', stat: 'p50' }, values: [null, 7, null] },
      { metric: 'publish_time', labels: { group: 'g', stat: 'p99' }, values: [null, null] },
      { metric: 'connections', labels: { group: 'g', stat: 'value' }, values: [5] },
    ]);
    const body = page.replaceAll(/<(style|script)>[\s\S]*?<\/\1>/g, '');
    expect(body).not.toMatch(/NaN|Infinity|undefined/);
    expect(page).toContain('class="line dot');
  });

  test('what is read every few seconds is a line, with a gap where readings are missing', () => {
    const every5 = Array.from({ length: 100 }, (_, n) =>
      n % 5 === 0 && (n < 40 || n > 70) ? n : null,
    );
    const series = { metric: 'cpu_user', labels: { probe: 'host', stat: 'value' }, values: every5 };
    const figure = {
      kind: 'gauge',
      unit: 'share',
      min: 0,
      mean: 1,
      max: 2,
      last: 1,
      increase: 0,
      decreases: 0,
    } as const;
    const host = {
      type: 'node',
      readings: 14,
      errors: 0,
      skipped: 0,
      reasons: {},
      cpu_user: figure,
    };
    const probes = reportSchema.shape.probes.parse({ host });
    const page = draw({ probes, timeline: { ...timeline, series: [series] } });
    const path = /<path class="line c0" d="([^"]*)"/.exec(page)?.[1];
    expect(path?.match(/M/g)).toHaveLength(2);
    expect(page).not.toContain('class="line dot');
  });

  test('shows what the sides of a balance counted, and by how much they differ', () => {
    const page = draw({
      balance: [
        {
          equation: 'devices.acked = rows',
          values: { 'devices.acked': 1_000_000, rows: 999_999 },
          unresolved: 0,
          difference: -1,
          share: -0.000001,
          settledAfterUs: 2_500_000,
          holds: false,
          state: 'fail',
          remark: 'one is missing',
        },
      ],
    });
    const section = /<section id="balance">[\s\S]*?<\/section>/.exec(page)?.[0] ?? '';
    for (const part of [
      '1,000,000',
      '999,999',
      '>-1<',
      '-0.0001\u00A0%',
      '2.5\u00A0s',
      'one is missing',
    ]) {
      expect(section).toContain(part);
    }
  });

  test('draws how the hosts of agents fared, each by its name', () => {
    const series = ['north', 'south'].map((agent, n) => ({
      metric: 'cpu_used',
      labels: { agent, stat: 'value' },
      values: [null, 0.25 + n / 2, null, 0.5],
    }));
    const page = withSeries(series);
    expect(page).toContain('<bdi>south cpu_used</bdi>');
    expect(page).toContain('Hosts of the agents: processor');
  });

  test('names the curves that find no place in it', () => {
    const many = Array.from({ length: 300 }, (_, n) => rate('received', [1, 2], `group-${n}`));
    const page = withSeries(many);
    expect(page.match(/<figure/g)?.length).toBeLessThanOrEqual(40);
    expect(page).toContain('group-299 received');
  });

  test('a peak of one second is seen in an hour, and the page says what a column stands for', () => {
    const hour = Array.from({ length: 3_600 }, (_, second) => (second === 1_801 ? 9_999 : 10));
    const page = withSeries([rate('received', hour)]);
    const data = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(page)?.[1] ?? '';
    expect(data).toContain('[10,9999]');
    expect(page).toMatch(/column.*10\u00A0s/);
  });

  test('an hour of many curves stays below 3 MB', () => {
    const names = Array.from({ length: 10 }, (_, n) => `group-${n}`);
    const series = names.flatMap((group, n) => [
      ...['scheduled', 'sent', 'acked', 'received', 'bytes_sent', 'dropped'].map((metric) =>
        rate(metric, noise(n), group),
      ),
      ...['publish_time', 'delivery_time', 'lateness', 'connect_time'].flatMap((metric) =>
        ['p50', 'p99'].map((stat) => ({ metric, labels: { group, stat }, values: noise(n + 1) })),
      ),
    ]);
    const histograms = names.map((group) => ({
      group,
      stage: 'publish',
      metric: 'publish_time',
      minUs: 1,
      width: 1 / 1024,
      upToUs: Array.from({ length: 6_000 }, (_, n) => n + 1),
      counts: Array.from({ length: 6_000 }, (_, n) => n),
    }));
    const report = reportOf({
      timeline: { ...timeline, series },
      histograms,
      plan: { list: Array.from({ length: 100_000 }, (_, n) => n) },
    });
    const page = REPORT_FORMATS.html.draw(report);
    expect(Buffer.byteLength(page)).toBeLessThan(3_000_000);
    expect(JSON.parse(REPORT_FORMATS.json.draw(report))).toEqual(report);
  });
});
