import type { BalanceResult } from '../balance/balance-watch.ts';
import { balanceReason } from '../balance/wording.ts';
import type { Balance } from './model.ts';

export interface JudgedBalance {
  readonly rows: Balance[];
  readonly failures: string[];
  readonly inconclusive: string[];
}

/** The equations of the plan as the report has them, and what they do to the verdict. */
export function balanceRows(results: readonly BalanceResult[]): JudgedBalance {
  const rows = results.map(rowOf);
  const reasons = (state: Balance['state']) =>
    rows.filter((row) => row.state === state).map(({ remark }) => remark);
  return { rows, failures: reasons('fail'), inconclusive: reasons('inconclusive') };
}

function rowOf(result: BalanceResult): Balance {
  const { equation, unresolved, difference, share, holds, doubt, settledAfterUs } = result;
  return {
    equation,
    values: { ...result.values },
    unresolved,
    difference,
    share,
    settledAfterUs: settledAfterUs === null ? null : Math.round(settledAfterUs),
    holds,
    state: doubt !== null ? 'inconclusive' : holds ? 'pass' : 'fail',
    remark: balanceReason(result),
  };
}
