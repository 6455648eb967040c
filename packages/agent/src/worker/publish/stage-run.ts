// Data path
import type { PublisherBook } from '@squall/core/ledger/worker';
import { CONNECTED, FAILED } from '../clients/connection-state.ts';
import { at } from '../element.ts';
import { UNSENT_LIMIT_BYTES } from '../limits.ts';
import type { Meter } from '../measure/meter.ts';
import {
  CONNECTION_LOST,
  LOST_BEFORE_SENT,
  NO_ACK_BY_DRAIN_END,
  NO_ACK_IN_TIME,
  NOT_RENDERED,
  UNFINISHED_IN_FLIGHT,
  UNFINISHED_WAITING,
  UNSENT_BY_DRAIN_END,
  UNSENT_IN_TIME,
} from '../measure/reasons.ts';
import {
  ACKED,
  BACKLOG,
  BYTES_SENT,
  INFLIGHT,
  PUBLISH_TIME,
  PUBLISHED,
  RETRANSMITTED,
  SENT,
  SERVICE_TIME,
} from '../measure/series.ts';
import type { OpenRequests } from '../requests/open-requests.ts';
import type { Feed } from './feed.ts';
import { BACKPRESSURE, GONE, NOT_CONNECTED, OPEN, type Outlet, WINDOW_FULL } from './outlet.ts';
import type { Stream } from './stream.ts';

/** What a stage's messages are noted in for the ledger. */
export type StageBook = Pick<
  PublisherBook,
  'nextOf' | 'handed' | 'mark' | 'refused' | 'unresolved' | 'unresolvedTail'
>;

export interface StageRunOptions {
  readonly stage: number;
  readonly stream: Stream;
  readonly meter: Meter;
  /** Numbers the messages, and knows at the end what became of each. */
  readonly book: StageBook;
  /** In-flight window a client in this stage. */
  readonly window: number;
  /** Whether messages have due times of their own, so that `publish_time` means something. */
  readonly paced: boolean;
  /** What waits for answers, where the messages are requests. */
  readonly requests: OpenRequests | null;
  /** Its messages answer others: how many there will be is not known before. */
  readonly answers: boolean;
}

/**
 * One stream in one stage: the books from handing over to acknowledgement. A message handed over is
 * `sent` once nothing of its client's bytes is left in user space; until then it is *unsent*. All
 * that is known about unsent messages is their number a client, since sockets keep the order.
 */
export class StageRun implements Outlet {
  readonly stage: number;
  readonly meter: Meter;
  readonly requests: OpenRequests | null;
  readonly answers: boolean;
  /** Set right after construction: feed and run know each other. */
  feed: Feed;
  /** When the drain of an ended stage is over, µs; Infinity while the stage runs. */
  drainUntilUs = Number.POSITIVE_INFINITY;

  readonly #stream: Stream;
  readonly #window: number;
  readonly #paced: boolean;
  readonly #book: StageBook;
  readonly #unsent: Uint32Array;
  readonly #unsentBytes: Float64Array;
  /** Messages of QoS 1 and 2 in flight, unsent ones included. */
  readonly #inflight: Uint16Array;
  /** Positions whose unsent messages wait for the next look at their sockets. */
  readonly #dirty: Uint32Array;
  readonly #isDirty: Uint8Array;
  #dirtyCount = 0;
  #unsentTotal = 0;
  #inflightTotal = 0;
  readonly #place = { position: 0, stage: 0, seq: 0 };

  constructor(options: StageRunOptions, makeFeed: (outlet: Outlet) => Feed) {
    const count = options.stream.group.order.count;
    this.stage = options.stage;
    this.meter = options.meter;
    this.#stream = options.stream;
    this.#window = options.window;
    this.#paced = options.paced;
    this.requests = options.requests;
    this.answers = options.answers;
    this.#place.stage = options.stage;
    this.#book = options.book;
    this.#unsent = new Uint32Array(count);
    this.#unsentBytes = new Float64Array(count);
    this.#inflight = new Uint16Array(count);
    this.#dirty = new Uint32Array(count);
    this.#isDirty = new Uint8Array(count);
    this.feed = makeFeed(this);
  }

  /** Whether every message of the stage has found its end. */
  get resolved(): boolean {
    return (
      this.feed.exhausted &&
      this.feed.waiting === 0 &&
      this.#unsentTotal === 0 &&
      this.#inflightTotal === 0 &&
      (this.requests === null || this.requests.total === 0)
    );
  }

