import { MAX_REMEMBERED_TOPICS } from '../limits.ts';
import { TopicIndex } from '../topic-index.ts';
import type { PlanNames } from '../plan-names.ts';

/**
 * Every topic of a plan and who publishes to it. Built once: by topic, so that a subscriber's
 * publishers are found from its filters without looking at all publishers.
 */
export class PlanTopics {
  readonly #index = new TopicIndex();
  /** Publishers of topic k: places `#starts[k]` up to `#starts[k + 1]` of the two arrays below. */
  readonly #starts: Uint32Array;
  readonly #streams: Uint16Array;
  readonly #clients: Uint32Array;
  readonly #remembered = new Map<string, readonly number[]>();
  #rememberedTopics = 0;

  constructor(names: PlanNames) {
    const { plan } = names;
    const streams = plan.streams.filter(({ outside }) => outside === null);
    const sizes = streams.map(({ group }) => plan.plan.groups[group]?.clients ?? 0);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const topics = new Uint32Array(total);
    let place = 0;
    for (const [k, { topic, group }] of streams.entries()) {
      for (let client = 0; client < (sizes[k] ?? 0); client++) {
        // One topic for all clients is rendered once.
        const same = topic.isStatic && client > 0;
        topics[place] = same
          ? (topics[place - 1] ?? 0)
          : this.#index.add(names.render(topic, group, client));
        place += 1;
      }
    }
    this.#starts = startsOf(topics, this.#index.size);
    this.#streams = new Uint16Array(total);
    this.#clients = new Uint32Array(total);
    const next = this.#starts.slice();
    place = 0;
    for (const [k, { index }] of streams.entries()) {
      for (let client = 0; client < (sizes[k] ?? 0); client++) {
        const topic = topics[place] ?? 0;
        const to = next[topic] ?? 0;
        this.#streams[to] = index;
        this.#clients[to] = client;
        next[topic] = to + 1;
        place += 1;
      }
    }
  }

  get size(): number {
    return this.#index.size;
  }

  /** Topics that a filter matches. What one client after the other asks for is remembered. */
  matches(filter: string, remember: boolean): readonly number[] {
    const known = this.#remembered.get(filter);
    if (known !== undefined) return known;
    const topics = this.#index.matches(filter);
    if (remember && this.#rememberedTopics + topics.length <= MAX_REMEMBERED_TOPICS) {
      this.#remembered.set(filter, topics);
      this.#rememberedTopics += topics.length;
    }
    return topics;
  }

  /** First and last place of a topic's publishers, the last not included. */
  from(topic: number): number {
    return this.#starts[topic] ?? 0;
  }

  to(topic: number): number {
    return this.#starts[topic + 1] ?? 0;
  }

  streamAt(place: number): number {
    return this.#streams[place] ?? 0;
  }

  clientAt(place: number): number {
    return this.#clients[place] ?? 0;
  }
}

function startsOf(topics: Uint32Array, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (const topic of topics) starts[topic + 1] = (starts[topic + 1] ?? 0) + 1;
  for (let k = 0; k < count; k++) starts[k + 1] = (starts[k + 1] ?? 0) + (starts[k] ?? 0);
  return starts;
}
