// Data path: every consumed message passes here.
import type { AclSigner } from '../codec/acl-signer.ts';
import { hasTextAt } from '../codec/bytes.ts';
import { findProperty, Property, type PropertyPlace } from '../codec/message-properties.ts';
import { RecordReader } from '../codec/record-reader.ts';
import { RequestCode } from '../codec/request-code.ts';
import { RequestTemplate } from '../codec/request-template.ts';
import { ResponseCode } from '../codec/response-code.ts';
import type { Connection, Outgoing } from '../connections/connection.ts';
import type { Answer, AnswerHandler, NoAnswer } from '../connections/waiting-requests.ts';
import type { TopicQueue } from '../route/topic-queues.ts';
import type { ConsumerCounts } from './consumer-handlers.ts';
import type { MessageFilter } from './consumer-options.ts';

const NEXT_BEGIN_OFFSET = Buffer.from('nextBeginOffset');
const MIN_OFFSET = Buffer.from('minOffset');
const MAX_OFFSET = Buffer.from('maxOffset');
const TAGS = Buffer.from(Property.tags);
const EMPTY = Buffer.alloc(0);

/** Bits of a pull's `sysFlag`: the broker may hold it, and the filter stands in it. */
const SUSPEND = 2;
const WITH_SUBSCRIPTION = 4;
/** After a refusal or a lost connection. */
const RETRY_US = 1e6;
/** Variable of the pull's header. */
const OFFSET = 0;

/** What the readers of one consumer have in common. */
export interface ReaderParts {
  readonly group: string;
  readonly filter: MessageFilter;
  /** Of the filter; empty: nothing is compared here. */
  readonly tags: readonly string[];
  readonly subVersion: number;
  readonly pullMax: number;
  readonly suspendMs: number;
  readonly timeoutUs: number;
  readonly signer: AclSigner | null;
  readonly counts: ConsumerCounts;
  /** Records stored before this are not for us, ms of the epoch. */
  readonly notBeforeMs: number;
  nowUs(): number;
  connection(address: string): Connection | null;
  /** False: consuming failed. */
  received(record: RecordReader, queue: TopicQueue): boolean;
  sendBack(record: RecordReader, queue: TopicQueue): void;
  pullFailed(answer: Answer | null, why: string): void;
}

/**
 * Reads one queue: one pull under way, which the broker holds while there is nothing; the next one as
 * soon as its messages have been taken. So what is fetched ahead is one answer at most.
 */
export class QueueReader implements AnswerHandler {
  readonly queue: TopicQueue;
  readonly #parts: ReaderParts;
  readonly #record = new RecordReader();
  readonly #tags: readonly Buffer[];
  readonly #place: PropertyPlace = { at: 0, end: 0 };
  readonly #outgoing: Outgoing;
  readonly #contiguous: boolean;
  #nextOffset: number;
  /** What the group's offset is known to be. */
  committed = -1;
  /** As of the last answer. */
  #maxOffset = -1;
  /** Of the next record that is new; −1: any. */
  #expected = -1;
  #pulling = false;
  #paused = false;
  #stopped = false;
  #retryAtUs = 0;

