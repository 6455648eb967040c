export { type BalanceResult, BalanceWatch, type BalanceWatchState } from './balance-watch.ts';
export {
  type BalanceState,
  equationText,
  judgeBalance,
} from './judge-balance.ts';
export { type Queue, queuesOf } from './queues.ts';
export { balanceReason } from './wording.ts';
export type { BalanceFacts } from './read-side.ts';
