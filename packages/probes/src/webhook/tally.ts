import { ARRIVED_UNTRACKED, ArrivalBook } from '@squall/core/ledger';
import { Histogram } from '@squall/core/metrics';
import { DUE, runHash, STAMP_CORRUPT, STAMP_NONE, StampReader } from '@squall/core/stamp';
import type { HookClocks } from './hook-clocks.ts';
import { MAX_RUNS } from './limits.ts';
import { eachPayload } from './payloads.ts';

/** What came of one run. */
export interface RunTally {
  readonly book: ArrivalBook;
  /** µs from the moment that a message was due to its arrival here. */
  readonly latency: Histogram;
  corrupted: number;
  /** Of publishers on clocks that are not known here: they have no latency. */
  untimed: number;
}

/** Everything that a webhook was sent, counted. */
export class HookTally {
  /** Requests that were answered as wanted, bad ones included. */
  requests = 0;
  /** Requests that were answered with an error on purpose: nothing of them is counted. */
  refused = 0;
  /** Of the bodies of requests. */
  bytes = 0;
  /** Messages in all bodies; = unique + duplicated + untracked + corrupted + foreign. */
  messages = 0;
  /** Without a stamp, or of more runs than are told apart. */
  foreign = 0;
  /** Bodies without a message, by reason. */
  readonly badBodies = new Map<string, number>();
  readonly #runs = new Map<number, RunTally>();
  readonly #only: number | null;
  readonly #reader = new StampReader();
  readonly #clocks: HookClocks;
  #nowUs = 0;

  /** `run`: the only one whose messages count; those of others are foreign. */
  constructor({ clocks, run }: { readonly clocks: HookClocks; readonly run?: string }) {
    this.#clocks = clocks;
    this.#only = run === undefined ? null : runHash(run);
  }

  get runs(): ReadonlyMap<number, RunTally> {
    return this.#runs;
  }

  /** A whole body that came at `nowUs` of this host's monotonic clock. */
  body(bytes: Uint8Array, nowUs: number): void {
    this.#nowUs = nowUs;
    this.requests += 1;
    this.bytes += bytes.length;
    const fault = eachPayload(bytes, this.#reader, this.#take);
    if (fault !== null) this.#bad(fault);
  }

  /** A body that did not come whole, or was too long. */
  badBody(reason: string, bytes: number): void {
    this.requests += 1;
    this.bytes += bytes;
    this.#bad(reason);
  }

  refuse(): void {
    this.refused += 1;
  }

  #bad(reason: string): void {
    this.badBodies.set(reason, (this.badBodies.get(reason) ?? 0) + 1);
  }

  /** Made once: a body may hold many messages. */
  readonly #take = (state: number, bytes: Uint8Array): void => {
    this.messages += 1;
    const reader = this.#reader;
    if (state === STAMP_CORRUPT) reader.claim(bytes, 0, bytes.length);
    const run = state === STAMP_NONE ? undefined : this.#run(reader.runHash, state);
    if (run === undefined) this.foreign += 1;
    else if (state === STAMP_CORRUPT) run.corrupted += 1;
    else if (run.book.take(reader) !== ARRIVED_UNTRACKED) this.#time(run);
  };

  #time(run: RunTally): void {
    const { clockDomain, timesUs } = this.#reader;
    const sent = this.#clocks.convert(clockDomain, timesUs[DUE] ?? 0, this.#nowUs);
    if (sent === null) run.untimed += 1;
    else {
      run.latency.record(this.#nowUs - sent.us);
      run.latency.widen(sent.boundUs);
    }
  }

  /** A damaged stamp founds no run: what it says of itself may be anything. */
  #run(hash: number, state: number): RunTally | undefined {
    const known = this.#runs.get(hash);
    if (known !== undefined || state === STAMP_CORRUPT) return known;
    if (this.#only !== null && hash !== this.#only) return undefined;
    if (this.#runs.size >= MAX_RUNS) return undefined;
    const run = { book: new ArrivalBook(), latency: new Histogram(), corrupted: 0, untimed: 0 };
    this.#runs.set(hash, run);
    return run;
  }
}
