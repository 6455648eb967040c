import type { LedgerResult, LedgerRow } from '@squall/core/ledger';
import { buildReport, checkReport, type Report, toJunit } from '@squall/core/report';
import { describe, expect, it } from 'vitest';
import { ledgerResult, ledgerRow } from '../ledger/ledger-row.ts';
import { planOf } from '../thresholds/scene.ts';
import { healthySlices, inputOf } from './scene.ts';

function reportOf(rows: readonly Partial<LedgerRow>[], more: Partial<LedgerResult> = {}): Report {
  const ledger = ledgerResult(
    rows.map((row) => ledgerRow({ expected: 40, ...row })),
    more,
  );
  const report = buildReport(
    inputOf({ plan: planOf([]), slices: healthySlices(), more: { ledger } }),
  );
  expect(checkReport(report)).toEqual([]);
  return report;
}

describe('the ledger in the report', () => {
  it('stands there by sender, receiver and QoS', () => {
    const { ledger, verdict } = reportOf([{}, { stage: 1, expected: 2 }]);
    expect(verdict).toBe('pass');
    expect(ledger).toHaveLength(1);
    expect(ledger[0]).toMatchObject({
      from: 'devices',
      to: 'readers',
      expected: 42,
      state: 'pass',
    });
  });

  it('gives its counters to the subscribing group, stage by stage, and to nobody else', () => {
    const { groups } = reportOf([{}, { stage: 1, lost: 1, reordered: 2 }]);
    const { readers, devices } = groups;
    expect(readers?.counters).toMatchObject({ expected: 80, lost: 1, duplicated: 0, reordered: 2 });
    expect(readers?.stages['publish']?.counters).toMatchObject({ expected: 40, lost: 0 });
    expect(readers?.stages['stage 1']?.counters).toMatchObject({ expected: 40, lost: 1 });
    expect(devices?.counters).not.toHaveProperty('lost');
  });

  it('fails the run where a message is lost at QoS 1, and names one', () => {
    const example = { client: 'devices-2', subscriber: 'readers-1', seq: 9, sentAtUs: 1_500_000 };
    const report = reportOf([{ lost: 1, examples: { lost: [example] } }]);
    expect(report).toMatchObject({ verdict: 'fail', exitCode: 99 });
    expect(report.reasons[0]).toBe(
      'devices → readers: 1 of 40 messages lost at QoS 1 (for example message 9 of devices-2 at readers-1)',
    );
    expect(report.ledger[0]?.examples['lost']).toEqual([
      {
        client: 'devices-2',
        subscriber: 'readers-1',
        seq: 9,
        sentAt: '2026-11-30T12:00:01.500Z',
      },
    ]);
    expect(toJunit(report)).toContain('<failure type="fail" message="devices → readers: 1 of 40');
  });

  it('tells all that is amiss with a row in JUnit, too', () => {
    const report = reportOf([{ qos: 2, duplicated: 2, wrongTopic: 1, expired: 3 }]);
    expect(report.reasons).toEqual([
      'devices → readers: 2 messages duplicated at QoS 2',
      'devices → readers: 1 message on another topic than the one published to',
    ]);
    const junit = toJunit(report);
    expect(junit).toContain(
      'expected 40, arrived 40, lost 0, duplicated 2, wrongTopic 1, expired 3',
    );
  });

  it('asks nothing of what cannot be verified at QoS 0', () => {
    const part = { unverifiable: 5, unverifiablePairs: 1, unverifiableFrom: ['b'] };
    const missing = ['agent b, worker 0'];
    const report = reportOf([{ ...part, qos: 0 }], { missing });
    expect(report).toMatchObject({ verdict: 'pass', exitCode: 0 });
    expect(report.notes.join()).toContain('the ledger of agent b is not complete');
    expect(reportOf([{ ...part, qos: 0 }, part], { missing }).verdict).toBe('inconclusive');
    // Without any row nobody knows what would have been asked.
    expect(reportOf([], { missing }).verdict).toBe('inconclusive');
  });

  it('makes the run inconclusive where it is not whole', () => {
    const part = { unverifiable: 5, unverifiablePairs: 1, unverifiableFrom: ['b'] };
    const report = reportOf([part], { missing: ['agent b, worker 0'] });
    expect(report).toMatchObject({ verdict: 'inconclusive', exitCode: 112 });
    expect(report.reasons).toContain('the delivery ledger lacks agent b, worker 0');
    expect(toJunit(report)).toContain('<skipped message="devices → readers: 5 messages of 1 pair');
  });

  it('is empty where delivery was not verified', () => {
    const report = buildReport(inputOf({ plan: planOf([]), slices: healthySlices() }));
    expect(report.ledger).toEqual([]);
  });
});
