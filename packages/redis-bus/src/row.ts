/** Where a stream is read on from, and what one entry of it means. */
export interface Arrival {
  readonly epoch: number;
  readonly seqFrom: number;
  readonly seqTo: number;
}

/**
 * The row of one agent's frames, as read from its stream: how far it is complete, and from where to
 * read on. Entries are taken as they come; a hole is remembered until what belongs there arrives.
 */
export class Row {
  #epoch: number;
  #completeSeq: number;
  #readSeq: number;
  /** The highest sequence that ever came. */
  #seenSeq: number;

  /** What a checkpoint holds needs not be read again. */
  constructor(epoch: number, afterSeq: number) {
    this.#epoch = epoch;
    this.#completeSeq = afterSeq;
    this.#readSeq = afterSeq;
    this.#seenSeq = afterSeq;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The last sequence before the first hole. */
  get completeSeq(): number {
    return this.#completeSeq;
  }

  /** Id of the entry behind which reading goes on. */
  get readId(): string {
    return `${this.#epoch}-${this.#readSeq}`;
  }

  get hasHole(): boolean {
    return this.#seenSeq > this.#completeSeq;
  }

  /** @returns the hole that this entry shows, or null: one of each is told. */
  take({ epoch, seqFrom, seqTo }: Arrival): { seqFrom: number; seqTo: number } | null {
    if (epoch < this.#epoch) return null;
    if (epoch > this.#epoch) {
      this.#epoch = epoch;
      this.#completeSeq = 0;
      this.#readSeq = 0;
      this.#seenSeq = 0;
    }
    const hadHole = this.hasHole;
    if (seqFrom <= this.#completeSeq + 1) this.#completeSeq = Math.max(this.#completeSeq, seqTo);
    this.#readSeq = Math.max(this.#readSeq, seqTo);
    this.#seenSeq = Math.max(this.#seenSeq, seqTo);
    if (hadHole || !this.hasHole) return null;
    return { seqFrom: this.#completeSeq + 1, seqTo: seqFrom - 1 };
  }

  /** Reads again from the hole on. */
  rewind(): void {
    this.#readSeq = this.#completeSeq;
  }
}
