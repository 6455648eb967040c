// Data path
import type { PublishStream } from '@squall/core/plan';
import { streamTopics, TopicRound } from '@squall/core/schedule';
import { compileTemplate, type Template } from '@squall/core/template';
import { TopicTable } from '@squall/mqtt';
import type { ClientOrder } from '../clients/client-order.ts';
import { at, item } from '../element.ts';
import { TOPICS_HELD_MAX } from '../limits.ts';
import type { RenderContext } from './render-context.ts';

/**
 * The topics of a stream in the form in which they go on the wire. They are rendered before the load
 * where they are the same in every message and fit into a bound; else as they are needed.
 */
export class TopicSource {
  readonly table = new TopicTable();
  /** Whether topics are rendered for each message: the table holds just one then. */
  readonly perMessage: boolean;
  /** From one client's topic to the next one's in the table: 0 where all have the same. */
  readonly step: number;
  readonly #templates: readonly Template[];
  readonly #round: TopicRound | null;

  /** @throws RangeError for a topic that may not be published to, SquallError for a template. */
  constructor(stream: PublishStream, order: ClientOrder, context: RenderContext) {
    this.#templates = Array.from(streamTopics(stream), compileTemplate);
    this.#round =
      typeof stream.topic === 'string'
        ? null
        : new TopicRound(Array.from(stream.topic, ({ weight }) => weight));
    const clients = this.#templates.every((each) => each.isStatic) ? 1 : order.count;
    this.perMessage =
      this.#templates.some((each) => each.perMessage) ||
      (this.several && clients * this.#templates.length > TOPICS_HELD_MAX);
    this.step = clients === 1 ? 0 : this.#templates.length;
    if (!this.perMessage) this.#fill(clients, order, context);
  }

  /** Whether a client has several topics. */
  get several(): boolean {
    return this.#round !== null;
  }

  /** Index in the table of the topic of message `j` of the client at `position`. */
  topicOf(position: number, j: number, context: RenderContext): number {
    const choice = this.#round === null ? 0 : this.#round.topicOf(context.n, j);
    if (!this.perMessage) return position * this.step + choice;
    this.table.clear();
    return this.table.add(item(this.#templates, choice).render(context));
  }

  #fill(clients: number, order: ClientOrder, context: RenderContext): void {
    for (let position = 0; position < clients; position++) {
      context.n = order.count === 0 ? 0 : at(order.numbers, position);
      for (const template of this.#templates) this.table.add(template.render(context));
    }
  }
}
