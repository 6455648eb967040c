import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportOf, type SquallResult, Workspace } from '../fixtures/squall.ts';

describe('the quickstart, as `npm start` runs it', () => {
  const workspace = new Workspace();
  let result: SquallResult;

  beforeAll(async () => {
    result = await workspace.run(['plans/quickstart.yaml', '--agents', '5', '--with-broker']);
  }, 90_000);
  afterAll(() => workspace.dispose());

  test('passes in under a minute', () => {
    expect(result.code, result.output).toBe(0);
    expect(result.seconds).toBeLessThan(60);
  });

  test('reports a valid run of five agents in which nothing was lost on the way', () => {
    const report = reportOf(result);
    expect(report.verdict).toBe('pass');
    expect(report.validity.state).toBe('valid');
    expect(report.agents).toHaveLength(5);
    const devices = report.groups['devices']?.counters ?? {};
    const readers = report.groups['readers']?.counters ?? {};
    expect(devices).toMatchObject({ planned: 7_500, acked: 7_500 });
    expect(readers['received']).toBe(7_500);
    expect(report.thresholds.map((threshold) => threshold.state)).toEqual(Array(5).fill('pass'));
  });

  test('measures delivery from due to received', () => {
    const times = reportOf(result).groups['readers']?.times['delivery_time'];
    expect(times).toMatchObject({ count: 7_500 });
  });

  test('ends with the verdict and the paths of the reports', () => {
    const lines = result.stdout.trimEnd().split('\n');
    expect(lines.at(-2)).toMatch(/report\.json$/);
    expect(lines.at(-1)).toMatch(/junit\.xml$/);
    expect(result.stdout).toMatch(/verdict\s+pass/);
  });
});
