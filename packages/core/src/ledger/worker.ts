/** What a worker needs of the ledger: the data path, without the join and its judgement. */
export type { LedgerPage, PageClock } from './page.ts';
export type { PublisherBook } from './publisher-ledger.ts';
export {
  type Arrival,
  RECEIVED_AWAITED,
  RECEIVED_CORRUPTED,
  type SubscriberBook,
} from './subscriber-book.ts';
export type { WorkerPages } from './worker-pages.ts';
export { WorkerLedger, type WorkerLedgerOptions } from './worker-ledger.ts';
