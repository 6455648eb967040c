export {
  ARRIVED_AGAIN,
  ARRIVED_FIRST,
  ARRIVED_UNTRACKED,
  ArrivalBook,
} from './arrival-book.ts';
export { LedgerJoin, type LedgerJoinOptions } from './join/ledger-join.ts';
export { judgeLedger, type LedgerJudgement } from './judgement.ts';
export {
  type LedgerEntry,
  type LedgerFilter,
  ledgerPlan,
  type LedgerPlan,
  type LedgerStream,
} from './ledger-plan.ts';
export { ledgerSeries } from './ledger-series.ts';
export { MAX_JOINED_PAIRS, MAX_PAGE_NUMBERS, MAX_PAIRS } from './limits.ts';
export { hasWildcard, matchesFilter, sharedFilter } from './matches-filter.ts';
export type { LedgerPage, PageClock } from './page.ts';
export { MAX_FRAME_PAGES, readLedgerPages } from './page-codec.ts';
export { PublisherBook, PublisherLedger } from './publisher-ledger.ts';
export {
  type LedgerExample,
  ledgerFigures,
  type LedgerResult,
  type LedgerRow,
  UNKNOWN_SENDER,
} from './row.ts';
export { PlanNames } from './plan-names.ts';
export { type Arrival, SubscriberBook } from './subscriber-book.ts';
export { SubscriberLedger, type SubscriberLedgerOptions } from './subscriber-ledger.ts';
export { sumStages } from './sum-stages.ts';
export { TopicIndex } from './topic-index.ts';
export { topicsOf } from './worker-ledger.ts';
export { WorkerPages, type WorkerPagesOptions } from './worker-pages.ts';
