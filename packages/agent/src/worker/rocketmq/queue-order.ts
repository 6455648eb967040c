// Data path
/** What of a stamp says whose message it is, and which. */
interface Numbered {
  readonly subject: number;
  readonly stage: number;
  readonly publisher: number;
  readonly seq: number;
}

/** Sequence numbers of publishers in queues that may be remembered. */
const REMEMBERED_MAX = 1_000_000;
const PUBLISHERS = 2 ** 32;
const STAGES = 256;

/** Whether the messages of each publisher rise within each queue. */
export class QueueOrder {
  readonly #last: Map<number, number>[] = [];
  #remembered = 0;

  /** False where a later message of the same publisher came before it. */
  isNext(queue: number, { subject, stage, publisher, seq }: Numbered): boolean {
    let known = this.#last[queue];
    if (known === undefined) {
      known = new Map();
      this.#last[queue] = known;
    }
    const key = (subject * STAGES + stage) * PUBLISHERS + publisher;
    const before = known.get(key);
    if (before !== undefined && before > seq) return false;
    if (before === undefined) {
      if (this.#remembered >= REMEMBERED_MAX) return true;
      this.#remembered += 1;
    }
    known.set(key, seq);
    return true;
  }
}
