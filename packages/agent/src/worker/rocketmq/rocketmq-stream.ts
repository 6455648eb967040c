// Data path
import { Buffer } from 'node:buffer';
import type { PublishStream, RocketmqPublish } from '@squall/core/plan';
import { compileTemplate } from '@squall/core/template';
import {
  type MessageBatch,
  type Producer,
  type ProducerMessage,
  type ProducerOptions,
  Sent,
  type Settlement,
  type TransactionState,
} from '@squall/rocketmq';
import { CONNECTED, FAILED } from '../clients/connection-state.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import { BATCH_LINGER_US, REFUSED_PAUSE_US, UNSENT_LIMIT_BYTES } from '../limits.ts';
import type { Meter } from '../measure/meter.ts';
import { NOT_RENDERED } from '../measure/reasons.ts';
import type { MessageSource } from '../publish/message-source.ts';
import { BACKPRESSURE, GONE, NOT_CONNECTED, OPEN, WINDOW_FULL } from '../publish/outlet.ts';
import type { PublishFailure } from '../publish/publish-group.ts';
import type { RenderContext } from '../publish/render-context.ts';
import { MessageTexts } from './message-texts.ts';
import { RequestPool } from './request-pool.ts';
import type { RocketmqRun } from './rocketmq-run.ts';
import { TransactionShares } from './transaction-shares.ts';

export interface RocketmqStreamOptions {
  readonly index: number;
  readonly spec: PublishStream;
  readonly rocketmq: RocketmqPublish;
  readonly source: MessageSource;
  readonly context: RenderContext;
  /** Position → client index in the group. */
  readonly numbers: Uint32Array;
  /** One of `connection-state.ts` a client. */
  readonly states: Uint8Array;
  readonly moment: Moment;
  failed(meter: Meter, failure: PublishFailure): void;
  /** A half message was left open, and its broker has asked. */
  committedLate(): void;
  /** The client may have room again. */
  pump(position: number): void;
}

/** What a stream needs of its producer. */
export type Sender = Pick<
  Producer,
  'isConnected' | 'unsentBytes' | 'newBatch' | 'send' | 'sendBatch'
>;

const NOTHING = Buffer.alloc(0);
const NO_REQUEST = 0xffff_ffff;

