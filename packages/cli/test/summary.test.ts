import type { Report } from '@squall/core/report';
import { describe, expect, test } from 'vitest';
import { styleFor } from '../src/terminal/style.ts';
import { reportSummary } from '../src/terminal/summary.ts';

const plain = styleFor({}, {});

describe('the summary', () => {
  test('names the plan, and the scale where it was not run as written', () => {
    expect(linesOf({})[0]).toBe('plan     a-plan');
    const scaled = [{ path: 'groups.devices.clients', from: '100', to: '10' }];
    expect(linesOf({ run: { name: 'a-plan', scale: 0.1, scaled } })[0]).toBe(
      'plan     a-plan at scale 0.1 (1 value changed)',
    );
  });

  test('of a run that was cut short tells what was not yet due, so that its rows add up', () => {
    const groups = {
      devices: { counters: { planned: 6_000, scheduled: 620, sent: 617 }, times: {} },
    };
    const aborted = { name: 'load', durationUs: 1_000_000, endedBy: 'aborted' };
    const table = linesOf({ groups, stages: [aborted] }).filter((line) =>
      /^(group|devices)/.test(line),
    );
    expect(table).toEqual([
      'group    planned  not yet due  sent',
      'devices    6,000        5,380   617',
    ]);
    const whole = linesOf({ groups, stages: [{ ...aborted, endedBy: 'duration' }] }).join('\n');
    expect(whole).not.toContain('not yet due');
  });

  test('shows no table of groups where nothing was counted', () => {
    const text = linesOf({ groups: { devices: { counters: { sent: 0 }, times: {} } } }).join('\n');
    expect(text).not.toContain('devices');
  });

  test('service time is told where messages had no due times, with why publish time counts fewer', () => {
    const mixed = linesOf({ groups: groupWith({ publish_time: 100, service_time: 5_100 }) });
    expect(mixed.find((line) => line.includes('devices service_time'))).toMatch(/5,100/);
    expect(mixed.join('\n')).toContain('`rate: max`');
    const paced = linesOf({ groups: groupWith({ publish_time: 100, service_time: 100 }) }).join(
      '\n',
    );
    expect(paced).toContain('publish_time');
    expect(paced).not.toContain('service_time');
  });
});

describe('times between hosts', () => {
  test('are told with how far off they may be', () => {
    const times = {
      count: 5,
      p50Us: 1_000,
      p99Us: 2_000,
      p999Us: 3_000,
      maxUs: 4_000,
      boundUs: 310,
    };
    const groups = { readers: { counters: { received: 5 }, times: { delivery_time: times } } };
    const row = linesOf({ groups }).find((line) => line.includes('delivery_time'));
    expect(row).toMatch(/4ms +± 310us$/);
  });
});

describe('what is outside the load', () => {
  test('a balance is told with its sides, and how far they are apart', () => {
    const row = {
      equation: 'devices.acked = rows',
      values: { 'devices.acked': 3_000, rows: 2_997 },
      difference: -3,
      share: -0.001,
      settledAfterUs: null,
      state: 'fail',
    };
    const lines = linesOf({ balance: [row] });
    expect(lines.find((line) => line.includes('devices.acked'))).toMatch(
      /fail +devices\.acked = rows +3,000 : 2,997 +−3 \(0\.1%\)/,
    );
  });

  test('figures of probes are told in their units, counters exactly, and readings that failed', () => {
    const figure = { min: 0, mean: 0.123456, max: 0.5, last: 0.25, increase: 0 };
    const probes = {
      host: {
        type: 'node',
        readings: 7,
        errors: 2,
        skipped: 0,
        reasons: { 'connection refused': 2 },
        cpu_user: { ...figure, kind: 'gauge', unit: 'share' },
        seen: { ...figure, kind: 'counter', unit: 'count', last: 1_234_567, increase: 123_456 },
      },
    };
    const lines = linesOf({ probes });
    expect(lines.find((line) => line.includes('host.cpu_user'))).toMatch(/12\.\d+% +50% +25%/);
    expect(lines.find((line) => line.includes('host.seen'))).toMatch(/1,234,567 +123,456$/);
    expect(lines.join('\n')).toContain('2 of 9 readings failed');
  });
});

function groupWith(counts: Readonly<Record<string, number>>) {
  const times = Object.fromEntries(
    Object.entries(counts).map(([metric, count]) => [
      metric,
      { count, p50Us: 1_000, p99Us: 2_000, p999Us: 3_000, maxUs: 4_000 },
    ]),
  );
  return { devices: { counters: { sent: 1 }, times } };
}

function linesOf(more: object): string[] {
  const report: object = {
    run: { name: 'a-plan', scale: 1, scaled: [] },
    verdict: 'pass',
    exitCode: 0,
    reasons: [],
    notes: [],
    validity: { state: 'valid', findings: [] },
    thresholds: [],
    balance: [],
    ledger: [],
    probes: {},
    groups: {},
    failures: [],
    stages: [],
    agents: [],
    ...more,
  };
  return reportSummary(report as Report, plain)
    .trim()
    .split('\n');
}
