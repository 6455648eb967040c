export { type BalanceResult, BalanceWatch, type BalanceWatchState } from './balance-watch.ts';
export {
  type BalanceFacts,
  type BalanceState,
  equationText,
  judgeBalance,
} from './judge-balance.ts';
export { balanceReason } from './wording.ts';
