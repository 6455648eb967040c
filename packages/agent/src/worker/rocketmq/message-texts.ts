import type { RocketmqPublish } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import { encodeProperties, type MessageProperties, Property } from '@squall/rocketmq';
import type { RenderContext } from '../publish/render-context.ts';

type NamedTemplate = readonly [name: string, value: Template];

/** Keys, tags, user properties and sharding keys: what is the same for all messages, and what is not. */
export class MessageTexts {
  /** Of every message of the stream. */
  readonly fixed: MessageProperties;
  readonly #varying: readonly NamedTemplate[];
  readonly #shardingKey: Template | null;
  /** Whether anything has to be rendered for a message. */
  readonly varies: boolean;
  /** Whether the number of the message is asked for. */
  readonly perMessage: boolean;

  /** @throws SquallError for what is no template, or lacks a value that all clients share. */
  constructor(spec: RocketmqPublish, context: RenderContext) {
    const { keys, tags, userProperties, shardingKey } = spec;
    const all: NamedTemplate[] = userProperties.map(({ name, value }) => [
      name,
      compileTemplate(value),
    ]);
    if (tags !== null) all.push([Property.tags, compileTemplate(tags)]);
    if (keys !== null) all.push([Property.keys, compileTemplate(keys)]);
    if (shardingKey !== null) all.push([Property.shardingKey, compileTemplate(shardingKey)]);
    const fixed = all.filter(([, template]) => template.isStatic);
    this.fixed = Object.fromEntries(fixed.map(([name, value]) => [name, value.render(context)]));
    this.#varying = all.filter(([, template]) => !template.isStatic);
    this.#shardingKey = shardingKey === null ? null : compileTemplate(shardingKey);
    this.varies = this.#varying.length > 0 || this.#shardingKey !== null;
    this.perMessage = all.some(([, template]) => template.perMessage);
  }

  /**
   * Properties of one message alone, as they stand on the wire.
   * @throws SquallError where a value is missing, RocketmqError for a separator in one.
   */
  properties(context: RenderContext): string {
    if (this.#varying.length === 0) return '';
    const values = this.#varying.map(([name, value]) => [name, value.render(context)]);
    return encodeProperties(Object.fromEntries(values));
  }

  /** @throws SquallError where a value is missing. */
  shardingKey(context: RenderContext): string {
    return this.#shardingKey === null ? '' : this.#shardingKey.render(context);
  }
}
