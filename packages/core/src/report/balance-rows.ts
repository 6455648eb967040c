import type { BalanceResult } from '../balance/balance-watch.ts';
import { balanceReason } from '../balance/wording.ts';
import type { Plan } from '../plan/plan.ts';
import type { AgentRecord } from './input.ts';
import type { Balance } from './model.ts';

export interface JudgedBalance {
  readonly rows: Balance[];
  readonly failures: string[];
  readonly inconclusive: string[];
}

interface Scene {
  readonly plan: Plan;
  readonly agents: readonly AgentRecord[];
}

/** The equations of the plan as the report has them, and what they do to the verdict. */
export function balanceRows(results: readonly BalanceResult[], scene: Scene): JudgedBalance {
  const rows = results.map((result, index) => rowOf(withLost(result, { index, ...scene })));
  const reasons = (state: Balance['state']) =>
    rows.filter((row) => row.state === state).map(({ remark }) => remark);
  return { rows, failures: reasons('fail'), inconclusive: reasons('inconclusive') };
}

/** An agent that was lost took counts with it: then what the first side had is at least what is known. */
function withLost(
  result: BalanceResult,
  { index, plan, agents }: Scene & { readonly index: number },
): BalanceResult {
  const sides = plan.balance?.equations[index]?.sides ?? [];
  const isShort = agents.some((agent) => agent.state === 'lost' || agent.workersLost.length > 0);
  const [first] = sides;
  const isCertain =
    result.doubt !== null || !isShort || sides.every(({ kind }) => kind === 'probe');
  // What is missing against the part that is known is missing against all of it.
  const isLess = first?.kind === 'counter' && !result.holds && result.difference < 0;
  if (isCertain || isLess) return result;
  const doubt = 'what an agent counted that was lost is not known';
  return { ...result, holds: false, settledAfterUs: null, doubt };
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
