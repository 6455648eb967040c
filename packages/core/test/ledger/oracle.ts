export type Count =
  | 'expected'
  | 'unique'
  | 'lost'
  | 'lostDisconnected'
  | 'duplicated'
  | 'reordered'
  | 'corrupted'
  | 'foreign'
  | 'unresolved'
  | 'unresolvedArrived';

/** Counts what happens, message by message, the way a person with a list would. */
export class Oracle {
  readonly #counts = new Map<string, Record<Count, number>>();
  readonly #got = new Map<string, Set<number>>();
  readonly #highest = new Map<string, number>();
  readonly #lossesThen = new Map<string, number>();
  /** Missing numbers that were jumped over while the subscriber had been away. */
  readonly #jumped = new Map<string, Set<number>>();

  count(row: string, count: Count, by = 1): void {
    const counts = this.#counts.get(row) ?? emptyCounts();
    counts[count] += by;
    this.#counts.set(row, counts);
  }

  arrived(row: string, pair: string, { seq, losses }: { seq: number; losses: number }): void {
    const got = this.#got.get(pair) ?? new Set();
    this.#got.set(pair, got);
    const highest = this.#highest.get(pair) ?? -1;
    if (got.has(seq)) this.count(row, 'duplicated');
    else if (seq < highest) this.count(row, 'reordered');
    got.add(seq);
    if (seq < highest) return;
    if (losses !== (this.#lossesThen.get(pair) ?? 0)) {
      const jumped = this.#jumped.get(pair) ?? new Set();
      for (let missed = highest + 1; missed < seq; missed++) jumped.add(missed);
      this.#jumped.set(pair, jumped);
    }
    this.#highest.set(pair, seq);
    this.#lossesThen.set(pair, losses);
  }

  has(pair: string, seq: number): boolean {
    return this.#got.get(pair)?.has(seq) === true;
  }

  /** Whether a message that never came fell into a time without connection. */
  wasAway(pair: string, seq: number, lossesNow: number): boolean {
    if (this.#jumped.get(pair)?.has(seq) === true) return true;
    const highest = this.#highest.get(pair) ?? -1;
    return seq > highest && lossesNow !== (this.#lossesThen.get(pair) ?? 0);
  }

  get counts(): Map<string, Record<Count, number>> {
    return this.#counts;
  }
}

export function emptyCounts(): Record<Count, number> {
  return {
    expected: 0,
    unique: 0,
    lost: 0,
    lostDisconnected: 0,
    duplicated: 0,
    reordered: 0,
    corrupted: 0,
    foreign: 0,
    unresolved: 0,
    unresolvedArrived: 0,
  };
}