  get inflightTotal(): number {
    return this.#inflightTotal;
  }

  refusal(position: number): number {
    const { group } = this.#stream;
    const state = at(group.states, position);
    if (state !== CONNECTED) return state === FAILED ? GONE : NOT_CONNECTED;
    if (this.#stream.qos !== 0) {
      if (at(this.#stream.inflight, position) >= this.#window) return WINDOW_FULL;
      if (group.isLimited && group.table.countOf(position) >= group.receiveMaximumOf(position)) {
        return WINDOW_FULL;
      }
    }
    if (this.requests !== null && !this.requests.hasRoom(position, this.#book.nextOf(position))) {
      return WINDOW_FULL;
    }
    if (at(this.#unsentBytes, position) > UNSENT_LIMIT_BYTES) return BACKPRESSURE;
    if (at(group.blocked, position) === 1 && group.unsentOf(position) > UNSENT_LIMIT_BYTES) {
      return BACKPRESSURE;
    }
    return OPEN;
  }

  hand(position: number, dueUs: Float64Array): boolean {
    const place = this.#place;
    place.position = position;
    place.seq = this.#book.nextOf(position);
    const bytes = this.#stream.publish(place, dueUs);
    if (bytes < 0) {
      this.#fail(position, `${NOT_RENDERED}${this.#stream.failure}`, 1);
      return false;
    }
    this.#book.handed(position);
    this.requests?.open(position, place.seq, dueUs);
    this.#unsent[position] = at(this.#unsent, position) + 1;
    this.#unsentBytes[position] = at(this.#unsentBytes, position) + bytes;
    this.#unsentTotal += 1;
    if (this.#stream.qos !== 0) {
      this.#inflight[position] = at(this.#inflight, position) + 1;
      this.#inflightTotal += 1;
    }
    this.#touch(position);
    return true;
  }

  drop(position: number, reason: string, n: number): void {
    this.#stream.group.failed(this.meter, { metric: 'dropped', reason, position, n });
  }

  /** After a flush: books as sent what the kernel took. */
  settleUnsent(): void {
    const { group } = this.#stream;
    for (let k = 0; k < this.#dirtyCount; k++) {
      const position = at(this.#dirty, k);
      this.#isDirty[position] = 0;
      if (at(this.#unsent, position) === 0) continue;
      if (group.unsentOf(position) === 0) this.allSent(position);
      else group.blocked[position] = 1;
    }
    this.#dirtyCount = 0;
  }

  /** The socket has nothing of this client left in user space. */
  allSent(position: number): void {
    this.#someSent(position, at(this.#unsent, position));
  }

  acked(position: number, entry: number): void {
    const { table } = this.#stream.group;
    this.#answered(position);
    this.meter.add(ACKED, 1);
    this.meter.add(PUBLISHED, 1);
    this.meter.elapsed(SERVICE_TIME, table.sentUs, entry);
    if (this.#paced) this.meter.elapsed(PUBLISH_TIME, table.dueUs, entry);
  }

  /** The broker answered that it does not take the message. */
  rejected(position: number, entry: number, reason: string): void {
    this.#book.refused(position, at(this.#stream.group.seqs, entry));
    this.#answered(position);
    this.#fail(position, reason, 1);
  }

  /** Notes where every client is when the stage's clock starts, if the stream was running before. */
  mark(): void {
    this.#book.mark();
  }

  /** No acknowledgement will be counted for this message in flight: it may have arrived or not. */
  unresolved(position: number, entry: number): void {
    this.#book.unresolved(position, at(this.#stream.group.seqs, entry));
  }

  /** The oldest message of this client got no acknowledgement in time. */
  timedOut(position: number): void {
    const unsent = at(this.#unsent, position);
    if (unsent !== 0 && at(this.#inflight, position) === unsent) {
      this.#forgetUnsent(position, 1);
      this.#fail(position, UNSENT_IN_TIME, 1);
    } else {
      this.#fail(position, NO_ACK_IN_TIME, 1);
    }
    this.#landed(position, 1);
  }

  /** The connection went and nothing of the session is kept, or the session itself went. */
  lost(position: number, reason = CONNECTION_LOST): void {
    const unsent = at(this.#unsent, position);
    const inflight = at(this.#inflight, position);
    this.#fail(position, LOST_BEFORE_SENT, unsent);
    this.#leaveUnsent(position);
    this.#fail(position, reason, inflight - unsent);
    this.#forgetUnsent(position, unsent);
    this.#landed(position, inflight);
  }

  /** The same where the session is kept: only what has no acknowledgement to wait for is lost. */
  lostKeeping(position: number): void {
    if (this.#stream.qos === 0) this.lost(position);
  }

  /** Messages of a kept session went out again: `count` of this client. */
  resent(position: number, count: number): void {
    const known = count - at(this.#unsent, position);
    if (known > 0) this.meter.add(RETRANSMITTED, known);
    if (at(this.#unsent, position) > 0) this.#touch(position);
  }

  /** The drain is over: everything open becomes a failure. */
  drainOver(): void {
    this.feed.dropWaiting();
    this.requests?.giveUp();
    for (let position = 0; position < this.#unsent.length; position++) {
      const unsent = at(this.#unsent, position);
      this.#fail(position, UNSENT_BY_DRAIN_END, unsent);
      this.#leaveUnsent(position);
      this.#fail(position, NO_ACK_BY_DRAIN_END, at(this.#inflight, position) - unsent);
    }
    this.#forgetAll();
  }

  /** The load was cut off: everything open is named as such. */
  cutOff(): void {
    this.requests?.giveUp();
    const waiting = this.feed.abandon() + this.#unsentTotal;
    const inflight = Math.max(0, this.#inflightTotal - this.#unsentTotal);
    this.meter.fail('unfinished', UNFINISHED_WAITING, waiting);
    this.meter.fail('unfinished', UNFINISHED_IN_FLIGHT, inflight);
    for (let position = 0; position < this.#unsent.length; position++) this.#leaveUnsent(position);
    this.#forgetAll();
  }

  showGauges(): void {
    if (this.#stream.qos !== 0) this.meter.gauge(INFLIGHT, this.#inflightTotal);
    this.meter.gauge(BACKLOG, this.feed.waiting);
  }

  /** At QoS 0, what the kernel has not taken whole may arrive or not. Above it entries tell. */
  #leaveUnsent(position: number): void {
    const unsent = at(this.#unsent, position);
    if (this.#stream.qos === 0 && unsent > 0) this.#book.unresolvedTail(position, unsent);
  }

  #fail(position: number, reason: string, n: number): void {
    if (n <= 0) return;
    this.#stream.group.failed(this.meter, { metric: 'publish_failed', reason, position, n });
  }

  #touch(position: number): void {
    if (at(this.#isDirty, position) === 1) return;
    this.#isDirty[position] = 1;
    this.#dirty[this.#dirtyCount] = position;
    this.#dirtyCount += 1;
  }

  #someSent(position: number, n: number): void {
    const unsent = at(this.#unsent, position);
    if (unsent === 0) return;
    const bytes = at(this.#unsentBytes, position);
    const share = n === unsent ? bytes : Math.floor((bytes / unsent) * n);
    this.#unsent[position] = unsent - n;
    this.#unsentBytes[position] = bytes - share;
    this.#unsentTotal -= n;
    this.meter.add(SENT, n);
    this.meter.add(BYTES_SENT, share);
    // At QoS 0 nothing more will be heard: sent is published.
    if (this.#stream.qos === 0) this.meter.add(PUBLISHED, n);
  }

  #forgetUnsent(position: number, n: number): void {
    const unsent = at(this.#unsent, position);
    if (n === 0) return;
    const bytes = at(this.#unsentBytes, position);
    this.#unsentBytes[position] = n === unsent ? 0 : bytes - Math.floor((bytes / unsent) * n);
    this.#unsent[position] = unsent - n;
    this.#unsentTotal -= n;
  }

  #answered(position: number): void {
    // An acknowledged message was sent, even if nobody has looked at the socket since.
    const unsent = at(this.#unsent, position);
    if (unsent !== 0 && at(this.#inflight, position) === unsent) this.#someSent(position, 1);
    this.#landed(position, 1);
  }

  #landed(position: number, n: number): void {
    this.#inflight[position] = at(this.#inflight, position) - n;
    this.#inflightTotal -= n;
    this.#stream.inflight[position] = at(this.#stream.inflight, position) - n;
  }

  #forgetAll(): void {
    for (let position = 0; position < this.#inflight.length; position++) {
      const inflight = at(this.#inflight, position);
      if (inflight > 0) this.#landed(position, inflight);
    }
    this.#unsent.fill(0);
    this.#unsentBytes.fill(0);
    this.#unsentTotal = 0;
  }
}
