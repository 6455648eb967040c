/** Sequence numbers `from … to`, both included. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** Pieces that the numbers of one epoch may be torn into; frames come in order, so it is one. */
const MAX_RANGES = 1_000;

/** A set of sequence numbers from 1, kept as rising ranges that neither touch nor overlap. */
export class SeqRanges {
  #ranges: SeqRange[];

  constructor(ranges: readonly SeqRange[] = []) {
    this.#ranges = [...ranges];
  }

  /** How many numbers of `from … to` are in the set. */
  overlap(from: number, to: number): number {
    let count = 0;
    for (const range of this.#ranges) {
      count += Math.max(0, Math.min(to, range.to) - Math.max(from, range.from) + 1);
    }
    return count;
  }

  /** Adds `from … to`. False where the set would fall into too many pieces; it is then unchanged. */
  add(from: number, to: number): boolean {
    const touching = this.#ranges.filter((range) => range.to >= from - 1 && range.from <= to + 1);
    if (touching.length === 0 && this.#ranges.length >= MAX_RANGES) return false;
    const joined = {
      from: Math.min(from, ...touching.map((range) => range.from)),
      to: Math.max(to, ...touching.map((range) => range.to)),
    };
    const before = this.#ranges.filter((range) => range.to < joined.from);
    const after = this.#ranges.filter((range) => range.from > joined.to);
    this.#ranges = [...before, joined, ...after];
    return true;
  }

  /** The numbers from 1 to `last` that are not in the set. */
  missing(last: number): SeqRange[] {
    const gaps: SeqRange[] = [];
    let next = 1;
    for (const range of this.#ranges) {
      if (range.from > last) break;
      if (range.from > next) gaps.push({ from: next, to: range.from - 1 });
      next = range.to + 1;
    }
    if (next <= last) gaps.push({ from: next, to: last });
    return gaps;
  }

  /** The highest number up to which none is missing; 0 where 1 is. */
  get contiguous(): number {
    const first = this.#ranges[0];
    return first !== undefined && first.from === 1 ? first.to : 0;
  }

  /** The highest number in the set, 0 where it is empty. */
  get highest(): number {
    return this.#ranges.at(-1)?.to ?? 0;
  }

  get size(): number {
    return this.#ranges.reduce((sum, range) => sum + range.to - range.from + 1, 0);
  }

  toJSON(): readonly SeqRange[] {
    return this.#ranges;
  }
}
