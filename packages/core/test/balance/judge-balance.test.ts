import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { balanceReason, BalanceWatch, judgeBalance, queuesOf } from '../../src/balance/index.ts';
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
const ALLOWING = specOf({ equal: ['devices.acked', 'rows'], duplicates: 'allow' });

interface Counted {
  readonly acked: number;
  /** Without an answer in time. */
  readonly unanswered?: number;
  /** Of which the session was lost. */
  readonly cut?: number;
  readonly sent?: number;
  /** Absolute counts, in the order of reading. */
  readonly rows: readonly number[];
}

function factsOf({ acked, unanswered = 0, cut = 0, sent = 0, rows }: Counted) {
  const aggregate = new RunAggregate('r');
  const base = { subject: 'devices', stage: 0, qos: 1 as const };
  const series: SeriesDelta[] = [{ ...base, metric: 'acked', value: acked }];
  if (sent > 0) series.push({ ...base, metric: 'sent', value: sent });
  const failed = { 'no acknowledgement within the time-out': unanswered, 'session lost': cut };
  for (const [reason, value] of Object.entries(failed)) {
    if (value > 0) series.push({ ...base, metric: 'publish_failed', reason, value });
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
  for (const [index, value] of rows.entries()) read(probes, value, index * 1e6);
  return { aggregate, probes };
}

function read(probes: ProbeBook, value: number, atUs: number): void {
  const figures = new Map([['value', { value, kind: 'counter', unit: 'count' } as const]]);
  probes.add({ probe: 'rows', atUs, figures });
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

  test('a session that its broker lost leaves open what was in flight', () => {
    expect(judge({ acked: 100, cut: 2, rows: [0, 102] })).toMatchObject({
      holds: true,
      unresolved: 2,
    });
  });

  test('it is the same whichever side stands first', () => {
    const turned = specOf({ equal: ['rows', 'devices.acked'] });
    const open = { acked: 100, unanswered: 5 };
    expect(judge({ ...open, rows: [0, 105] }, turned)).toMatchObject({ holds: true });
    expect(judge({ ...open, rows: [0, 106] }, turned)).toMatchObject({ difference: -6 });
    expect(judge({ ...open, rows: [0, 99] }, turned)).toMatchObject({
      difference: 1,
      holds: false,
    });
  });

  test('what was sent holds what is open already', () => {
    const sent = specOf({ equal: ['devices.sent', 'rows'] });
    const open = { acked: 95, sent: 100, unanswered: 5 };
    expect(judge({ ...open, rows: [0, 95] }, sent)?.holds).toBe(true);
    expect(judge({ ...open, rows: [0, 100] }, sent)?.holds).toBe(true);
    expect(judge({ ...open, rows: [0, 94] }, sent)?.holds).toBe(false);
    expect(judge({ ...open, rows: [0, 101] }, sent)).toMatchObject({
      holds: false,
      isBeyond: true,
    });
  });

  test('of several sides the one that is wrong is named, not one that is farther off', () => {
    const probed = accepted(
      planOf({
        probes: { ...PROBES, more: PROBES.rows },
        balance: { atLeast: ['devices.acked', 'rows', 'more'] },
      }),
    ).balance;
    if (probed === null) throw new Error('no balance');
    const { aggregate } = factsOf({ acked: 100, rows: [] });
    const probes = new ProbeBook(['rows', 'more']);
    for (const [probe, values] of Object.entries({ rows: [0, 60], more: [0, 101] })) {
      for (const [index, value] of values.entries()) {
        const figures = new Map([['value', { value, kind: 'counter', unit: 'count' } as const]]);
        probes.add({ probe, atUs: index, figures });
      }
    }
    expect(judgeBalance(probed, { aggregate, probes })[0]).toMatchObject({ difference: 1 });
  });

  test('duplicates are allowed for only where the plan says so', () => {
    const twice: Counted = { acked: 100, rows: [0, 120] };
    expect(judge(twice)).toMatchObject({ holds: false, isBeyond: true });
    expect(judge(twice, ALLOWING)).toMatchObject({ holds: true, difference: 20 });
    expect(judge({ acked: 100, rows: [0, 99] }, ALLOWING)?.holds).toBe(false);
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

  test('a first reading within the load tells nothing of what grew before it', () => {
    const facts = factsOf({ acked: 100, rows: [] });
    read(facts.probes, 40, 2e6);
    read(facts.probes, 100, 4e6);
    expect(judgeBalance(EQUAL, facts)[0]?.doubt).toContain('could not be read before and after');
  });

  test('a last reading within the load tells nothing of its end, whether it fits or not', () => {
    for (const rows of [60, 100]) {
      const facts = factsOf({ acked: 100, rows: [0, rows] });
      facts.probes.failed('rows', 'timed out', 'no answer within 5s');
      expect(judgeBalance(EQUAL, facts, { loadEndUs: 3e6 })[0]).toMatchObject({
        holds: false,
        doubt: 'rows could not be read after the load (no answer within 5s)',
      });
      expect(judgeBalance(EQUAL, facts, { loadEndUs: 1e6 })[0]?.doubt).toBeNull();
    }
  });

  test('what a queue still holds is told', () => {
    const facts = factsOf({ acked: 100, rows: [0, 90] });
    const hold = (value: number, atUs: number): void => {
      const figures = new Map([['sink.open', { value, kind: 'gauge', unit: 'count' } as const]]);
      facts.probes.add({ probe: 'emqx', atUs, figures });
    };
    hold(10, 1e6);
    const queues = [{ probe: 'emqx', figure: 'sink.open' }];
    const [state] = judgeBalance(EQUAL, { ...facts, queues });
    expect(state?.queued).toEqual({ 'emqx.sink.open': 10 });
    expect(state === undefined ? '' : balanceReason(state)).toContain(
      '10 less than the first (10%); emqx.sink.open still 10',
    );
    hold(0, 2e6);
    expect(judgeBalance(EQUAL, { ...facts, queues })[0]?.queued).toEqual({});
  });

  test('the queues of a plan are those of its rule engines', () => {
    const { probes } = accepted(
      planOf({
        probes: {
          ...PROBES,
          emqx: { type: 'emqx', url: 'http://k:s@h:18083' },
          page: { type: 'prometheus', url: 'http://h/metrics', preset: 'emqx' },
        },
      }),
    );
    expect(queuesOf(probes)).toEqual([
      { probe: 'emqx', figure: 'rule.open' },
      { probe: 'emqx', figure: 'sink.open' },
      { probe: 'page', figure: 'sink.inflight' },
    ]);
  });

  test('holds just where acked ≤ rows ≤ acked + unresolved, from whatever count the table began', () => {
    const few = fc.nat({ max: 50 });
    fc.assert(
      fc.property(few, few, few, few, fc.boolean(), (acked, unanswered, before, grown, allow) => {
        const spec = allow ? ALLOWING : EQUAL;
        const state = judge({ acked, unanswered, rows: [before, before + grown] }, spec);
        const isIn = grown >= acked && (allow || grown <= acked + unanswered);
        expect(state).toMatchObject({
          holds: isIn,
          difference: grown - acked,
          unresolved: unanswered,
          isBeyond: !allow && grown > acked + unanswered,
        });
      }),
    );
  });

  test('its watch tells when it held, counted from the end of the load, and when it opened', () => {
    const facts = factsOf({ acked: 100, rows: [0, 40] });
    const watch = new BalanceWatch(EQUAL, facts);
    watch.look(1e6);
    read(facts.probes, 100, 4e6);
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
