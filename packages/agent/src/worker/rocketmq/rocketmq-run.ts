// Data path
import { at } from '../element.ts';
import type { GroupRun } from '../load/group-load.ts';
import type { Meter } from '../measure/meter.ts';
import {
  CONNECTION_LOST,
  NO_ACK_BY_DRAIN_END,
  NO_ACK_IN_TIME,
  NOT_RENDERED,
  UNFINISHED_IN_FLIGHT,
  UNFINISHED_WAITING,
} from '../measure/reasons.ts';
import {
  ACKED,
  BACKLOG,
  BYTES_SENT,
  INFLIGHT,
  PUBLISH_TIME,
  PUBLISHED,
  SENT as SENT_COUNT,
  SERVICE_TIME,
} from '../measure/series.ts';
import type { Feed } from '../publish/feed.ts';
import type { Outlet } from '../publish/outlet.ts';
import type { StageBook } from '../publish/stage-run.ts';
import { isStored, Outcome, type Settlement } from '@squall/rocketmq';
import type { RocketmqStream } from './rocketmq-stream.ts';

export interface RocketmqRunOptions {
  readonly stage: number;
  readonly stream: RocketmqStream;
  readonly meter: Meter;
  readonly book: StageBook;
  /** Requests under way a client in this stage. */
  readonly window: number;
  readonly paced: boolean;
}

/** One stream in one stage: its books from handing over to the answer of the broker. */
export class RocketmqRun implements Outlet, GroupRun {
  readonly stage: number;
  readonly meter: Meter;
  readonly book: StageBook;
  readonly paced: boolean;
  readonly answers = false;
  /** Set right after construction: feed and run know each other. */
  feed: Feed;
  drainUntilUs = Number.POSITIVE_INFINITY;
  readonly #stream: RocketmqStream;
  readonly #window: number;
  /** Messages handed over and not settled, those that wait for their batch to be full included. */
  #inflight = 0;

  constructor(options: RocketmqRunOptions, makeFeed: (outlet: Outlet) => Feed) {
    this.stage = options.stage;
    this.meter = options.meter;
    this.book = options.book;
    this.paced = options.paced;
    this.#stream = options.stream;
    this.#window = options.window;
    this.feed = makeFeed(this);
  }

  get resolved(): boolean {
    return this.feed.exhausted && this.feed.waiting === 0 && this.#inflight === 0;
  }

  get inflight(): number {
    return this.#inflight;
  }

  refusal(position: number): number {
    return this.#stream.refusal(position, this.#window);
  }

  hand(position: number, dueUs: Float64Array): boolean {
    return this.#stream.hand(this, position, dueUs);
  }

  drop(position: number, reason: string, n: number): void {
    this.#stream.failed(this.meter, { metric: 'dropped', reason, position, n });
  }

  /** A message could not be made. */
  notMade(position: number, why: string): void {
    this.fail(position, `${NOT_RENDERED}${why}`, 1);
  }

  fail(position: number, reason: string, n: number): void {
    this.#stream.failed(this.meter, { metric: 'publish_failed', reason, position, n });
  }

  /** A message was made and is on its way, or in a batch that will be. */
  handed(position: number): void {
    this.book.handed(position);
    this.#inflight += 1;
  }

  /** So many messages were given to the socket. */
  sent(n: number, bytes: number): void {
    this.meter.add(SENT_COUNT, n);
    this.meter.add(BYTES_SENT, bytes);
  }

  /** Nothing will be heard of these: sent is published. */
  unacknowledged(n: number): void {
    this.meter.add(PUBLISHED, n);
    this.#inflight -= n;
  }

  /** Messages of a request that no broker took. */
  notSent(slot: number, reason: string): void {
    const { pool } = this.#stream;
    const position = at(pool.positions, slot);
    this.#doubt(slot);
    this.fail(position, reason, at(pool.counts, slot));
    this.#inflight -= at(pool.counts, slot);
  }

  /** The request of a slot found its end. */
  settled(slot: number, settlement: Settlement): void {
    const { pool } = this.#stream;
    const { outcome } = settlement;
    const count = at(pool.counts, slot);
    this.#inflight -= count;
    if (isStored(outcome)) {
      this.#acked(slot, count);
      if (outcome !== Outcome.stored) this.meter.fail('unconfirmed', settlement.reason, count);
      return;
    }
    const position = at(pool.positions, slot);
    if (outcome === Outcome.timedOut || outcome === Outcome.connectionLost) {
      this.#doubt(slot);
      const reason = outcome === Outcome.timedOut ? NO_ACK_IN_TIME : CONNECTION_LOST;
      this.fail(position, reason, count);
      return;
    }
    const first = at(pool.firstSeqs, slot);
    for (let k = 0; k < count; k++) this.book.refused(position, first + k);
    this.fail(position, settlement.reason, count);
  }

  /** The one message of a slot is stored, but nobody is owed it: rolled back, or not decided yet. */
  notOwed(slot: number, isRolledBack: boolean): void {
    const { pool } = this.#stream;
    const position = at(pool.positions, slot);
    const seq = at(pool.firstSeqs, slot);
    if (isRolledBack) this.book.refused(position, seq);
    else this.book.unresolved(position, seq);
  }

  mark(): void {
    this.book.mark();
  }

  showGauges(): void {
    this.meter.gauge(INFLIGHT, this.#inflight);
    this.meter.gauge(BACKLOG, this.feed.waiting);
  }

  /** The drain is over: everything open becomes a failure. */
  drainOver(): void {
    this.feed.dropWaiting();
    const { pool } = this.#stream;
    for (const slot of pool.slotsOf(this)) {
      this.fail(at(pool.positions, slot), NO_ACK_BY_DRAIN_END, at(pool.counts, slot));
    }
    this.#giveUpAll();
  }

  /** The load was cut off: everything open is named as such. */
  cutOff(): void {
    this.meter.fail('unfinished', UNFINISHED_WAITING, this.feed.abandon());
    this.meter.fail('unfinished', UNFINISHED_IN_FLIGHT, this.#inflight);
    this.#giveUpAll();
  }

  #acked(slot: number, count: number): void {
    const { pool } = this.#stream;
    this.meter.add(ACKED, count);
    this.meter.add(PUBLISHED, count);
    for (let k = 0; k < count; k++) {
      this.meter.elapsed(SERVICE_TIME, pool.sentUs, slot);
      if (this.paced) this.meter.elapsed(PUBLISH_TIME, pool.dueUs, slot * pool.batch + k);
    }
  }

  /** Messages that may be stored or not. */
  #doubt(slot: number): void {
    const { pool } = this.#stream;
    const position = at(pool.positions, slot);
    const first = at(pool.firstSeqs, slot);
    for (let k = 0; k < at(pool.counts, slot); k++) this.book.unresolved(position, first + k);
  }

  #giveUpAll(): void {
    for (const slot of this.#stream.pool.slotsOf(this)) {
      this.#doubt(slot);
      this.#stream.giveUp(slot);
    }
    this.#inflight = 0;
  }
}
