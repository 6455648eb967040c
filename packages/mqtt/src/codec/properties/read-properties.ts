import type { ByteReader } from '../byte-reader.ts';
import { malformed, violation } from '../packet-error.ts';
import type { Properties } from './properties.ts';
import { PROPERTY_TABLE, type PropertyCarrier, type PropertyDefinition } from './property-table.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const BY_ID: ReadonlyMap<number, PropertyDefinition> = new Map(
  PROPERTY_TABLE.map((definition) => [definition.id, definition]),
);

/** A section of properties with its length before it [MQTT-2.2.2]. Throws a `PacketError`. */
export function readProperties(packet: ByteReader, carrier: PropertyCarrier): Properties {
  const section = packet.part(packet.varint());
  const out: Mutable<Properties> = {};
  const seen = new Set<number>();
  while (section.left > 0) {
    const definition = BY_ID.get(section.varint());
    if (definition === undefined) throw malformed('unknown property [MQTT-2.2.2.2]');
    if (!definition.carriers.includes(carrier)) {
      throw malformed('property that its packet cannot carry [MQTT-2.2.2.2]');
    }
    if (seen.has(definition.id) && !mayRepeat(definition, carrier)) {
      throw violation('property that comes twice [MQTT-2.2.2.2]');
    }
    seen.add(definition.id);
    readOne(section, definition, out);
  }
  checkTogether(out);
  return out;
}

function mayRepeat(definition: PropertyDefinition, carrier: PropertyCarrier): boolean {
  if (definition.kind === 'pairs') return true;
  return definition.kind === 'identifiers' && carrier === 'publish';
}

function readOne(
  section: ByteReader,
  definition: PropertyDefinition,
  out: Mutable<Properties>,
): void {
  switch (definition.kind) {
    case 'uint8':
    case 'uint16':
    case 'uint32': {
      const value = section[definition.kind]();
      if (value < definition.min || value > definition.max) {
        throw violation('property with a value out of its range [MQTT-2.2.2.2]');
      }
      out[definition.name] = value;
      return;
    }
    case 'flag': {
      const value = section.uint8();
      if (value > 1) throw violation('property that is neither 0 nor 1 [MQTT-2.2.2.2]');
      out[definition.name] = value === 1;
      return;
    }
    case 'text':
      out[definition.name] = section.text();
      return;
    case 'binary':
      out[definition.name] = section.binary();
      return;
    case 'identifiers': {
      const identifier = section.varint();
      if (identifier === 0) throw violation('subscription identifier 0 [MQTT-3.8.2.1.2]');
      out.subscriptionIdentifiers = [...(out.subscriptionIdentifiers ?? []), identifier];
      return;
    }
    case 'pairs':
      out.userProperties = [...(out.userProperties ?? []), [section.text(), section.text()]];
  }
}

function checkTogether(properties: Properties): void {
  const { responseTopic, authenticationData, authenticationMethod } = properties;
  if (responseTopic !== undefined && /[#+]/.test(responseTopic)) {
    throw violation('response topic with a wildcard [MQTT-3.3.2-14]');
  }
  if (authenticationData !== undefined && authenticationMethod === undefined) {
    throw violation('authentication data without a method [MQTT-3.1.2.11.10]');
  }
}
