import type { LedgerPage, PageBody, PageClock } from './page.ts';
import { MAX_PAGE_NUMBERS } from './limits.ts';
import { publisherBodies } from './publisher-pages.ts';
import type { PublisherLedger } from './publisher-ledger.ts';
import { subscriberBodies } from './subscriber-pages.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';

export interface WorkerPagesOptions {
  readonly worker: number;
  readonly clock: PageClock;
  readonly publishers: PublisherLedger;
  readonly subscribers: SubscriberLedger;
  /** `MAX_PAGE_NUMBERS` unless a test wants shorter pages. */
  readonly maxNumbers?: number;
}

/**
 * The pages of one worker, made one at a time as they are asked for: those of `sent` once nothing is
 * sent any more, those of `arrived` after them, when nothing more is waited for. There is always a
 * last page, if only to say that there is nothing.
 */
export class WorkerPages {
  readonly #options: WorkerPagesOptions;
  readonly #maxNumbers: number;
  #next = 0;

  constructor(options: WorkerPagesOptions) {
    this.#options = options;
    this.#maxNumbers = options.maxNumbers ?? MAX_PAGE_NUMBERS;
  }

  /** What the publishers sent. */
  *sent(): Generator<LedgerPage, void> {
    const { publishers, subscribers } = this.#options;
    for (const body of publisherBodies(publishers, subscribers, this.#maxNumbers)) {
      yield this.#numbered(body);
    }
  }

  /** What the subscribers got. To be asked for when all of `sent` has been taken. */
  *arrived(): Generator<LedgerPage, void> {
    for (const body of subscriberBodies(this.#options.subscribers, this.#maxNumbers)) {
      yield this.#numbered(body);
    }
  }

  #numbered(body: PageBody): LedgerPage {
    const { worker, clock } = this.#options;
    const page = this.#next;
    this.#next += 1;
    const { domain, startUs } = clock;
    const last = body.kind === 'tallies';
    return { worker, page, last, clock: { domain, startUs: Math.floor(startUs) }, ...body };
  }
}
