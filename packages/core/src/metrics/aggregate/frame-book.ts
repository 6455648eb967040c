import { type SeqRange, SeqRanges } from './seq-ranges.ts';

/**
 * What becomes of a frame. `duplicate`: everything in it was folded before. `conflict`: a part of it
 * was, so it can neither be folded nor called a duplicate (a sender that keeps the rules never makes
 * one: what was attempted is not merged). `foreign`: it belongs to another run.
 */
export type FoldOutcome = 'folded' | 'duplicate' | 'conflict' | 'foreign';

export interface MissingFrames extends SeqRange {
  readonly epoch: number;
}

export interface FrameBookState {
  readonly agent: string;
  readonly epoch: number;
  readonly ranges: readonly SeqRange[];
}

export interface FrameId {
  readonly agent: string;
  readonly epoch: number;
  readonly seqFrom: number;
  readonly seqTo: number;
}

/** Which (agent, epoch, seq) were folded: the memory that makes folding happen exactly once. */
export class FrameBook {
  readonly #agents = new Map<string, Map<number, SeqRanges>>();

  constructor(state: readonly FrameBookState[] = []) {
    for (const { agent, epoch, ranges } of state) {
      this.#epochsOf(agent).set(epoch, new SeqRanges(ranges));
    }
  }

  /** Enters a frame; only on `folded` may it be added to the figures. */
  enter(id: FrameId): Exclude<FoldOutcome, 'foreign'> {
    const ranges = this.#rangesOf(id.agent, id.epoch);
    const known = ranges.overlap(id.seqFrom, id.seqTo);
    if (known === id.seqTo - id.seqFrom + 1) return 'duplicate';
    if (known > 0 || !ranges.add(id.seqFrom, id.seqTo)) return 'conflict';
    return 'folded';
  }

  /** Everything of this epoch up to here is folded: what a checkpoint may acknowledge. */
  contiguous(agent: string, epoch: number): number {
    return this.#agents.get(agent)?.get(epoch)?.contiguous ?? 0;
  }

  /** Frames folded of an agent, all epochs; a coarsened one counts as all that it covers. */
  received(agent: string): number {
    let sum = 0;
    for (const ranges of this.#agents.get(agent)?.values() ?? []) sum += ranges.size;
    return sum;
  }

  /** Gaps of an agent. `lastSeq`: the last sequence of its newest epoch, where it is known. */
  missing(agent: string, lastSeq = 0): MissingFrames[] {
    const epochs = [...(this.#agents.get(agent)?.entries() ?? [])].toSorted(([a], [b]) => a - b);
    if (epochs.length === 0 && lastSeq > 0) return [{ epoch: 1, from: 1, to: lastSeq }];
    return epochs.flatMap(([epoch, ranges], place) => {
      const known = place === epochs.length - 1 ? lastSeq : 0;
      const gaps = ranges.missing(Math.max(known, ranges.highest));
      return gaps.map((gap) => ({ epoch, ...gap }));
    });
  }

  /** Agents of which a frame arrived. */
  agents(): string[] {
    return [...this.#agents.keys()];
  }

  toJSON(): FrameBookState[] {
    return [...this.#agents].flatMap(([agent, epochs]) =>
      [...epochs].map(([epoch, ranges]) => ({ agent, epoch, ranges: ranges.toJSON() })),
    );
  }

  #rangesOf(agent: string, epoch: number): SeqRanges {
    const epochs = this.#epochsOf(agent);
    const known = epochs.get(epoch);
    if (known !== undefined) return known;
    const ranges = new SeqRanges();
    epochs.set(epoch, ranges);
    return ranges;
  }

  #epochsOf(agent: string): Map<number, SeqRanges> {
    const known = this.#agents.get(agent);
    if (known !== undefined) return known;
    const epochs = new Map<number, SeqRanges>();
    this.#agents.set(agent, epochs);
    return epochs;
  }
}
