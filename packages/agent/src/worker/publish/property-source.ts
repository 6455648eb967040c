import { Buffer } from 'node:buffer';
import type { MessageProperties, PublishStream } from '@squall/core/plan';
import { compileTemplate, type Template } from '@squall/core/template';
import { encodePublishProperties, NO_PROPERTIES, type PublishProperties } from '@squall/mqtt';
import type { RenderContext } from './render-context.ts';

/** The templates of the properties of a message or a will. */
export interface PropertyTemplates {
  readonly contentType: Template | null;
  readonly responseTopic: Template | null;
  readonly correlationData: Template | null;
  readonly payloadFormat: 0 | 1 | null;
  readonly userProperties: readonly (readonly [name: string, value: Template])[];
}

export const NO_TEMPLATES: PropertyTemplates = {
  contentType: null,
  responseTopic: null,
  correlationData: null,
  payloadFormat: null,
  userProperties: [],
};

/** @throws SquallError for what is no template. */
export function propertyTemplates(properties: MessageProperties): PropertyTemplates {
  return {
    contentType: compiled(properties.contentType),
    responseTopic: compiled(properties.responseTopic),
    correlationData: compiled(properties.correlationData),
    payloadFormat: properties.payloadFormat,
    userProperties: properties.userProperties.map(({ name, value }) => [
      name,
      compileTemplate(value),
    ]),
  };
}

function compiled(text: string | null): Template | null {
  return text === null ? null : compileTemplate(text);
}

/** @throws SquallError where a template lacks a value. */
export function renderProperties(
  templates: PropertyTemplates,
  expiryS: number | null,
  context: RenderContext,
): PublishProperties {
  const rendered = (template: Template | null) => template?.render(context);
  const correlation = rendered(templates.correlationData);
  return {
    payloadFormatIndicator: templates.payloadFormat ?? undefined,
    messageExpiryInterval: expiryS ?? undefined,
    contentType: rendered(templates.contentType),
    responseTopic: rendered(templates.responseTopic),
    correlationData: correlation === undefined ? undefined : Buffer.from(correlation),
    userProperties: templates.userProperties.map(([name, value]) => [name, value.render(context)]),
  };
}

/**
 * The properties of a stream's messages as they go on the wire: encoded once, once a client, or, where
 * a template of theirs changes with every message, once a message.
 */
export class PropertySource {
  /** Those of all messages; null where they vary. */
  readonly fixed: Uint8Array | null;
  readonly perMessage: boolean;
  readonly #templates: PropertyTemplates;
  readonly #expiryS: number | null;
  readonly #known: (Uint8Array | undefined)[] = [];

  /** @throws SquallError or RangeError for what cannot travel. */
  constructor(
    { properties, expiryS }: Pick<PublishStream, 'properties' | 'expiryS'>,
    context: RenderContext,
  ) {
    this.#templates = properties === null ? NO_TEMPLATES : propertyTemplates(properties);
    this.#expiryS = expiryS;
    const all = templatesOf(this.#templates);
    this.perMessage = all.some((each) => each.perMessage);
    const isStatic = all.every((each) => each.isStatic);
    const isNone = properties === null && expiryS === null;
    this.fixed = isNone ? NO_PROPERTIES : isStatic ? this.#encode(context) : null;
  }

  /** @throws SquallError or RangeError for what cannot travel. */
  of(position: number, context: RenderContext): Uint8Array {
    if (this.fixed !== null) return this.fixed;
    if (this.perMessage) return this.#encode(context);
    const known = this.#known[position] ?? this.#encode(context);
    this.#known[position] = known;
    return known;
  }

  #encode(context: RenderContext): Uint8Array {
    return encodePublishProperties(renderProperties(this.#templates, this.#expiryS, context));
  }
}

function templatesOf(templates: PropertyTemplates): Template[] {
  const { contentType, responseTopic, correlationData, userProperties } = templates;
  const values = userProperties.map(([, value]) => value);
  return [contentType, responseTopic, correlationData, ...values].filter((each) => each !== null);
}
