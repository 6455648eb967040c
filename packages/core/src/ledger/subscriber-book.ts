// Data path: one `receive` a message.
import { STAMP_CORRUPT, STAMP_OK, type StampReader } from '../stamp/index.ts';
import { SENT } from '../stamp/layout.ts';
import { at } from './element.ts';
import { ARRIVED_AGAIN, ARRIVED_LATE, ARRIVED_REPLAY, type PairKey } from './pair-table.ts';
import type { SubscriberLedger } from './subscriber-ledger.ts';
import {
  CORRUPTED,
  EXAMPLE_CORRUPTED,
  EXAMPLE_DUPLICATED,
  EXAMPLE_FOREIGN,
  EXAMPLE_REORDERED,
  FOREIGN,
  OUTSIDE,
  REPLAYED,
  type TallyKey,
  UNSTAMPED,
  UNTRACKED,
} from './tallies.ts';

/** State of a subscription, as bits. */
export const GRANTED = 1;
/** It was granted once and came to an end since, by the plan or by a refusal; perhaps it began anew. */
export const INTERRUPTED = 2;
/** The lowest QoS that was ever granted stands above the two bits. */
export const QOS_SHIFT = 2;

const MAX_LOSSES = 0xffff;
/** Sequence numbers end below it: a record counts one further. */
const SEQ_END = 0xffff_ffff;

/** A message as it came to a subscriber. One object is used again and again. */
export interface Arrival {
  /** Of the subscriber, in the worker's order. */
  position: number;
  /** Subscribe entry of the group that the message is counted under. */
  entry: number;
  /** The worker's current stage: it owns what carries no stamp. */
  stage: number;
  /** The packet's RETAIN flag [MQTT-3.3.1-8]. */
  retained: boolean;
  bytes: Uint8Array;
  payloadAt: number;
  payloadLength: number;
}

/** The subscribers of one group in one worker: what they were granted, and what came to them. */
export class SubscriberBook {
  readonly group: number;
  /** Position → client index in the group. */
  readonly numbers: Uint32Array;
  /** Filters of the group, over all entries. */
  readonly filters: number;
  /** By position × filters + filter. */
  readonly states: Uint8Array;
  /** When the subscription began: its first SUBACK, raw µs; of the last beginning where it was interrupted. */
  readonly sinceUs: Float64Array;
  /** Connections lost so far, by position. */
  readonly losses: Uint16Array;

  readonly #ledger: SubscriberLedger;
  readonly #firstClient: number;
  readonly #firstEntry: number;
  readonly #key: PairKey = { subscriber: 0, stream: 0, stage: 0, publisher: 0 };
  readonly #tally: TallyKey = { kind: 0, entry: 0, stage: 0, stream: -1 };
  readonly #receipt = { losses: 0, retained: false };

  constructor(ledger: SubscriberLedger, group: number, numbers: Uint32Array) {
    const { plan } = ledger;
    const filters = plan.filters[group] ?? [];
    this.group = group;
    this.numbers = numbers;
    this.filters = filters.length;
    this.states = new Uint8Array(numbers.length * filters.length);
    this.sinceUs = new Float64Array(numbers.length * filters.length);
    this.losses = new Uint16Array(numbers.length);
    this.#ledger = ledger;
    this.#firstClient = plan.firstClient[group] ?? 0;
    this.#firstEntry = filters[0]?.entry.index ?? 0;
  }

