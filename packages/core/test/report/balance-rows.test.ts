import { describe, expect, test } from 'vitest';
import type { BalanceResult } from '../../src/balance/index.ts';
import { balanceRows } from '../../src/report/balance-rows.ts';
import { accepted, planOf } from '../plan/plan-fixture.ts';
import { agentOf } from './scene.ts';

const plan = accepted(
  planOf({
    probes: { rows: { type: 'mysql', url: 'mysql://h/d', query: 'SELECT 1' } },
    balance: { equal: ['devices.acked', 'rows'] },
  }),
);

function result(difference: number): BalanceResult {
  return {
    equation: 'devices.acked = rows',
    values: { 'devices.acked': 100, rows: 100 + difference },
    unresolved: 0,
    difference,
    share: difference / 100,
    holds: difference === 0,
    isBeyond: difference > 0,
    queued: {},
    doubt: null,
    settledAfterUs: difference === 0 ? 5 : null,
    points: [],
  };
}

const lost = agentOf('b', { state: 'lost', lostAtUs: 5, reason: 'gone' });
const states = (difference: number, agents = [agentOf('a', {})]) =>
  balanceRows([result(difference)], { plan, agents }).rows.map(({ state }) => state);

describe('what a balance does to the verdict', () => {
  test('it passes or fails where all that was counted is known', () => {
    expect(states(0)).toEqual(['pass']);
    expect(states(-1)).toEqual(['fail']);
    expect(states(1)).toEqual(['fail']);
    expect(balanceRows([result(-1)], { plan, agents: [] }).failures).toHaveLength(1);
  });

  test('with a lost agent only what is missing is certain', () => {
    expect(states(-1, [lost])).toEqual(['fail']);
    expect(states(0, [agentOf('a', {}), lost])).toEqual(['inconclusive']);
    expect(states(1, [lost])).toEqual(['inconclusive']);
    const { inconclusive } = balanceRows([result(1)], { plan, agents: [lost] });
    expect(inconclusive).toEqual([
      'the balance devices.acked = rows is inconclusive: what an agent counted that was lost is not known',
    ]);
  });

  test('with a lost worker likewise', () => {
    const worker = agentOf('a', { workersLost: [{ worker: 0, reason: 'out of memory' }] });
    expect(states(0, [worker])).toEqual(['inconclusive']);
  });
});
