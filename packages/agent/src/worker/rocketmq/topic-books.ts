import type { Plan } from '@squall/core/plan';
import type { RocketmqServices } from '../load/group-services.ts';
import { OFFSETS_LAG_MS } from '../limits.ts';
import { STORED } from '../measure/series.ts';
import type { RocketmqStream } from './rocketmq-stream.ts';

/** Others may write to the topic, so it need not come to rest. */
const LOOKS = 3;

/**
 * What the brokers' own offsets of a group's topics grew by during the load. One worker of all keeps
 * the books of a topic, for all streams that use it: that of the first client of the first of them.
 */
export class TopicBooks {
  readonly #services: RocketmqServices;
  readonly #before = new Map<string, number>();

  constructor(services: RocketmqServices) {
    this.#services = services;
  }

  /** Notes where the topic of a stream stands now. */
  async begin({ topic, spec }: RocketmqStream): Promise<void> {
    if (!this.#isOurs(spec.subject, spec.topic) || this.#before.has(topic)) return;
    const total = await this.#total(topic);
    if (total !== null) this.#before.set(topic, total);
  }

  /** Books the growth; where brokers do not tell, there is no figure. */
  async close(streams: readonly RocketmqStream[]): Promise<void> {
    const { recorder, timeline } = this.#services;
    for (const { topic, spec } of streams) {
      if (!this.#isOurs(spec.subject, spec.topic)) continue;
      const grown = await this.#grown(topic);
      if (grown === null) continue;
      const { subject, qos } = spec;
      const stage = timeline.currentStage();
      recorder.meter({ kind: 'publish', subject, stage, qos }).add(STORED, grown);
    }
  }

  /** Offsets may lag behind acknowledgements, so they are asked until they stand still. */
  async #grown(topic: string): Promise<number | null> {
    const before = this.#before.get(topic);
    let total = await this.#total(topic);
    for (let look = 0; look < LOOKS; look++) {
      await new Promise((resolve) => {
        setTimeout(resolve, OFFSETS_LAG_MS);
      });
      const again = await this.#total(topic);
      if (again === total) break;
      total = again;
    }
    return total === null || before === undefined ? null : total - before;
  }

  async #total(topic: string): Promise<number | null> {
    try {
      return await this.#services.client.admin.storedTotal(topic);
    } catch {
      return null;
    }
  }

  #isOurs(subject: string, topic: unknown): boolean {
    const { order, plan, target } = this.#services;
    return order.numbers.includes(0) && firstOfTopic(plan, target.name, topic) === subject;
  }
}

/** The first stream of the plan that sends to a topic of a target. */
function firstOfTopic(plan: Plan, target: string, topic: unknown): string | undefined {
  return plan.groups
    .filter((group) => group.target === target)
    .flatMap(({ publish }) => publish)
    .find((stream) => stream.topic === topic)?.subject;
}