/** One publish stream of a group over all stages: its producer, its requests, its live runs. */
export class RocketmqStream {
  readonly index: number;
  readonly spec: PublishStream;
  readonly pool: RequestPool;
  /** Live runs, the oldest stage first. */
  readonly runs: RocketmqRun[] = [];
  readonly texts: MessageTexts;
  /** As brokers know it. */
  readonly topic: string;
  readonly #options: RocketmqStreamOptions;
  readonly #batch: number;
  /** Requests under way a client, of all stages. */
  readonly #requests: Uint16Array;
  /** The batch that a client is filling, by position; its slot, or `NO_REQUEST`. */
  readonly #batches: (MessageBatch | undefined)[] = [];
  readonly #filling: Uint32Array;
  readonly #fillingSinceUs: Float64Array;
  /** Positions that fill a batch. */
  readonly #open = new Set<number>();
  readonly #message: ProducerMessage = {
    body: NOTHING,
    bodyAt: 0,
    bodyEnd: 0,
    properties: '',
    key: '',
    bornAtMs: 0,
  };
  readonly #place = { position: 0, stage: 0, seq: 0 };
  readonly #shares: TransactionShares | null;
  /** Messages of each client so far, for `{{seq}}`; only where a text asks for it. */
  readonly #seqs: Uint32Array | null;
  #payload: Uint8Array = NOTHING;
  #producer: Sender | null = null;
  /** No request is tried before it, µs. */
  #pausedUntilUs = 0;

  /** @throws SquallError for a template. */
  constructor(options: RocketmqStreamOptions) {
    const count = options.numbers.length;
    this.index = options.index;
    this.spec = options.spec;
    this.#options = options;
    const { topic } = options.spec;
    this.topic = typeof topic === 'string' ? compileTemplate(topic).render(options.context) : '';
    this.#batch = options.rocketmq.batch;
    this.pool = new RequestPool(this.#batch);
    this.texts = new MessageTexts(options.rocketmq, options.context);
    this.#requests = new Uint16Array(count);
    this.#filling = new Uint32Array(count).fill(NO_REQUEST);
    this.#fillingSinceUs = new Float64Array(count);
    this.#seqs = this.texts.perMessage ? new Uint32Array(count) : null;
    const { transaction } = options.rocketmq;
    this.#shares = transaction === null ? null : new TransactionShares(transaction);
  }

  /** What its producer is made with. @param producerGroup any name; transactions are asked for by it. */
  producerOptions(producerGroup: string): ProducerOptions {
    const { rocketmq, spec } = this.#options;
    const { delayLevel, compressFromBytes, shardingKey, queue } = rocketmq;
    return {
      topic: this.topic,
      group: producerGroup,
      properties: this.texts.fixed,
      oneWay: spec.qos === 0,
      ordered: rocketmq.ordered,
      timeoutMs: spec.ackTimeoutUs / 1_000,
      ...(delayLevel !== null && { delayLevel }),
      ...(compressFromBytes !== null && { compressFromBytes }),
      ...(shardingKey !== null && { queues: { by: 'key' } as const }),
      ...(queue !== null && {
        queues: { by: 'number', queueId: queue, brokerName: null } as const,
      }),
      ...(this.#shares !== null && {
        transactions: {
          decide: (token) => this.#decide(token),
          decideAgain: () => {
            this.#options.committedLate();
            return 'commit';
          },
        },
      }),
    };
  }

  use(producer: Sender): void {
    this.#producer = producer;
  }

  refusal(position: number, window: number): number {
    const state = at(this.#options.states, position);
    if (state !== CONNECTED) return state === FAILED ? GONE : NOT_CONNECTED;
    const producer = this.#producer;
    if (producer === null || !producer.isConnected) return NOT_CONNECTED;
    if (at(this.#filling, position) !== NO_REQUEST) return OPEN;
    if (at(this.#requests, position) >= window) return WINDOW_FULL;
    if (this.spec.qos === 0 && producer.unsentBytes > UNSENT_LIMIT_BYTES) return BACKPRESSURE;
    return this.#pausedUntilUs > 0 && momentOf(this.#options.moment) < this.#pausedUntilUs
      ? BACKPRESSURE
      : OPEN;
  }

  /** Makes the next message of a client and sends it, or puts it into the client's batch. */
  hand(run: RocketmqRun, position: number, dueUs: Float64Array): boolean {
    const producer = this.#producer;
    const place = this.#place;
    place.position = position;
    place.stage = run.stage;
    place.seq = run.book.nextOf(position);
    if (producer === null || !this.#make(run, dueUs)) return false;
    if (this.#batch > 1) return this.#gather(run, producer, dueUs);
    const slot = this.#takeSlot(run);
    this.#addTo(slot, dueUs);
    run.handed(position);
    this.#requests[position] = at(this.#requests, position) + 1;
    const sent = producer.send(slot, this.#message);
    return this.#isOnItsWay(slot, sent, this.#message.bodyEnd);
  }

  /** Sends batches that nobody fills any more: closed loops have filled theirs, others linger. */
  flush(): void {
    if (this.#open.size === 0) return;
    const dueUs = momentOf(this.#options.moment) - BATCH_LINGER_US;
    for (const position of this.#open) {
      const run = this.pool.runs[at(this.#filling, position)];
      const lingers = run?.paced === true && !run.feed.exhausted;
      if (!lingers || at(this.#fillingSinceUs, position) <= dueUs) this.#sendBatch(position);
    }
  }

  /** When a batch or a pause wants to be looked at next, µs. */
  nextUs(): number {
    let next = this.#pausedUntilUs > 0 ? this.#pausedUntilUs : Number.POSITIVE_INFINITY;
    for (const position of this.#open) {
      next = Math.min(next, at(this.#fillingSinceUs, position) + BATCH_LINGER_US);
    }
    return next;
  }

  /** After a pause all clients may try again. */
  work(nowUs: number): void {
    if (this.#pausedUntilUs === 0 || nowUs < this.#pausedUntilUs) return;
    this.#pausedUntilUs = 0;
    for (let position = 0; position < this.#requests.length; position++) {
      this.#options.pump(position);
    }
  }

  settled(slot: number, settlement: Settlement): void {
    const run = this.pool.runs[slot] ?? null;
    const position = at(this.pool.positions, slot);
    if (run !== null) {
      run.settled(slot, settlement);
      this.#requests[position] = at(this.#requests, position) - 1;
    }
    this.pool.give(slot);
    if (run !== null) this.#options.pump(position);
  }

  /** A message that waited for its queue was given to the socket. */
  handedOver(slot: number): void {
    this.pool.sentUs[slot] = momentOf(this.#options.moment);
  }

  /** Whatever becomes of the request is of no interest any more. */
  giveUp(slot: number): void {
    const position = at(this.pool.positions, slot);
    this.#requests[position] = at(this.#requests, position) - 1;
    if (at(this.#filling, position) === slot) {
      this.#stopFilling(position);
      this.pool.give(slot);
    } else {
      this.pool.runs[slot] = null;
    }
  }

  failed(meter: Meter, failure: PublishFailure): void {
    if (failure.n > 0) this.#options.failed(meter, failure);
  }

  #make(run: RocketmqRun, dueUs: Float64Array): boolean {
    const { source, context, numbers } = this.#options;
    const { position } = this.#place;
    const message = this.#message;
    if (!source.prepare(this.#place, dueUs)) {
      run.notMade(position, source.failure);
      return false;
    }
    const { payload } = source.message;
    if (payload !== this.#payload) {
      this.#payload = payload;
      message.body = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
      message.bodyEnd = payload.length;
    }
    message.bornAtMs = Date.now();
    if (!this.texts.varies) return true;
    context.n = at(numbers, position);
    if (this.#seqs !== null) {
      context.seq = at(this.#seqs, position);
      this.#seqs[position] = context.seq + 1;
    }
    try {
      message.properties = this.texts.properties(context);
      message.key = this.texts.shardingKey(context);
    } catch (error) {
      run.notMade(position, error instanceof Error ? error.message : String(error));
      return false;
    }
    return true;
  }

  #gather(run: RocketmqRun, producer: Sender, dueUs: Float64Array): boolean {
    const { position } = this.#place;
    const known = this.#batches[position];
    const batch = known ?? producer.newBatch();
    if (known === undefined) this.#batches[position] = batch;
    let slot = at(this.#filling, position);
    // A batch belongs to one stage.
    if (slot !== NO_REQUEST && this.pool.runs[slot] !== run) {
      this.#sendBatch(position);
      slot = NO_REQUEST;
    }
    if (slot === NO_REQUEST) {
      slot = this.#takeSlot(run);
      this.#filling[position] = slot;
      this.#fillingSinceUs[position] = momentOf(this.#options.moment);
      this.#open.add(position);
      this.#requests[position] = at(this.#requests, position) + 1;
    }
    this.#addTo(slot, dueUs);
    batch.add(this.#message);
    run.handed(position);
    if (batch.count >= this.#batch) this.#sendBatch(position);
    return true;
  }

  #sendBatch(position: number): void {
    const slot = at(this.#filling, position);
    const batch = this.#batches[position];
    this.#stopFilling(position);
    if (batch === undefined || this.#producer === null) return;
    this.pool.sentUs[slot] = momentOf(this.#options.moment);
    const sent = this.#producer.sendBatch(slot, batch, Date.now());
    this.#isOnItsWay(slot, sent, this.#message.bodyEnd * batch.count);
    batch.clear();
  }

  #stopFilling(position: number): void {
    this.#filling[position] = NO_REQUEST;
    this.#open.delete(position);
  }

  #takeSlot(run: RocketmqRun): number {
    const { pool } = this;
    const { position, seq } = this.#place;
    const slot = pool.take();
    pool.runs[slot] = run;
    pool.positions[slot] = position;
    pool.firstSeqs[slot] = seq;
    pool.counts[slot] = 0;
    pool.sentUs[slot] = momentOf(this.#options.moment);
    return slot;
  }

  #addTo(slot: number, dueUs: Float64Array): void {
    const { pool } = this;
    const count = at(pool.counts, slot);
    pool.dueUs[slot * pool.batch + count] = at(dueUs, 0);
    pool.counts[slot] = count + 1;
  }

  /** Books what came of a request; false where no broker took it. */
  #isOnItsWay(slot: number, sent: Sent, bytes: number): boolean {
    const { pool } = this;
    const run = pool.runs[slot] ?? null;
    const position = at(pool.positions, slot);
    const count = at(pool.counts, slot);
    if (run === null) return false;
    if (sent === Sent.accepted || sent === Sent.unacknowledged) {
      run.sent(count, bytes);
      if (sent === Sent.accepted) return true;
      run.unacknowledged(count);
    } else {
      const isFull = sent === Sent.full;
      const why = isFull
        ? 'too many requests wait for their answers'
        : 'no connection to the broker';
      run.notSent(slot, `${NOT_RENDERED}${why}`);
      this.#pausedUntilUs = momentOf(this.#options.moment) + REFUSED_PAUSE_US;
    }
    this.#requests[position] = at(this.#requests, position) - 1;
    pool.give(slot);
    return sent === Sent.unacknowledged;
  }

  #decide(slot: number): TransactionState {
    const state = this.#shares?.next() ?? 'commit';
    const run = this.pool.runs[slot] ?? null;
    if (run === null) return state;
    if (state !== 'commit') run.notOwed(slot, state === 'rollback');
    run.meter.fail('transactions', OUTCOMES[state]);
    return state;
  }
}

const OUTCOMES = {
  commit: 'committed',
  rollback: 'rolled back',
  unknown: 'left open',
} as const;
