import { describe, expect, test } from 'vitest';
import {
  judgeLedger,
  type LedgerResult,
  type LedgerRow,
  ledgerSeries,
  sumStages,
} from '@squall/core/ledger';
import { ledgerResult, ledgerRow } from './ledger-row.ts';

const ROW = ledgerRow({ expected: 12_000 });
const APART = ledgerResult([]).apart;
const STAGES = [{ warmup: false }, { warmup: true }, { warmup: false }] as never;

function judge(rows: readonly Partial<LedgerRow>[], rest: Partial<LedgerResult> = {}) {
  const result = ledgerResult(
    rows.map((row) => ledgerRow({ expected: 12_000, ...row })),
    rest,
  );
  return judgeLedger(result, { stages: STAGES });
}

describe('what is judged without asking', () => {
  test('a ledger in which all is well says nothing', () => {
    expect(judge([{}])).toEqual({ failures: [], inconclusive: [], doubts: [], notes: [] });
  });

  test('a loss at QoS 1 fails, with its number, its share while disconnected and an example', () => {
    const example = { client: 'devices-7', subscriber: 'readers-1', seq: 11_999, sentAtUs: null };
    const { failures } = judge([{ lost: 3, lostDisconnected: 2, examples: { lost: [example] } }]);
    expect(failures).toEqual([
      'devices → readers: 3 of 12,000 messages lost at QoS 1, 2 of them while the subscriber was disconnected (for example message 11999 of devices-7 at readers-1)',
    ]);
  });

  test('a loss at QoS 0 is a note', () => {
    const { failures, notes } = judge([{ qos: 0, lost: 1 }]);
    expect(failures).toEqual([]);
    expect(notes).toEqual(['devices → readers: 1 of 12,000 messages lost at QoS 0']);
  });

  test('duplicates fail at QoS 2 only', () => {
    expect(judge([{ duplicated: 5 }]).failures).toEqual([]);
    expect(judge([{ qos: 2, duplicated: 1 }]).failures).toEqual([
      'devices → readers: 1 message duplicated at QoS 2',
    ]);
  });

  test('anything corrupted fails, at every QoS', () => {
    expect(judge([{ qos: 0, corrupted: 2 }]).failures).toEqual([
      'devices → readers: 2 messages corrupted',
    ]);
  });

  test('stages are judged together, warm-ups not at all, but they are named', () => {
    const { failures, notes } = judge([
      { lost: 1, stage: 0 },
      { lost: 5, stage: 1 },
      { lost: 2, stage: 2 },
    ]);
    expect(failures).toEqual(['devices → readers: 3 of 24,000 messages lost at QoS 1']);
    expect(notes).toEqual([
      'in warm-up, not judged: devices → readers: 5 of 12,000 messages lost at QoS 1',
    ]);
  });

  test('what could not be verified makes it inconclusive, with the name of the agent', () => {
    const unverifiable = { unverifiable: 90, unverifiablePairs: 3, unverifiableFrom: ['b'] };
    const { inconclusive } = judge([unverifiable, { from: 'x', inexactPairs: 1 }], {
      missing: ['agent b, worker 0'],
      apart: { ...APART, untracked: 4 },
    });
    expect(inconclusive).toEqual([
      'devices → readers: 90 messages of 3 pairs cannot be verified: the ledger of agent b is not complete',
      'x → readers: 1 pair had more gaps than are kept, so the figures are bounds',
      'the delivery ledger lacks agent b, worker 0',
      '4 messages of pairs beyond what a worker can follow: use more agents or fewer subscribers',
    ]);
  });

  test('what is odd but allowed is noted', () => {
    const { failures, inconclusive, notes } = judge(
      [{ foreign: 1, unexpected: 2, copies: 3, undecidedPairs: 4 }],
      { outside: [{ subject: 'devices.bare', reason: 'no stamp' }] },
    );
    expect([failures, inconclusive]).toEqual([[], []]);
    expect(notes).toHaveLength(5);
    expect(notes.at(-1)).toBe('devices.bare is outside the ledger: no stamp');
  });
});

describe('the ledger as series and as rows of the report', () => {
  test('every metric of the ledger is there, by receiving subject, stage and QoS, 0 included', () => {
    const rows = [
      { ...ROW, lost: 1 },
      { ...ROW, from: 'others', expected: 5, lost: 2 },
      { ...ROW, stage: 2, qos: 0 },
    ];
    const series = ledgerSeries(rows);
    expect(series).toHaveLength(8);
    expect(series).toContainEqual({
      metric: 'lost',
      subject: 'readers',
      stage: 0,
      qos: 1,
      value: 3,
    });
    expect(series).toContainEqual({
      metric: 'expected',
      subject: 'readers',
      stage: 0,
      qos: 1,
      value: 12_005,
    });
    expect(series).toContainEqual({
      metric: 'reordered',
      subject: 'readers',
      stage: 2,
      qos: 0,
      value: 0,
    });
  });

  test('stages add up to one row a sender, receiver and QoS', () => {
    const sums = sumStages([
      { ...ROW, unverifiableFrom: ['b'] },
      { ...ROW, stage: 1, lost: 1, unique: 11_999, unverifiableFrom: ['a'] },
      { ...ROW, stage: 1, qos: 0 },
    ]);
    expect(sums).toHaveLength(2);
    expect(sums[0]).toMatchObject({
      stage: 0,
      pairs: 4,
      expected: 24_000,
      unique: 23_999,
      lost: 1,
      unverifiableFrom: ['a', 'b'],
    });
  });
});
