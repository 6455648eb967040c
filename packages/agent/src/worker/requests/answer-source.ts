// Data path
import type { RespondSpec } from '@squall/core/plan';
import { NO_PROPERTIES, type PublishMessage, TopicTable } from '@squall/mqtt';
import type { MessageMaker } from '../publish/message-maker.ts';
import type { MessagePlace } from '../publish/message-source.ts';
import type { RequestView } from './request-view.ts';
import { Scratch } from './scratch.ts';

/** Identifier of Correlation Data and two bytes of length [MQTT-3.3.2.3.6]. */
const CORRELATION = 0x09;
const CORRELATION_HEAD = 3;

/**
 * Makes answers: the topic is the request's response topic or that of the plan, the correlation data
 * and, where the plan gives none, the payload go back as they came. What is copied goes into memory
 * that is used again, since each answer is written before the next one is made.
 */
export class AnswerSource implements MessageMaker {
  readonly #inner: MessageMaker;
  readonly #spec: RespondSpec;
  readonly #topics = new TopicTable();
  readonly #ownTopics: TopicTable;
  readonly #payloads = new Scratch();
  readonly #properties = new Scratch();
  #request: RequestView | null = null;

  /** @param inner makes the messages that the plan gives: topic and payload of the answers. */
  constructor(inner: MessageMaker, spec: RespondSpec) {
    this.#inner = inner;
    this.#spec = spec;
    this.#ownTopics = inner.message.topics;
  }

  get message(): PublishMessage {
    return this.#inner.message;
  }

  get failure(): string {
    return this.#inner.failure;
  }

  get ownTopics(): boolean {
    return this.#spec.to === null || this.#inner.ownTopics;
  }

  /** Whether there is a topic to answer it on. */
  canAnswer({ bytes, responseTopicAt, responseTopicLength }: RequestView): boolean {
    if (this.#spec.to !== null) return true;
    return (
      responseTopicAt >= 0 && this.#topics.replace(bytes, responseTopicAt, responseTopicLength)
    );
  }

  /** The next answer is to this request, which `canAnswer` has said yes to. */
  take(request: RequestView): void {
    this.#request = request;
    const { bytes, responseTopicAt, responseTopicLength } = request;
    if (this.#spec.to === null) this.#topics.replace(bytes, responseTopicAt, responseTopicLength);
  }

  prepare(place: MessagePlace, dueUs: Float64Array): boolean {
    const { message } = this.#inner;
    const request = this.#request;
    message.topics = this.#ownTopics;
    if (request === null || !this.#inner.prepare(place, dueUs)) return false;
    if (this.#spec.to === null) {
      message.topics = this.#topics;
      message.topic = 0;
    }
    const { bytes, payloadAt, payloadLength, correlationAt, correlationLength } = request;
    if (this.#spec.payload === null) {
      message.payload = this.#payloads.of(payloadLength);
      bytes.copy(message.payload, 0, payloadAt, payloadAt + payloadLength);
    }
    message.properties = NO_PROPERTIES;
    if (correlationAt >= 0) {
      const properties = this.#properties.of(CORRELATION_HEAD + correlationLength);
      properties[0] = CORRELATION;
      properties[1] = correlationLength >>> 8;
      properties[2] = correlationLength;
      bytes.copy(properties, CORRELATION_HEAD, correlationAt, correlationAt + correlationLength);
      message.properties = properties;
    }
    return true;
  }
}