  constructor(queue: TopicQueue, startOffset: number, parts: ReaderParts) {
    this.queue = queue;
    this.#parts = parts;
    this.#nextOffset = startOffset;
    this.#tags = Array.from(parts.tags, (tag) => Buffer.from(tag));
    this.#contiguous = parts.filter.type === 'TAG' && parts.tags.length === 0;
    this.#outgoing = {
      template: pullTemplate(queue, parts),
      body: EMPTY,
      bodyAt: 0,
      bodyEnd: 0,
      handler: this,
      token: 0,
      timeoutUs: parts.timeoutUs,
    };
  }

  /** Where the group goes on: everything before it was taken. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** Messages that are stored and not taken, as of the last answer; 0 before it. */
  get lag(): number {
    return Math.max(0, this.#maxOffset - this.#nextOffset);
  }

  get isPulling(): boolean {
    return this.#pulling;
  }

  /** Reads on where it stopped; also called some times a second, for what has to be tried again. */
  pull(): void {
    if (this.#pulling || this.#paused || this.#stopped) return;
    if (this.#retryAtUs > 0 && this.#parts.nowUs() < this.#retryAtUs) return;
    const connection = this.#parts.connection(this.queue.address);
    if (connection === null) return;
    this.#outgoing.template.setNumber(OFFSET, this.#nextOffset);
    if (!connection.post(this.#outgoing)) return;
    this.#retryAtUs = 0;
    this.#pulling = true;
    this.#parts.counts.pulls += 1;
  }

  /** Pulls nothing more; what a held pull still brings is not taken, so that offsets stay. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.pull();
  }

  /** For good: the queue is somebody else's. */
  stop(): void {
    this.#stopped = true;
  }

  answered(_token: number, answer: Answer): void {
    this.#pulling = false;
    if (this.#stopped) return;
    if (this.#paused) {
      this.#parts.counts.discarded += 1;
      return;
    }
    const { head } = answer;
    switch (head.code) {
      case ResponseCode.success:
        this.#take(answer);
        break;
      case ResponseCode.pullNotFound:
      case ResponseCode.pullRetryImmediately:
        this.#parts.counts.emptyPulls += 1;
        this.#moveTo(answer, head.number(NEXT_BEGIN_OFFSET));
        break;
      case ResponseCode.pullOffsetMoved:
        this.#offsetMoved(answer);
        break;
      default:
        this.#parts.pullFailed(answer, '');
        this.#later();
    }
    this.pull();
  }

  unanswered(_token: number, why: NoAnswer): void {
    this.#pulling = false;
    if (this.#stopped) return;
    this.#parts.pullFailed(null, why);
    this.#later();
  }

  #later(): void {
    this.#retryAtUs = this.#parts.nowUs() + RETRY_US;
  }

  #take(answer: Answer): void {
    const { bytes, bodyAt, end } = answer.frame;
    let at = bodyAt;
    while (at < end) {
      at = this.#record.read(bytes, at, end);
      if (at < 0) {
        this.#parts.pullFailed(null, 'malformed record');
        this.#later();
        return;
      }
      this.#receive();
      // A handler may have paused or stopped us: what was not taken comes again.
      if (this.#paused || this.#stopped) return;
    }
    this.#moveTo(answer, answer.head.number(NEXT_BEGIN_OFFSET));
  }

  #receive(): void {
    const record = this.#record;
    const { counts } = this.#parts;
    const { queueOffset } = record;
    if (this.#contiguous && this.#expected >= 0) {
      const difference = queueOffset - this.#expected;
      if (difference > 0) counts.gaps += difference;
      else if (difference < 0) counts.repeats += 1;
    }
    // What comes again does so until the first that is new.
    if (queueOffset >= this.#expected) this.#expected = queueOffset + 1;
    this.#nextOffset = queueOffset + 1;
    const { notBeforeMs } = this.#parts;
    if (notBeforeMs > 0 && record.storedAtMs < notBeforeMs) return;
    if (this.#tags.length > 0 && !this.#hasWantedTag()) {
      counts.otherTags += 1;
      return;
    }
    counts.messages += 1;
    counts.bodyBytes += record.bodyEnd - record.bodyAt;
    if (!this.#parts.received(record, this.queue)) this.#parts.sendBack(record, this.queue);
  }

  /** Brokers compare hashes only: the tag itself is compared here. */
  #hasWantedTag(): boolean {
    const { bytes, propertiesAt, propertiesEnd } = this.#record;
    const place = this.#place;
    place.at = propertiesAt;
    place.end = propertiesEnd;
    if (!findProperty(bytes, place, TAGS)) return false;
    for (const tag of this.#tags) {
      if (place.end - place.at === tag.length && hasTextAt(bytes, place.at, tag)) return true;
    }
    return false;
  }

  #moveTo(answer: Answer, offset: number): void {
    const max = answer.head.number(MAX_OFFSET);
    if (max >= 0) this.#maxOffset = max;
    if (offset < 0) return;
    this.#nextOffset = offset;
  }

  /**
   * Our offset is not there. 4.8.0 sends who asks beyond the end back to 0 where the queue starts at 0,
   * which would read everything again: beyond the end means the end.
   */
  #offsetMoved(answer: Answer): void {
    const { head } = answer;
    const min = head.number(MIN_OFFSET);
    const max = head.number(MAX_OFFSET);
    this.#parts.counts.offsetsMoved += 1;
    this.#expected = -1;
    if (max >= 0 && this.#nextOffset > max) this.#moveTo(answer, max);
    else if (min >= 0 && this.#nextOffset < min) this.#moveTo(answer, min);
    else this.#moveTo(answer, head.number(NEXT_BEGIN_OFFSET));
  }
}

function pullTemplate(queue: TopicQueue, parts: ReaderParts): RequestTemplate {
  return new RequestTemplate({
    code: RequestCode.pullMessage,
    signer: parts.signer,
    constants: {
      consumerGroup: parts.group,
      topic: queue.topic,
      queueId: String(queue.queueId),
      maxMsgNums: String(parts.pullMax),
      sysFlag: String(SUSPEND | WITH_SUBSCRIPTION),
      commitOffset: '0',
      suspendTimeoutMillis: String(parts.suspendMs),
      subscription: parts.filter.expression,
      expressionType: parts.filter.type,
      subVersion: String(parts.subVersion),
    },
    variables: [{ name: 'queueOffset' }],
  });
}
