import { describe, expect, test } from 'vitest';
import { balanceReason, BalanceWatch, judgeBalance } from '../../src/balance/index.ts';
import { RunAggregate, type SeriesDelta } from '../../src/metrics/index.ts';
import { ProbeBook } from '../../src/probes/index.ts';
import { accepted, planOf } from '../plan/plan-fixture.ts';

const PROBES = { rows: { type: 'mysql', url: 'mysql://h/d', query: 'SELECT 1' } };

function specOf(balance: object) {
  const plan = accepted(planOf({ probes: PROBES, balance }));
  if (plan.balance === null) throw new Error('no balance');
  return plan.balance;
}

const EQUAL = specOf({ equal: ['devices.acked', 'rows'] });

interface Counted {
  readonly acked: number;
  /** Without an answer in time. */
  readonly unanswered?: number;
  /** Absolute counts, in the order of reading. */
  readonly rows: readonly number[];
}

function factsOf({ acked, unanswered = 0, rows }: Counted) {
  const aggregate = new RunAggregate('r');
  const base = { subject: 'devices', stage: 0, qos: 1 as const };
  const series: SeriesDelta[] = [{ ...base, metric: 'acked', value: acked }];
  if (unanswered > 0) {
    const reason = 'no acknowledgement within the time-out';
    series.push({ ...base, metric: 'publish_failed', reason, value: unanswered });
  }
  aggregate.fold({
    run: 'r',
    agent: 'a',
    epoch: 1,
    seqFrom: 1,
    seqTo: 1,
    slices: [
      { stage: 0, phase: 'main', n: 0, span: 1, fromUs: 0, toUs: 1e6, series, examples: [] },
    ],
  });
  const probes = new ProbeBook(['rows']);
  for (const [index, value] of rows.entries()) {
    const figures = new Map([['value', { value, kind: 'counter', unit: 'count' } as const]]);
    probes.add({ probe: 'rows', atUs: index * 1e6, figures });
  }
  return { aggregate, probes };
}

const judge = (counted: Counted, spec = EQUAL) => judgeBalance(spec, factsOf(counted))[0];

describe('a balance', () => {
  test('counts from the reading before the load', () => {
    expect(judge({ acked: 100, rows: [5_000, 5_100] })).toMatchObject({
      equation: 'devices.acked = rows',
      values: { 'devices.acked': 100, rows: 100 },
      difference: 0,
      holds: true,
      doubt: null,
    });
  });

  test('names what is missing, exactly, and as a share', () => {
    const state = judge({ acked: 1_000, rows: [0, 999] });
    expect(state).toMatchObject({ difference: -1, share: -0.001, holds: false, isBeyond: false });
    expect(state === undefined ? '' : balanceReason(state)).toBe(
      'the balance devices.acked = rows does not hold: devices.acked 1,000, rows 999; 1 less than the first (0.1%)',
    );
  });

  test('messages without an answer may have arrived, and no more than these', () => {
    const open = { acked: 100, unanswered: 5 };
    expect(judge({ ...open, rows: [0, 100] })).toMatchObject({ holds: true, unresolved: 5 });
    expect(judge({ ...open, rows: [0, 105] })?.holds).toBe(true);
    expect(judge({ ...open, rows: [0, 106] })).toMatchObject({ holds: false, isBeyond: true });
    expect(judge({ ...open, rows: [0, 99] })?.holds).toBe(false);
  });

  test('duplicates are allowed for only where the plan says so', () => {
    const twice: Counted = { acked: 100, rows: [0, 120] };
    expect(judge(twice)).toMatchObject({ holds: false, isBeyond: true });
    const allowed = specOf({ equal: ['devices.acked', 'rows'], duplicates: 'allow' });
    expect(judge(twice, allowed)).toMatchObject({ holds: true, difference: 20 });
    expect(judge({ acked: 100, rows: [0, 99] }, allowed)?.holds).toBe(false);
  });

  test('atLeast: the first may have more', () => {
    const least = specOf({ atLeast: ['devices.acked', 'rows'] });
    expect(judge({ acked: 100, rows: [0, 60] }, least)).toMatchObject({
      equation: 'devices.acked ≥ rows',
      holds: true,
    });
    expect(judge({ acked: 100, rows: [0, 101] }, least)?.holds).toBe(false);
  });

  test('a side that went down, or was not read twice, leaves it open', () => {
    expect(judge({ acked: 100, rows: [500, 20, 100] })).toMatchObject({
      holds: false,
      doubt: 'rows went down during the run: it was restarted or emptied',
    });
    expect(judge({ acked: 100, rows: [500] })?.doubt).toContain(
      'could not be read before and after',
    );
    expect(judge({ acked: 0, rows: [] })?.doubt).toContain('could not be read');
  });

  test('its watch tells when it held, counted from the end of the load, and when it opened', () => {
    const facts = factsOf({ acked: 100, rows: [0, 40] });
    const watch = new BalanceWatch(EQUAL, facts);
    watch.look(1e6);
    const figures = new Map([['value', { value: 100, kind: 'counter', unit: 'count' } as const]]);
    facts.probes.add({ probe: 'rows', atUs: 4e6, figures });
    watch.look(4e6);
    watch.look(5e6);
    expect(watch.results(3e6)).toMatchObject([
      {
        holds: true,
        settledAfterUs: 1e6,
        points: [
          [1e6, -60],
          [4e6, 0],
          [5e6, 0],
        ],
      },
    ]);
    const again = new BalanceWatch(EQUAL, facts, JSON.parse(JSON.stringify(watch)));
    expect(again.results(3e6)).toEqual(watch.results(3e6));
  });
});
