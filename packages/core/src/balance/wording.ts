import { formatCount, formatShare } from '../units/index.ts';
import type { BalanceState } from './judge-balance.ts';

/** One plain sentence. */
export function balanceReason(state: BalanceState): string {
  const { equation, values, difference, share, holds, doubt, unresolved, queued } = state;
  const told = Object.entries(values)
    .map(([side, value]) => `${side} ${formatCount(value)}`)
    .join(', ');
  if (doubt !== null) return `the balance ${equation} is inconclusive: ${doubt}`;
  const open = unresolved === 0 ? '' : `, ${formatCount(unresolved)} unresolved`;
  if (holds) return `the balance ${equation} holds: ${told}${open}`;
  const sign = difference > 0 ? 'more' : 'less';
  const part = share === 0 ? '' : ` (${formatShare(Math.abs(share))})`;
  const held = Object.entries(queued)
    .map(([figure, value]) => `; ${figure} still ${formatCount(value)}`)
    .join('');
  return `the balance ${equation} does not hold: ${told}; ${formatCount(Math.abs(difference))} ${sign} than the first${part}${open}${held}`;
}
