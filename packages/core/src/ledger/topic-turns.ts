// Data path: one look-up for each message of a stream with several topics.
import type { TopicRound } from '../schedule/topic-round.ts';
import { at } from './element.ts';

/**
 * Where a message stands among those of its client that go to the same topic, for streams whose topics
 * take turns (`TopicRound`). What a subscriber must get, and in which order, is a matter of topics
 * [MQTT-4.6.0-6]; so the ledger follows each topic of such a stream as a stream of its own, whose
 * messages are numbered from 0 without a gap: by their *ranks*.
 */
export class TopicTurns {
  readonly #round: TopicRound;
  /** By topic: its places in the round, rising. */
  readonly #places: readonly Uint32Array[];
  /** By place in the round: how many places before it have its topic. */
  readonly #before: Uint32Array;

  /** @param topics how many there are. */
  constructor(round: TopicRound, topics: number) {
    const places: number[][] = Array.from({ length: topics }, () => []);
    this.#round = round;
    this.#before = new Uint32Array(round.length);
    for (let place = 0; place < round.length; place++) {
      const own = places[round.topicOf(0, place)] ?? [];
      this.#before[place] = own.length;
      own.push(place);
    }
    this.#places = Array.from(places, (own) => Uint32Array.from(own));
  }

  /** Index of the topic of message `seq` of client `n`. */
  topicOf(n: number, seq: number): number {
    return this.#round.topicOf(n, seq);
  }

  /** The rank of message `seq` of client `n` among those to its topic. */
  rankOf(n: number, seq: number): number {
    const { length } = this.#round;
    const offset = n % length;
    const places = this.#placesOf(this.#round.topicOf(n, seq));
    const place = (n + seq) % length;
    const skipped = lowerBound(places, offset);
    const wraps = place < offset ? places.length : 0;
    const full = Math.floor(seq / length) * places.length;
    return full + wraps + at(this.#before, place) - skipped;
  }

  /** How many of the first `count` messages of client `n` go to a topic. */
  countOf(n: number, topic: number, count: number): number {
    const { length } = this.#round;
    const offset = n % length;
    const places = this.#placesOf(topic);
    const end = offset + (count % length);
    const reached =
      end <= length ? lowerBound(places, end) : places.length + lowerBound(places, end - length);
    return Math.floor(count / length) * places.length + reached - lowerBound(places, offset);
  }

  /** The number of the message of client `n` with this rank in a topic. */
  seqOf(n: number, topic: number, rank: number): number {
    const { length } = this.#round;
    const offset = n % length;
    const places = this.#placesOf(topic);
    const weight = places.length;
    const turn = lowerBound(places, offset) + (rank % weight);
    const place = turn < weight ? at(places, turn) : at(places, turn - weight) + length;
    return Math.floor(rank / weight) * length + place - offset;
  }

  #placesOf(topic: number): Uint32Array {
    return this.#places[topic] ?? NO_PLACES;
  }
}

const NO_PLACES = new Uint32Array(1);

/** How many of rising numbers are below `limit`. */
function lowerBound(numbers: Uint32Array, limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(numbers, middle) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
