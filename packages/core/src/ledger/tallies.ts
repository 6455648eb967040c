// Data path: what is not booked by pair is counted here.
import { MAX_EXAMPLES } from '../metrics/frame.ts';
import { MAX_TALLIES, MAX_WORKER_EXAMPLES } from './limits.ts';
import { type ArrivalExample, EXAMPLE_KINDS, type Tally } from './page.ts';

/** Indexes in `TALLY_KINDS`. */
export const CORRUPTED = 0;
export const FOREIGN = 1;
export const UNSTAMPED = 2;
export const OUTSIDE = 3;
export const REPLAYED = 4;
export const UNTRACKED = 5;
export const RETAINED = 6;
export const QUEUED = 7;
export const WRONG_TOPIC = 8;
export const WRONG_QOS = 9;
export const UNASKED = 10;

/** Where a message is counted. One object is used again and again. */
export interface TallyKey {
  kind: number;
  /** Number of the subscribe entry in the plan. */
  entry: number;
  stage: number;
  /** Number of the publish stream in the plan, -1 where it is not known. */
  stream: number;
}

/** Counts by (kind, entry, stage, stream): few keys, many messages. */
export class Tallies {
  readonly #stages: number;
  readonly #streams: number;
  readonly #entries: number;
  readonly #places = new Map<number, number>();
  #counts = new Float64Array(64);

  constructor(size: {
    readonly stages: number;
    readonly streams: number;
    readonly entries: number;
  }) {
    this.#stages = size.stages;
    this.#streams = size.streams + 1;
    this.#entries = size.entries;
  }

  /** Counts one message. Keys beyond `MAX_TALLIES` are counted without stage and stream. */
  add(key: TallyKey): void {
    const { kind, entry, stage, stream } = key;
    let number =
      ((kind * this.#entries + entry) * this.#stages + stage) * this.#streams + stream + 1;
    let place = this.#places.get(number);
    if (place === undefined && this.#places.size >= MAX_TALLIES) {
      number = (kind * this.#entries + entry) * this.#stages * this.#streams;
      place = this.#places.get(number);
    }
    if (place === undefined) place = this.#open(number);
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
  }

  list(): Tally[] {
    return Array.from(this.#places, ([number, place]) => {
      const stream = (number % this.#streams) - 1;
      let rest = Math.floor(number / this.#streams);
      const stage = rest % this.#stages;
      rest = Math.floor(rest / this.#stages);
      const entry = rest % this.#entries;
      const kind = Math.floor(rest / this.#entries);
      return { kind, entry, stage, stream, count: this.#counts[place] ?? 0 };
    });
  }

  #open(number: number): number {
    const place = this.#places.size;
    if (place === this.#counts.length) {
      const grown = new Float64Array(place * 2);
      grown.set(this.#counts);
      this.#counts = grown;
    }
    this.#places.set(number, place);
    return place;
  }
}

/** Indexes in `EXAMPLE_KINDS`. */
export const EXAMPLE_CORRUPTED = 0;
export const EXAMPLE_FOREIGN = 1;
export const EXAMPLE_DUPLICATED = 2;
export const EXAMPLE_REORDERED = 3;
export const EXAMPLE_WRONG_TOPIC = 4;
export const EXAMPLE_WRONG_QOS = 5;
export const EXAMPLE_UNEXPECTED = 6;

/** The first `MAX_EXAMPLES` of each kind and stream. */
export class ArrivalExamples {
  readonly list: ArrivalExample[] = [];
  readonly #kept: Uint8Array;
  readonly #streams: number;

  constructor(streams: number) {
    this.#streams = streams + 1;
    this.#kept = new Uint8Array(EXAMPLE_KINDS.length * this.#streams);
  }

  /** Whether another one is wanted: asked first, so that nothing is made in vain. */
  wants(kind: number, stream: number): boolean {
    const kept = this.#kept[kind * this.#streams + stream + 1] ?? MAX_EXAMPLES;
    return kept < MAX_EXAMPLES && this.list.length < MAX_WORKER_EXAMPLES;
  }

  keep(example: ArrivalExample): void {
    const place = example.kind * this.#streams + example.stream + 1;
    this.#kept[place] = (this.#kept[place] ?? 0) + 1;
    this.list.push(example);
  }
}
