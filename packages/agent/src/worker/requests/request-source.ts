// Data path
import type { PublishStream } from '@squall/core/plan';
import { DUE, SENT, STAMP_BYTES, type StampConstants, StampWriter } from '@squall/core/stamp';
import { compileTemplate } from '@squall/core/template';
import { encodePublishProperties, type PublishMessage } from '@squall/mqtt';
import type { ClientOrder } from '../clients/client-order.ts';
import { type Moment, momentOf } from '../clock.ts';
import { at } from '../element.ts';
import type { MqttServices } from '../load/group-services.ts';
import type { MessageMaker } from '../publish/message-maker.ts';
import type { MessagePlace } from '../publish/message-source.ts';

interface RequestSourceOptions {
  readonly order: ClientOrder;
  readonly stamp: StampConstants;
  readonly moment: Moment;
  /** Where the client of a position wants its answers. */
  responseTopic(position: number): string;
}

const EMPTY = new Uint8Array(STAMP_BYTES);

/**
 * Makes requests of MQTT 5 out of the messages of a stream: each carries its client's response topic,
 * and as correlation data a stamp of its own, by which the answer is told to be for it
 * [MQTT-3.3.2-15, 4.10.1]. Before MQTT 5 the stamp of the payload has to come back instead.
 */
class RequestSource implements MessageMaker {
  readonly #inner: MessageMaker;
  readonly #options: RequestSourceOptions;
  readonly #stamp: StampWriter;
  /** Properties of each client: what the stream has, and those of a request behind it. */
  readonly #properties: (Uint8Array | undefined)[] = [];
  /** What of the stream they were made from. */
  readonly #bases: (Uint8Array | undefined)[] = [];
  /** Properties of the message before, and what of the stream they were made from. */
  #last: Uint8Array | null = null;
  #lastBase: Uint8Array = new Uint8Array(0);

  constructor(inner: MessageMaker, options: RequestSourceOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#stamp = new StampWriter(options.stamp);
  }

  get message(): PublishMessage {
    return this.#inner.message;
  }

  get failure(): string {
    return this.#inner.failure;
  }

  get ownTopics(): boolean {
    return this.#inner.ownTopics;
  }

  prepare(place: MessagePlace, dueUs: Float64Array): boolean {
    const { message } = this.#inner;
    const { position } = place;
    // What was set for the message before is not the stream's own.
    const made = this.#properties[position];
    if (message.properties === this.#last) message.properties = this.#lastBase;
    if (!this.#inner.prepare(place, dueUs)) return false;
    const base = message.properties;
    const properties =
      made !== undefined && this.#bases[position] === base ? made : this.#make(position, base);
    const stamp = this.#stamp;
    stamp.stage = place.stage;
    stamp.publisher = at(this.#options.order.numbers, position);
    stamp.seq = place.seq;
    stamp.timesUs[DUE] = at(dueUs, 0);
    stamp.timesUs[SENT] = momentOf(this.#options.moment);
    stamp.write(properties, properties.length - STAMP_BYTES);
    this.#last = properties;
    this.#lastBase = base;
    message.properties = properties;
    return true;
  }

  /** The correlation data stands last, so that its place is known. */
  #make(position: number, base: Uint8Array): Uint8Array {
    const topic = encodePublishProperties({
      responseTopic: this.#options.responseTopic(position),
    });
    const correlation = encodePublishProperties({ correlationData: EMPTY });
    const properties = new Uint8Array(base.length + topic.length + correlation.length);
    properties.set(base);
    properties.set(topic, base.length);
    properties.set(correlation, base.length + topic.length);
    this.#properties[position] = properties;
    this.#bases[position] = base;
    return properties;
  }
}

/** The messages of a stream as requests, where they are such and the version has a form for it. */
export function asRequests(
  messages: MessageMaker,
  { request }: PublishStream,
  { services, stamp }: { readonly services: MqttServices; readonly stamp: StampConstants },
): MessageMaker {
  const { order, context, moment, target } = services;
  if (request === null || target.version !== '5') return messages;
  const topic = compileTemplate(request.responseTopic);
  return new RequestSource(messages, {
    order,
    stamp,
    moment,
    responseTopic: (position) => {
      context.n = at(order.numbers, position);
      context.seq = 0;
      return topic.render(context);
    },
  });
}
