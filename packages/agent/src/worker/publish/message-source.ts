// Data path
import { Buffer } from 'node:buffer';
import type { Payload, PublishStream } from '@squall/core/plan';
import { streamTopics } from '@squall/core/schedule';
import { DUE, SENT, STAMP_BYTES, type StampConstants, StampWriter } from '@squall/core/stamp';
import { compileTemplate, type Template } from '@squall/core/template';
import { NO_PROPERTIES, type PublishMessage, TopicTable } from '@squall/mqtt';
import type { ClientOrder } from '../clients/client-order.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import type { RenderContext } from './render-context.ts';

export interface MessageSourceOptions {
  readonly stream: PublishStream;
  readonly order: ClientOrder;
  readonly context: RenderContext;
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
  readonly #topic: Template;
  /** Of a topic that changes with every message: holds just that one. */
  readonly #ownTopics: boolean;
  readonly #payload: PayloadMaker;
  readonly #stamp: StampWriter | null;
  /** Messages of each client so far, for `{{seq}}`; only where a template may ask for it. */
  readonly #seqs: Uint32Array | null;

  /** @throws RangeError for a topic that may not be published to, SquallError for a template. */
  constructor(options: MessageSourceOptions) {
    const { stream, order, context } = options;
    this.#moment = options.moment;
    this.#order = order;
    this.#context = context;
    this.#topic = compileTemplate(streamTopics(stream)[0] ?? '');
    this.#ownTopics = this.#topic.perMessage;
    this.#payload = payloadMaker(stream.payload, context);
    const stamped = stream.verify && this.#payload.fixed.length >= STAMP_BYTES;
    this.#stamp = stamped ? new StampWriter(options.stamp) : null;
    this.#stamp?.takeRest(this.#payload.fixed, 0, this.#payload.fixed.length);
    const perMessage = this.#topic.perMessage || this.#payload.perMessage;
    this.#seqs = perMessage ? new Uint32Array(order.count) : null;
    this.message = {
      topics: this.#topicTable(),
      topic: 0,
      payload: this.#payload.fixed,
      qos: stream.qos,
      retain: stream.retain,
      dup: false,
      packetId: 0,
      properties: NO_PROPERTIES,
      aliases: stream.topicAlias ?? 0,
    };
  }

  /** Whether messages of one client have different topics, so that a copy must keep its own. */
  get ownTopics(): boolean {
    return this.#ownTopics;
  }

  /** Makes the next message of a client, or says false and why in `failure`. */
  prepare(place: MessagePlace, dueUs: Float64Array): boolean {
    const { message } = this;
    if (this.#seqs !== null || this.#payload.template !== null) {
      if (!this.#render(place.position)) return false;
    }
    if (!this.#ownTopics) message.topic = this.#topic.isStatic ? 0 : place.position;
    const stamp = this.#stamp;
    if (stamp !== null) {
      stamp.stage = place.stage;
      stamp.publisher = at(this.#order.numbers, place.position);
      stamp.seq = place.seq;
      stamp.timesUs[DUE] = at(dueUs, 0);
      stamp.timesUs[SENT] = momentOf(this.#moment);
      stamp.write(message.payload, 0);
    }
    return true;
  }

  #render(position: number): boolean {
    const { message } = this;
    const context = this.#context;
    context.n = at(this.#order.numbers, position);
    if (this.#seqs !== null) {
      context.seq = at(this.#seqs, position);
      this.#seqs[position] = context.seq + 1;
    }
    try {
      if (this.#ownTopics) {
        message.topics.clear();
        message.topic = message.topics.add(this.#topic.render(context));
      }
      message.payload = this.#payload.of(position, context);
      return true;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      return false;
    }
  }

  #topicTable(): TopicTable {
    const table = new TopicTable();
    if (this.#ownTopics) return table;
    const clients = this.#topic.isStatic ? 1 : this.#order.count;
    for (let position = 0; position < clients; position++) {
      this.#context.n = this.#order.count === 0 ? 0 : at(this.#order.numbers, position);
      table.add(this.#topic.render(this.#context));
    }
    return table;
  }
}

/** The payload of a stream: one for all, one a client, or one a message. */
class PayloadMaker {
  /** The one payload; empty where it varies. */
  readonly fixed: Uint8Array;
  readonly template: Template | null;
  readonly #perClient: (Uint8Array | undefined)[] = [];

  constructor(fixed: Uint8Array, template: Template | null) {
    this.fixed = fixed;
    this.template = template;
  }

  get perMessage(): boolean {
    return this.template?.perMessage === true;
  }

  of(position: number, context: RenderContext): Uint8Array {
    if (this.template === null) return this.fixed;
    if (this.template.perMessage) return Buffer.from(this.template.render(context));
    const known = this.#perClient[position];
    if (known !== undefined) return known;
    const made = Buffer.from(this.template.render(context));
    this.#perClient[position] = made;
    return made;
  }
}

function payloadMaker(payload: Payload, context: RenderContext): PayloadMaker {
  switch (payload.kind) {
    case 'size':
      return new PayloadMaker(filler(payload.bytes), null);
    case 'hex':
      return new PayloadMaker(Buffer.from(payload.hex, 'hex'), null);
    case 'text': {
      const template = compileTemplate(payload.text);
      return template.isStatic
        ? new PayloadMaker(Buffer.from(template.render(context)), null)
        : new PayloadMaker(new Uint8Array(0), template);
    }
    default:
      throw new RangeError(`${payload.kind} payloads are not supported by this version`);
  }
}

/** Bytes that no compression shrinks and that are the same in every run: a chain of checksums. */
function filler(bytes: number): Uint8Array {
  const payload = new Uint8Array(bytes);
  let word = 0x9e3779b9;
  for (let place = 0; place < bytes; place++) {
    if (place % 4 === 0) word = Math.imul(word ^ (word >>> 15), 0x2c1b3c6d) + place;
    payload[place] = word >>> ((place % 4) * 8);
  }
  return payload;
}
