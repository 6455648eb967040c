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
    expect(report.thresholds.map((threshold) => threshold.state)).toEqual(Array(6).fill('pass'));
  });

  test('accounts for every message by the ledger', () => {
    const { ledger, notes } = reportOf(result);
    const figures = { expected: 7_500, unique: 7_500, received: 7_500, lost: 0, unverifiable: 0 };
    expect(ledger).toHaveLength(1);
    expect(ledger[0]).toMatchObject({ from: 'devices', to: 'readers', qos: 1, pairs: 300 });
    expect(ledger[0]).toMatchObject({ ...figures, state: 'pass' });
    expect(notes).toEqual([]);
    expect(result.stdout).toMatch(/devices → readers +1 +7,500 +7,500 +0 +pass/);
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
