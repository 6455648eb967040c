// Data path
import { at } from '../element.ts';
import type { RocketmqRun } from './rocketmq-run.ts';

const FIRST_SLOTS = 64;

/**
 * Requests of one stream that wait for their answer, by slot: the slot is the token by which the answer
 * comes back. A request that was given up keeps its slot until its answer or time-out comes.
 */
export class RequestPool {
  /** Null: given up. */
  readonly runs: (RocketmqRun | null)[] = [];
  positions = new Uint32Array(0);
  /** Number of its first message, and how many there are. */
  firstSeqs = new Uint32Array(0);
  counts = new Uint16Array(0);
  /** When it was handed to the socket, raw µs. */
  sentUs = new Float64Array(0);
  /** When its messages were due, raw µs: `batch` places a slot. */
  dueUs = new Float64Array(0);
  readonly batch: number;
  readonly #free: number[] = [];

  constructor(batch: number) {
    this.batch = batch;
  }

  take(): number {
    const slot = this.#free.pop();
    if (slot !== undefined) return slot;
    this.#grow();
    return this.take();
  }

  give(slot: number): void {
    this.runs[slot] = null;
    this.#free.push(slot);
  }

  /** The slots of a run that are in use. */
  *slotsOf(run: RocketmqRun): Generator<number, void> {
    for (const [slot, owner] of this.runs.entries()) if (owner === run) yield slot;
  }

  dueAt(slot: number, k: number): number {
    return at(this.dueUs, slot * this.batch + k);
  }

  #grow(): void {
    const before = this.positions.length;
    const slots = Math.max(FIRST_SLOTS, before * 2);
    const { positions, firstSeqs, counts, sentUs, dueUs } = this;
    this.positions = new Uint32Array(slots);
    this.firstSeqs = new Uint32Array(slots);
    this.counts = new Uint16Array(slots);
    this.sentUs = new Float64Array(slots);
    this.dueUs = new Float64Array(slots * this.batch);
    this.positions.set(positions);
    this.firstSeqs.set(firstSeqs);
    this.counts.set(counts);
    this.sentUs.set(sentUs);
    this.dueUs.set(dueUs);
    for (let slot = slots - 1; slot >= before; slot--) {
      this.runs[slot] = null;
      this.#free.push(slot);
    }
  }
}
