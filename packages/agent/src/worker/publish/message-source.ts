// Data path
import type { PublishStream } from '@squall/core/plan';
import {
  crc32,
  DUE,
  SENT,
  STAMP_BYTES,
  type StampConstants,
  StampWriter,
  TEXT_STAMP_BYTES,
  writeTextStamp,
} from '@squall/core/stamp';
import type { PublishMessage } from '@squall/mqtt';
import type { ClientOrder } from '../clients/client-order.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import type { PlanFiles } from '../plan-files.ts';
import { type PayloadForm, payloadForm } from './payload-form.ts';
import { PropertySource } from './property-source.ts';
import type { RenderContext } from './render-context.ts';
import { TopicSource } from './topic-source.ts';

export interface MessageSourceOptions {
  readonly stream: PublishStream;
  readonly order: ClientOrder;
  readonly context: RenderContext;
  readonly files: PlanFiles;
  readonly stamp: StampConstants;
  readonly moment: Moment;
}

/** Which message is to be made. */
export interface MessagePlace {
  position: number;
  stage: number;
  /** Number of the message among those of its client, stream and stage, from 0: for the stamp. */
  seq: number;
}

const NO_BYTES = new Uint8Array(0);

/**
 * Makes the messages of one stream. What does not change from message to message is rendered once;
 * the usual message costs a stamp patched in place.
 */
export class MessageSource {
  /** The message that `prepare` made last; valid until the next `prepare`. */
  readonly message: PublishMessage;
  /** Why `prepare` could not make one. */
  failure = '';

  readonly #moment: Moment;
  readonly #order: ClientOrder;
  readonly #context: RenderContext;
  readonly #topics: TopicSource;
  readonly #payload: PayloadForm;
  readonly #properties: PropertySource;
  /** Whether messages differ in more than their stamps and the topic of their client. */
  readonly #varies: boolean;
  readonly #topicStep: number;
  readonly #stamp: StampWriter | null;
  /** A stamp on its way into text form. */
  readonly #stampBytes = new Uint8Array(STAMP_BYTES);
  /** Where the stamp of the message stands as text; -1: as bytes at its beginning. */
  #textStampAt = -1;
  readonly #restVaries: boolean;
  /** Messages of each client so far, for `{{seq}}`; only where a template may ask for it. */
  readonly #seqs: Uint32Array | null;

  /** @throws RangeError for a topic that may not be published to, SquallError for a template. */
  constructor(options: MessageSourceOptions) {
    const { stream, order, context, files } = options;
    this.#moment = options.moment;
    this.#order = order;
    this.#context = context;
    this.#topics = new TopicSource(stream, order, context);
    this.#payload = payloadForm(stream.payload, files, context);
    this.#properties = new PropertySource(stream, context);
    this.#topicStep = this.#topics.step;
    this.#restVaries = this.#payload.restVaries;
    const { fixed } = this.#payload;
    this.#varies =
      fixed === null ||
      this.#topics.perMessage ||
      this.#topics.several ||
      this.#properties.fixed === null;
    this.#stamp = stream.verify ? new StampWriter(options.stamp) : null;
    if (fixed !== null) this.#stamp?.takeRest(fixed, 0, fixed.length);
    const perMessage =
      this.#topics.perMessage || this.#payload.perMessage || this.#properties.perMessage;
    this.#seqs = perMessage ? new Uint32Array(order.count) : null;
    this.message = {
      topics: this.#topics.table,
      topic: 0,
      payload: fixed ?? NO_BYTES,
      qos: stream.qos,
      retain: stream.retain,
      dup: false,
      packetId: 0,
      properties: this.#properties.fixed ?? NO_BYTES,
      aliases: stream.topicAlias ?? 0,
    };
  }

  /** Whether topics are rendered for each message, so that a copy must keep its own. */
  get ownTopics(): boolean {
    return this.#topics.perMessage;
  }

  /** Makes the next message of a client, or says false and why in `failure`. */
  prepare(place: MessagePlace, dueUs: Float64Array): boolean {
    if (!this.#varies) this.message.topic = this.#topicStep * place.position;
    else if (!this.#render(place)) return false;
    const stamp = this.#stamp;
    if (stamp !== null) {
      stamp.stage = place.stage;
      stamp.publisher = at(this.#order.numbers, place.position);
      stamp.seq = place.seq;
      stamp.timesUs[DUE] = at(dueUs, 0);
      stamp.timesUs[SENT] = momentOf(this.#moment);
      if (this.#textStampAt < 0) stamp.write(this.message.payload, 0);
      else this.#writeText(stamp);
    }
    return true;
  }

  #render({ position, seq }: MessagePlace): boolean {
    const { message } = this;
    const context = this.#context;
    context.n = at(this.#order.numbers, position);
    if (this.#seqs !== null) {
      context.seq = at(this.#seqs, position);
      this.#seqs[position] = context.seq + 1;
    }
    try {
      message.topic = this.#topics.topicOf(position, seq, context);
      message.payload = this.#payload.make(position, seq, context);
      message.properties = this.#properties.of(position, context);
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      return false;
    }
    this.#textStampAt = this.#payload.textStampAt;
    if (this.#restVaries) this.#stamp?.takeRest(message.payload, 0, message.payload.length);
    return true;
  }

  /** The checksum covers what stands before the stamp and behind it. */
  #writeText(stamp: StampWriter): void {
    const { payload } = this.message;
    const from = this.#textStampAt;
    const before = crc32(payload, 0, from);
    stamp.restChecksum = before ^ crc32(payload, from + TEXT_STAMP_BYTES, payload.length);
    stamp.write(this.#stampBytes, 0);
    writeTextStamp(this.#stampBytes, payload, from);
  }
}
