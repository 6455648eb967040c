import { ByteWriter } from '../byte-writer.ts';
import type { Properties, PublishProperties } from './properties.ts';
import { propertiesOf, type PropertyCarrier, type PropertyDefinition } from './property-table.ts';

/**
 * Writes a section of properties with its length before it [MQTT-2.2.2]. Throws a RangeError for a
 * property that `carrier` cannot carry, and for a value that cannot travel.
 */
export function writeProperties(
  packet: ByteWriter,
  carrier: PropertyCarrier,
  properties: Properties,
): void {
  const section = new ByteWriter();
  const allowed = propertiesOf(carrier);
  for (const definition of allowed) writeOne(section, definition, properties);
  checkNames(carrier, properties, allowed);
  packet.varint('property length', section.written.length);
  packet.raw(section.written);
}

/**
 * The properties of a PUBLISH as they go on the wire, without their length: for
 * `PublishMessage.properties`. Throws a RangeError for what cannot travel.
 */
export function encodePublishProperties(properties: PublishProperties): Uint8Array {
  const section = new ByteWriter();
  const allowed = propertiesOf('publish');
  for (const definition of allowed) writeOne(section, definition, properties);
  checkNames('publish', properties, allowed);
  return new Uint8Array(section.written);
}

function checkNames(
  carrier: PropertyCarrier,
  properties: Properties,
  allowed: readonly PropertyDefinition[],
): void {
  const names = new Set<string>(allowed.map((each) => each.name));
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || names.has(name)) continue;
    throw new RangeError(`${carrier} carries no property ${name} [MQTT-2.2.2.2]`);
  }
  if (carrier === 'subscribe' && (properties.subscriptionIdentifiers?.length ?? 0) > 1) {
    throw new RangeError('SUBSCRIBE carries one subscription identifier [MQTT-3.8.2.1.2]');
  }
  if (properties.responseTopic !== undefined && /[#+]/.test(properties.responseTopic)) {
    throw new RangeError('a response topic holds no wildcard [MQTT-3.3.2-14]');
  }
}

function writeOne(
  section: ByteWriter,
  definition: PropertyDefinition,
  properties: Properties,
): void {
  if (definition.kind === 'identifiers') {
    for (const identifier of properties.subscriptionIdentifiers ?? []) {
      checkAbove('subscription identifier', identifier, 1);
      section.uint8('property', definition.id);
      section.varint('subscription identifier', identifier);
    }
  } else if (definition.kind === 'pairs') {
    for (const [name, value] of properties.userProperties ?? []) {
      section.uint8('property', definition.id);
      section.text('user property name', name);
      section.text('user property value', value);
    }
  } else writeSingle(section, definition, properties);
}

type SingleProperty = Exclude<PropertyDefinition, { kind: 'identifiers' | 'pairs' }>;

function writeSingle(
  section: ByteWriter,
  definition: SingleProperty,
  properties: Properties,
): void {
  if (properties[definition.name] === undefined) return;
  section.uint8('property', definition.id);
  switch (definition.kind) {
    case 'flag':
      section.uint8(definition.name, properties[definition.name] === true ? 1 : 0);
      return;
    case 'text':
      section.text(definition.name, properties[definition.name] ?? '');
      return;
    case 'binary':
      section.binary(definition.name, properties[definition.name] ?? new Uint8Array(0));
      return;
    case 'uint8':
    case 'uint16':
    case 'uint32': {
      const value = properties[definition.name] ?? 0;
      checkAbove(definition.name, value, definition.min);
      if (value > definition.max) {
        throw new RangeError(`${definition.name} is at most ${definition.max}, not ${value}`);
      }
      section[definition.kind](definition.name, value);
    }
  }
}

function checkAbove(name: string, value: number, min: number): void {
  if (value < min) throw new RangeError(`${name} is at least ${min}, not ${value}`);
}
