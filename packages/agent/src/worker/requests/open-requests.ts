// Data path
import type { PublishStream } from '@squall/core/plan';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import { MAX_OPEN_REQUESTS } from '../limits.ts';
import type { Meter } from '../measure/meter.ts';
import { NO_ANSWER_BY_DRAIN_END, NO_ANSWER_IN_TIME } from '../measure/reasons.ts';
import { LATE_RESPONSES, RESPONSE_TIME, RESPONSES, STRAY_RESPONSES } from '../measure/series.ts';
import type { PublishGroup } from '../publish/publish-group.ts';

export interface OpenRequestsOptions {
  readonly clients: number;
  /** Requests without an answer that a client may have. */
  readonly window: number;
  readonly timeoutUs: number;
  readonly meter: Meter;
  readonly moment: Moment;
  /** Books requests that got no answer. */
  failed(position: number, reason: string): void;
}

const FREE = 0;
const OPEN = 1;
/** Its time-out is over: an answer that still comes is late. */
const TIMED_OUT = 2;

/**
 * The requests of one (stream, stage) that wait for their answer. A request has the place of its
 * number modulo the places of its client; the clients lie beside each other, place by place. A second
 * row holds all of them in the order in which they were sent, which is that of their time-outs.
 */
export class OpenRequests {
  readonly #options: OpenRequestsOptions;
  readonly #mask: number;
  readonly #states: Uint8Array;
  readonly #seqs: Uint32Array;
  readonly #dueUs: Float64Array;
  readonly #sentUs: Float64Array;
  /** Open requests of each client. */
  readonly #counts: Uint32Array;
  #total = 0;
  /** Places in the order of sending, a ring; one that was taken again since is known by its time. */
  #row = new Uint32Array(1_024);
  #rowUs = new Float64Array(1_024);
  #first = 0;
  #length = 0;

  constructor(options: OpenRequestsOptions) {
    this.#options = options;
    const places = powerOfTwo(options.window * 2);
    const all = places * options.clients;
    this.#mask = places - 1;
    this.#states = new Uint8Array(all);
    this.#seqs = new Uint32Array(all);
    this.#dueUs = new Float64Array(all);
    this.#sentUs = new Float64Array(all);
    this.#counts = new Uint32Array(options.clients);
  }

  /** Requests without an answer. */
  get total(): number {
    return this.#total;
  }

  /** Whether the client may ask once more: its next request has number `seq`. */
  hasRoom(position: number, seq: number): boolean {
    return (
      at(this.#counts, position) < this.#options.window &&
      at(this.#states, this.#place(position, seq)) !== OPEN &&
      this.#length < MAX_OPEN_REQUESTS
    );
  }

  /** A request was handed over. `dueUs[0]` is when it was due. */
  open(position: number, seq: number, dueUs: Float64Array): void {
    const place = this.#place(position, seq);
    const nowUs = momentOf(this.#options.moment);
    this.#states[place] = OPEN;
    this.#seqs[place] = seq;
    this.#dueUs[place] = at(dueUs, 0);
    this.#sentUs[place] = nowUs;
    this.#counts[position] = at(this.#counts, position) + 1;
    this.#total += 1;
    this.#append(place);
  }

  /** An answer to the client's request `seq` came. True: the client may ask once more. */
  answered(position: number, seq: number): boolean {
    const { meter } = this.#options;
    const place = this.#place(position, seq);
    const state = at(this.#seqs, place) === seq ? at(this.#states, place) : FREE;
    if (state === FREE) {
      meter.add(STRAY_RESPONSES, 1);
      return false;
    }
    this.#states[place] = FREE;
    if (state === TIMED_OUT) {
      meter.add(LATE_RESPONSES, 1);
      return false;
    }
    this.#close(position);
    if (momentOf(this.#options.moment) - at(this.#sentUs, place) > this.#options.timeoutUs) {
      // Nobody has looked since its time-out was over.
      this.#options.failed(position, NO_ANSWER_IN_TIME);
      meter.add(LATE_RESPONSES, 1);
    } else {
      meter.add(RESPONSES, 1);
      meter.elapsed(RESPONSE_TIME, this.#dueUs, place);
    }
    return true;
  }

  /** Fails what waits beyond its time-out; `freed` is told who may ask once more. */
  expire(freed: (position: number) => void): void {
    const { timeoutUs, moment, clients } = this.#options;
    const nowUs = momentOf(moment);
    while (this.#length > 0 && nowUs - at(this.#rowUs, this.#first) > timeoutUs) {
      const place = this.#shift();
      if (place < 0) continue;
      const position = place % clients;
      this.#states[place] = TIMED_OUT;
      this.#close(position);
      this.#options.failed(position, NO_ANSWER_IN_TIME);
      freed(position);
    }
  }

  /** The drain is over: nobody waits for answers any more. */
  giveUp(): void {
    while (this.#length > 0) {
      const place = this.#shift();
      if (place < 0) continue;
      const position = place % this.#options.clients;
      this.#states[place] = TIMED_OUT;
      this.#close(position);
      this.#options.failed(position, NO_ANSWER_BY_DRAIN_END);
    }
  }

  #place(position: number, seq: number): number {
    return (seq & this.#mask) * this.#options.clients + position;
  }

  #close(position: number): void {
    this.#counts[position] = at(this.#counts, position) - 1;
    this.#total -= 1;
  }

  #append(place: number): void {
    if (this.#length === this.#row.length) this.#grow();
    const end = (this.#first + this.#length) % this.#row.length;
    this.#row[end] = place;
    this.#rowUs[end] = at(this.#sentUs, place);
    this.#length += 1;
  }

  /** Takes the first of the row; -1 where it is open no more. */
  #shift(): number {
    const place = at(this.#row, this.#first);
    const sentUs = at(this.#rowUs, this.#first);
    this.#first = (this.#first + 1) % this.#row.length;
    this.#length -= 1;
    const isOpen = at(this.#states, place) === OPEN && at(this.#sentUs, place) === sentUs;
    return isOpen ? place : -1;
  }

  #grow(): void {
    const row = new Uint32Array(this.#row.length * 2);
    const rowUs = new Float64Array(row.length);
    for (let k = 0; k < this.#length; k++) {
      const from = (this.#first + k) % this.#row.length;
      row[k] = at(this.#row, from);
      rowUs[k] = at(this.#rowUs, from);
    }
    this.#row = row;
    this.#rowUs = rowUs;
    this.#first = 0;
  }
}

/** For a stream of requests; null for any other. */
export function openRequests(
  { request }: PublishStream,
  scene: { readonly meter: Meter; readonly window: number; readonly group: PublishGroup },
): OpenRequests | null {
  if (request === null) return null;
  const { meter, window, group } = scene;
  return new OpenRequests({
    clients: group.order.count,
    window,
    timeoutUs: request.timeoutUs,
    meter,
    moment: group.moment,
    failed: (position, reason) =>
      group.failed(meter, { metric: 'request_failed', reason, position, n: 1 }),
  });
}

function powerOfTwo(least: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, least)));
}
