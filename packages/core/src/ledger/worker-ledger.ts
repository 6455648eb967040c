import type { Plan } from '../plan/plan.ts';
import { ledgerPlan } from './ledger-plan.ts';
import type { LedgerPage, PageClock } from './page.ts';
import { PublisherLedger } from './publisher-ledger.ts';
import { SubscriberLedger } from './subscriber-ledger.ts';
import { workerPages } from './worker-pages.ts';

export interface WorkerLedgerOptions {
  readonly plan: Plan;
  /** Index of the worker in its agent. */
  readonly worker: number;
  /** `runHash` of the run. */
  readonly runHash: number;
  /** The worker's moment: `[0]` is raw µs of the host's monotonic clock. */
  readonly moment: Float64Array;
}

/** Both sides of one worker's ledger. */
export class WorkerLedger {
  readonly publishers: PublisherLedger;
  readonly subscribers: SubscriberLedger;
  readonly #worker: number;

  /** @throws SquallError SQ_PLAN where a topic or filter is not a template. */
  constructor({ plan, worker, runHash, moment }: WorkerLedgerOptions) {
    this.#worker = worker;
    this.publishers = new PublisherLedger(moment);
    this.subscribers = new SubscriberLedger({ plan: ledgerPlan(plan), runHash, moment });
  }

  /** What travels to the controller when the load is over, made page by page as it is asked for. */
  pages(clock: PageClock): Generator<LedgerPage, void> {
    const { publishers, subscribers } = this;
    return workerPages({ worker: this.#worker, clock, publishers, subscribers });
  }
}
