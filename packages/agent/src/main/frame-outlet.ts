import { type Batch, type BusSender, Outbox } from '@squall/core/bus';
import type { LedgerPage } from '@squall/core/ledger/worker';
import type { Frame, Slice } from '@squall/core/metrics';

export interface FrameOutletOptions {
  readonly sender: BusSender;
  readonly run: string;
  readonly agent: string;
  readonly epoch: number;
  /** Frames in the outbox beyond which pages of the ledger wait. */
  readonly ledgerFrames: number;
  /** After a batch whose fate is unknown, when to offer it again without being asked. */
  readonly retryUs: number;
  /** Told of every batch that got through or did not. */
  readonly watch?: { worked(): void; failed(reason: string): void };
}

/**
 * The agent's end of the bus: numbers the frames of its epoch from 1, keeps them in the outbox until
 * the controller's checkpoint has them, and has at most one batch on its way. Nothing here waits for
 * the bus: a push always returns at once.
 */
export class FrameOutlet {
  readonly #options: FrameOutletOptions;
  readonly #outbox = new Outbox();
  readonly #emptyListeners: (() => void)[] = [];
  /** Pages without room yet: one a worker at most, since the next waits until it is taken. */
  readonly #pages: { readonly page: LedgerPage; readonly taken: () => void }[] = [];
  #retryTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: FrameOutletOptions) {
    this.#options = options;
    options.sender.onAcknowledged((seq) => {
      this.#outbox.acknowledge(seq);
      this.#takePages();
      if (this.#outbox.isEmpty) this.#tellEmpty();
      else this.#pump();
    });
  }

  push(slice: Slice): void {
    this.#append({ slices: [slice] });
    this.#pump();
  }

  /** A page of the ledger is a frame of its own; `taken` is called when it has become one. */
  pushPage(page: LedgerPage, taken: () => void): void {
    this.#pages.push({ page, taken });
    this.#takePages();
    this.#pump();
  }

  /** Sequence of the last frame, 0 before the first. */
  get lastSeq(): number {
    return this.#outbox.lastSeq;
  }

  /** Frames that no checkpoint has yet. */
  get waiting(): number {
    return this.#outbox.size;
  }

  /** What was on its way, or was taken, may be lost: all that is unacknowledged goes again. */
  resend(): void {
    this.#outbox.rewind();
    this.#pump();
  }

  /** Resolves when every frame is acknowledged; the caller has the deadline. */
  allAcknowledged(): Promise<void> {
    if (this.#outbox.isEmpty) return Promise.resolve();
    return new Promise((resolve) => {
      this.#emptyListeners.push(resolve);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    this.#tellEmpty();
    await this.#options.sender.close();
  }

  #append(contents: Pick<Frame, 'slices' | 'pages'>): void {
    const { run, agent, epoch } = this.#options;
    const seq = this.#outbox.lastSeq + 1;
    this.#outbox.append({ run, agent, epoch, seqFrom: seq, seqTo: seq, ...contents });
  }

  /** Frames with pages cannot be made coarser, so they must not fill the outbox. */
  #takePages(): void {
    while (!this.#closed && this.#outbox.size < this.#options.ledgerFrames) {
      const next = this.#pages.shift();
      if (next === undefined) return;
      this.#append({ slices: [], pages: [next.page] });
      next.taken();
    }
  }

  #pump(): void {
    if (this.#closed) return;
    const batch = this.#outbox.takeBatch();
    if (batch === null) return;
    void this.#send(batch);
  }

  async #send(batch: Batch): Promise<void> {
    const { sender, watch } = this.#options;
    try {
      this.#outbox.taken(batch, await sender.send(batch));
    } catch (error) {
      this.#outbox.failed(batch);
      if (this.#closed) return;
      watch?.failed(error instanceof Error ? error.message : String(error));
      this.#retry();
      return;
    }
    watch?.worked();
    this.#pump();
  }

  #retry(): void {
    clearTimeout(this.#retryTimer);
    if (this.#closed) return;
    this.#retryTimer = setTimeout(() => this.#pump(), this.#options.retryUs / 1000);
  }

  #tellEmpty(): void {
    for (const listener of this.#emptyListeners.splice(0)) listener();
  }
}
