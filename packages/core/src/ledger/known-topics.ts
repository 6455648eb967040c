// Data path: one look-up a message.
import { crc32 } from '../stamp/crc32.ts';
import { encodeUtf8 } from '../text/utf8.ts';
import { at } from './element.ts';
import type { LedgerPlan } from './ledger-plan.ts';
import { MAX_KNOWN_TOPICS } from './limits.ts';

/** The topic of a client of a stream; null where nobody here can know it. */
export type TopicOf = (stream: number, publisher: number) => string | null;

/**
 * On which topic each publisher's messages must come, as checksums: a topic is rendered once a
 * publisher. Of streams beyond `MAX_KNOWN_TOPICS` clients nothing is known, and nothing is checked.
 */
export class KnownTopics {
  readonly #topicOf: TopicOf;
  /** By stream: a checksum a client, or one for all; 0 is not known yet. */
  readonly #sums: readonly Int32Array[];

  constructor({ streams, plan }: LedgerPlan, topicOf: TopicOf) {
    let room = MAX_KNOWN_TOPICS;
    this.#topicOf = topicOf;
    this.#sums = Array.from(streams, ({ group, topic, outside }) => {
      const clients = topic.isStatic ? 1 : (plan.groups[group]?.clients ?? 0);
      const fits = outside === null && clients <= room;
      if (fits) room -= clients;
      return new Int32Array(fits ? clients : 0);
    });
  }

  /** The topic as a text, or null. */
  text(stream: number, publisher: number): string | null {
    return this.#topicOf(stream, publisher);
  }

  /** Whether the topic in `bytes` is another one than the publisher's, as far as that is known. */
  differs(
    who: { readonly stream: number; readonly publisher: number },
    topic: TopicBytes,
  ): boolean {
    const { bytes, from, length } = topic;
    const sums = this.#sums[who.stream];
    if (sums === undefined || sums.length === 0 || length < 0) return false;
    const place = sums.length === 1 ? 0 : who.publisher;
    const known = at(sums, place);
    const expected = known === 0 ? this.#learn(sums, place, who) : known;
    return expected !== UNKNOWN && sumOf(bytes, from, from + length) !== expected;
  }

  #learn(
    sums: Int32Array,
    place: number,
    { stream, publisher }: { readonly stream: number; readonly publisher: number },
  ): number {
    const text = this.#topicOf(stream, publisher);
    const bytes = text === null ? null : encodeUtf8(text);
    const sum = bytes === null ? UNKNOWN : sumOf(bytes, 0, bytes.length);
    sums[place] = sum;
    return sum;
  }
}

/** Where a topic lies. */
export interface TopicBytes {
  bytes: Uint8Array;
  from: number;
  /** -1 where the topic is not known. */
  length: number;
}

/** Stands for a topic that cannot be known; no topic has this checksum. */
const UNKNOWN = 1;

function sumOf(bytes: Uint8Array, from: number, to: number): number {
  const sum = crc32(bytes, from, to);
  return sum === 0 || sum === UNKNOWN ? 2 : sum;
}