  /** SUBACK granted a filter at the worker's moment; `filter` counts over all entries of the group. */
  granted(position: number, filter: number, qos: number): void {
    const place = position * this.filters + filter;
    const state = at(this.states, place);
    const active = (state & GRANTED) !== 0;
    const lowest = active ? Math.min(qos, state >>> QOS_SHIFT) : qos;
    if (!active) this.sinceUs[place] = at(this.#ledger.moment, 0);
    this.states[place] = (lowest << QOS_SHIFT) | (state & INTERRUPTED) | GRANTED;
  }

  /** SUBACK refused a filter: a subscription that was granted before is over. */
  refused(position: number, filter: number): void {
    this.#end(position * this.filters + filter);
  }

  /** The plan ends the client's subscriptions: it unsubscribes or disconnects for good. */
  ended(position: number): void {
    for (let filter = 0; filter < this.filters; filter++) {
      this.#end(position * this.filters + filter);
    }
    // What it misses until it subscribes again lies in a gap that is not its own.
    this.disconnected(position);
  }

  /** The client lost its connection. Its subscriptions go on: what it misses is lost all the same. */
  disconnected(position: number): void {
    this.losses[position] = Math.min(at(this.losses, position) + 1, MAX_LOSSES);
  }

  /**
   * Books a message; `outcome` is what `stamp.read` said of it. Gives whether it is corrupted. The
   * fields of `stamp` may be others afterwards.
   */
  receive(arrival: Arrival, stamp: StampReader, outcome: number): boolean {
    const { runHash } = this.#ledger;
    if (outcome === STAMP_OK) {
      if (stamp.runHash === runHash && this.#isOfPlan(stamp)) this.#book(arrival, stamp);
      else this.#foreign(arrival);
      return false;
    }
    const claimed = stamp.claim(arrival.bytes, arrival.payloadAt, arrival.payloadLength);
    const ours = claimed && stamp.runHash === runHash;
    // A stamp may be damaged in its first bytes, too: the name of the run still says whose it was.
    if (outcome === STAMP_CORRUPT || ours) {
      this.#corrupted(arrival, stamp, ours);
      return true;
    }
    if (this.#ledger.someUnstamped) this.#count(arrival, UNSTAMPED, -1);
    else this.#foreign(arrival);
    return false;
  }

  #book(arrival: Arrival, stamp: StampReader): void {
    const ledger = this.#ledger;
    const stream = stamp.subject;
    const key = this.#key;
    arrival.stage = stamp.stage;
    if (at(ledger.outside, stream) === 1) {
      this.#count(arrival, OUTSIDE, stream);
      return;
    }
    key.subscriber = this.#subscriber(arrival);
    key.stream = stream;
    key.stage = stamp.stage;
    key.publisher = stamp.publisher;
    const record = ledger.pairs.open(key);
    if (record < 0) {
      this.#count(arrival, UNTRACKED, stream);
      return;
    }
    this.#receipt.losses = at(this.losses, arrival.position);
    this.#receipt.retained = arrival.retained;
    const outcome = ledger.pairs.arrive(record, stamp.seq, this.#receipt);
    if (outcome === ARRIVED_AGAIN) this.#example(arrival, stamp, EXAMPLE_DUPLICATED);
    else if (outcome === ARRIVED_LATE) this.#example(arrival, stamp, EXAMPLE_REORDERED);
    else if (outcome === ARRIVED_REPLAY) this.#count(arrival, REPLAYED, stream);
  }

  #corrupted(arrival: Arrival, stamp: StampReader, ours: boolean): void {
    const known = ours && this.#isOfPlan(stamp);
    if (known) arrival.stage = stamp.stage;
    this.#count(arrival, CORRUPTED, known ? stamp.subject : -1);
    if (known) this.#example(arrival, stamp, EXAMPLE_CORRUPTED);
    else this.#nameless(arrival, EXAMPLE_CORRUPTED);
  }

  #foreign(arrival: Arrival): void {
    this.#count(arrival, FOREIGN, -1);
    this.#nameless(arrival, EXAMPLE_FOREIGN);
  }

  #isOfPlan(stamp: StampReader): boolean {
    const { publishers, stages } = this.#ledger;
    // Beyond the last stream there are no publishers.
    return (
      stamp.publisher < at(publishers, stamp.subject) && stamp.stage < stages && stamp.seq < SEQ_END
    );
  }

  #end(place: number): void {
    const state = at(this.states, place);
    if ((state & GRANTED) === 0) return;
    this.states[place] = (state & ~GRANTED) | INTERRUPTED;
  }

  #count(arrival: Arrival, kind: number, stream: number): void {
    const key = this.#tally;
    key.kind = kind;
    key.entry = this.#firstEntry + arrival.entry;
    key.stage = arrival.stage;
    key.stream = stream;
    this.#ledger.tallies.add(key);
  }

  #subscriber(arrival: Arrival): number {
    return this.#firstClient + at(this.numbers, arrival.position);
  }

  #example(arrival: Arrival, stamp: StampReader, kind: number): void {
    const { examples } = this.#ledger;
    if (!examples.wants(kind, stamp.subject)) return;
    examples.keep({
      kind,
      entry: this.#firstEntry + arrival.entry,
      stage: stamp.stage,
      stream: stamp.subject,
      subscriber: this.#subscriber(arrival),
      publisher: stamp.publisher,
      seq: stamp.seq,
      sentUs: kind === EXAMPLE_CORRUPTED ? -1 : at(stamp.timesUs, SENT),
    });
  }

  #nameless(arrival: Arrival, kind: number): void {
    const { examples } = this.#ledger;
    if (!examples.wants(kind, -1)) return;
    const entry = this.#firstEntry + arrival.entry;
    const subscriber = this.#subscriber(arrival);
    const { stage } = arrival;
    examples.keep({ kind, entry, stage, stream: -1, subscriber, publisher: 0, seq: 0, sentUs: -1 });
  }
}
