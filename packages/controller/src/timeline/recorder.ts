import { type Slice, spreadOverSteps, type StepShare } from '@squall/core/metrics';
import type { TimelineChunk } from '../store/store.ts';
import { type ChunkData, CHUNK_SECONDS, decodeChunk, encodeChunk, SECOND_US } from './chunk.ts';
import { OpenChunk } from './open-chunk.ts';

/**
 * Chunks that still take what agents report: this one and the one before, so that an agent may be late
 * by a minute at least. What comes later still is in all totals, but not in the time line.
 */
export const GROWING_CHUNKS = 2;
/** What comes from so far ahead is a fault of a clock. */
const MAX_CHUNKS_AHEAD = 60;
/** Chunks that wait for a store that does not take them; beyond it the oldest are given up. */
const MAX_WAITING_CHUNKS = 120;

/** What has changed since it was written last. */
export interface ChangedChunks {
  readonly chunks: readonly TimelineChunk[];
  /** They are written: told once they are, else they are given again. */
  kept(): void;
}

interface Held {
  readonly chunk: OpenChunk;
  /** Counts the additions. */
  version: number;
  keptVersion: number;
}

/**
 * Writes down how a run goes, second by second of its own time. It is fed with every slice once, and
 * asked from time to time for what has changed. Stages, QoS and reasons are summed: a curve is
 * (metric, subject).
 */
export class TimelineRecorder {
  readonly #held = new Map<number, Held>();
  /** By agent: end of its newest slice, µs. */
  readonly #reported: Record<string, number> = {};
  /** The same, as an earlier process left it: what is not newer was written down by that one. */
  readonly #known: Readonly<Record<string, number>>;
  #newest = 0;
  #late = 0;

  /** `known`: the newest chunks that an earlier process wrote down of this run. */
  constructor(known: readonly TimelineChunk[] = []) {
    let reported: Readonly<Record<string, number>> = {};
    for (const { index, bytes } of known) {
      const data = decodeChunk(bytes);
      reported = data.reported;
      this.#newest = index;
      this.#held.set(index, { chunk: new OpenChunk(data), version: 0, keptVersion: 0 });
    }
    this.#known = reported;
    Object.assign(this.#reported, reported);
  }

  /** Slices too late (or too far ahead) for the time line, and minutes that no store took. */
  get late(): number {
    return this.#late;
  }

  add(agent: string, slice: Slice): void {
    if (slice.toUs <= (this.#known[agent] ?? Number.NEGATIVE_INFINITY)) return;
    this.#reported[agent] = Math.max(this.#reported[agent] ?? slice.toUs, slice.toUs);
    const shares = spreadOverSteps(slice.fromUs, slice.toUs, SECOND_US);
    const parts = new Map<number, StepShare[]>();
    for (const { step, share } of shares) {
      const index = Math.floor(step / CHUNK_SECONDS);
      const part = { step: step - index * CHUNK_SECONDS, share };
      parts.set(index, [...(parts.get(index) ?? []), part]);
    }
    const fit = [...parts].filter(([index]) => this.#grows(index));
    if (fit.length < parts.size) this.#late++;
    for (const [index, own] of fit) {
      this.#newest = Math.max(this.#newest, index);
      const held = this.#hold(index);
      held.chunk.add(agent, slice, own);
      held.version++;
    }
  }

  changed(): ChangedChunks {
    const changed = [...this.#held].filter(([, { version, keptVersion }]) => version > keptVersion);
    const versions = changed.map(([, held]) => ({ held, version: held.version }));
    return {
      chunks: changed.map(([index, { chunk }]) => ({
        index,
        bytes: encodeChunk(chunk.data(this.#reported)),
      })),
      kept: () => {
        for (const { held, version } of versions) held.keptVersion = version;
        this.#forget();
      },
    };
  }

  /** Everything that may be newer here than in the store. */
  held(): Map<number, ChunkData> {
    return new Map(
      [...this.#held].map(([index, { chunk }]) => [index, chunk.data(this.#reported)]),
    );
  }

  #grows(index: number): boolean {
    return index > this.#newest - GROWING_CHUNKS && index <= this.#newest + MAX_CHUNKS_AHEAD;
  }

  #hold(index: number): Held {
    const known = this.#held.get(index);
    if (known !== undefined) return known;
    const held = { chunk: new OpenChunk(), version: 0, keptVersion: 0 };
    this.#held.set(index, held);
    if (this.#held.size > MAX_WAITING_CHUNKS) {
      this.#held.delete(Math.min(...this.#held.keys()));
      this.#late++;
    }
    return held;
  }

  #forget(): void {
    for (const [index, { version, keptVersion }] of this.#held) {
      if (version === keptVersion && !this.#grows(index)) this.#held.delete(index);
    }
  }
}
