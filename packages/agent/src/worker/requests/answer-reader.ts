// Data path
import { STAMP_BYTES, STAMP_OK, StampReader } from '@squall/core/stamp';
import type { InboundPublish } from '@squall/mqtt';

export interface AnswerReaderOptions {
  readonly runHash: number;
  /** Streams are known by these indexes: from the group's first to its last. */
  readonly firstSubject: number;
  readonly streams: number;
  /** Answers carry correlation data; before MQTT 5 it is the payload that comes back. */
  readonly isVersion5: boolean;
}

/** Tells answers to a group's requests from everything else that its clients receive. */
export class AnswerReader {
  readonly #options: AnswerReaderOptions;
  readonly #stamp = new StampReader();

  constructor(options: AnswerReaderOptions) {
    this.#options = options;
  }

  /** Whether it answers a request of the group; then the fields below say which one. */
  read(publish: InboundPublish): boolean {
    const { isVersion5, runHash, firstSubject, streams } = this.#options;
    const stamp = this.#stamp;
    if (isVersion5) {
      const { correlationAt, correlationLength } = publish;
      if (correlationAt < 0 || correlationLength !== STAMP_BYTES) return false;
      if (stamp.read(publish.bytes, correlationAt, STAMP_BYTES) !== STAMP_OK) return false;
    } else {
      const { bytes, payloadAt, payloadLength } = publish;
      if (stamp.read(bytes, payloadAt, payloadLength) !== STAMP_OK) return false;
    }
    const stream = stamp.subject - firstSubject;
    return stamp.runHash === runHash && stream >= 0 && stream < streams;
  }

  /** Index of the stream in the group's `publish`. */
  get stream(): number {
    return this.#stamp.subject - this.#options.firstSubject;
  }

  get stage(): number {
    return this.#stamp.stage;
  }

  /** Index of the client that asked, in its group. */
  get client(): number {
    return this.#stamp.publisher;
  }

  get seq(): number {
    return this.#stamp.seq;
  }
}
